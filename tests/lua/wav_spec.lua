-- Sound files: what they hold, of each kind of samples, and what is no such file. Keys that change
-- a filter.

local fails = require 'tests.fails'
local ffi = require 'ffi'
local mare = require 'mare'
local trial = require 'tests.scenarios.trial'

local folder

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

local function bytes_of(value, count)
    local list = {}
    for k = 1, count do
        list[k] = string.char(value % 256)
        value = math.floor(value / 256)
    end
    return table.concat(list)
end

-- Returns the text of a file.
local function file(format, bits, channels, data, before)
    local head = bytes_of(format, 2) .. bytes_of(channels, 2) .. bytes_of(8000, 4)
        .. bytes_of(8000 * channels * bits / 8, 4) .. bytes_of(channels * bits / 8, 2)
        .. bytes_of(bits, 2)
    local body = 'WAVE' .. (before or '') .. 'fmt ' .. bytes_of(#head, 4) .. head .. 'data'
        .. bytes_of(#data, 4) .. data
    return 'RIFF' .. bytes_of(#body, 4) .. body
end

local function read(text)
    trial.spit(folder .. '/a.wav', text)
    return mare.spectrum.wav(folder .. '/a.wav', 'null')
end

local function floats(ctype, values)
    return ffi.string(ffi.new(ctype .. '[?]', #values, values), #values * ffi.sizeof(ctype))
end

it('samples of all kinds are read', function()
    local list = { { 1, 8, '\0\128\192' }, { 1, 16, '\0\128\0\0\0\64' },
        { 1, 24, '\0\0\128\0\0\0\0\0\64' }, { 1, 32, '\0\0\0\128\0\0\0\0\0\0\0\64' },
        { 3, 32, floats('float', { -1, 0, 0.5 }) }, { 3, 64, floats('double', { -1, 0, 0.5 }) } }
    for _, one in ipairs(list) do
        local sound = read(file(one[1], one[2], 1, one[3], 'LIST' .. bytes_of(3, 4) .. 'abc\0'))
        assert.equal(8000, sound.rate)
        assert.same({ { -1 }, { 0 }, { 0.5 } }, sound.samples:totable())
    end
    local sound = read(file(1, 16, 2, '\0\64\0\0\0\0\0\64\0'))       -- a byte too many
    assert.same({ { 0.5, 0 }, { 0, 0.5 } }, sound.samples:totable())
end)

it('what is no sound is named', function()
    for text, words in pairs {
        ['hello'] = 'no WAVE file', [file(2, 4, 1, 'ab')] = 'format 2 of 4 bits',
        [file(1, 16, 0, 'ab')] = '0 channels', [file(1, 16, 1, '')] = 'no samples',
        [file(1, 16, 1, 'ab'):sub(1, 36)] = "no chunk 'data'" } do
        fails(function() read(text) end, 'MARE_ERROR_ARGUMENT', words)
    end
    fails(function() mare.spectrum.wav(folder .. '/none.wav') end, 'MARE_ERROR_IO', 'none.wav')
    fails(function()
        mare.spectrum.frames { path = folder .. '/none.png', width = 8, height = 8 }
    end, 'MARE_ERROR_IO', 'none.png')
end)

it('keys change a filter', function()
    local press = require('mare.spectra.shown').press
    local gauss = { widths = { 10, 20 }, angle = 0 }
    assert.is_true(press('\27[C\27[C\27[D\27[A', gauss))
    assert.equal(5, gauss.angle)
    assert.is_true(math.abs(gauss.widths[2] - 22) < 1e-12)
    assert.is_true(press('-x', gauss))
    assert.is_true(math.abs(gauss.widths[1] - 10 / 1.1) < 1e-12)
    assert.is_false(press('q+', gauss))
end)
