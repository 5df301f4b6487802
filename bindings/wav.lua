-- wav.lua - the samples of a sound file: RIFF WAVE, of integers of 8 to 32 bits or floats.
--
--     local sound = wav.read 'a.wav'     -- { rate, channels, count: of samples of each, data }
--
-- data is a C array of floats: sample i of channel c is data[i * channels + c]; integers are
-- divided by the largest they could be.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local memory = require 'bindings.memory'

local wav = {}

local most = 2 ^ 31         -- bytes, before they are read

local function fail(path, ...)
    errors.raise('MARE_ERROR_ARGUMENT', path .. ': ' .. string.format(...))
end

-- Returns the whole number in `bytes` bytes from place `at` on, from 1, the lowest first.
local function number(text, at, bytes)
    local value = 0
    for k = bytes, 1, -1 do value = 256 * value + text:byte(at + k - 1) end
    return value
end

-- Returns where the contents of a chunk begin, and how many bytes it has, or fewer where the file
-- ends before.
local function chunk(path, text, name, at)
    while at + 8 <= #text + 1 do
        local size = number(text, at + 4, 4)
        if text:sub(at, at + 3) == name then return at + 8, math.min(size, #text - at - 7) end
        at = at + 8 + size + size % 2
    end
    fail(path, "no chunk '%s': it is no WAVE file, or ends too early", name)
end

-- By format and bits: a function that gives sample k of the bytes from a pointer on.
local samples = {}

local function integers(ctype, bytes, zero, unit)
    local pointer = ffi.typeof(ctype .. ' *')
    return function(data) -- may begin at any byte
        local one = ffi.new(ctype .. '[1]')
        local to = ffi.cast(pointer, one)
        return function(k)
            ffi.copy(to, data + k * bytes, bytes)
            return (tonumber(one[0]) - zero) / unit
        end
    end
end

samples['1 8'] = integers('uint8_t', 1, 128, 128)
samples['1 16'] = integers('int16_t', 2, 0, 2 ^ 15)
samples['1 32'] = integers('int32_t', 4, 0, 2 ^ 31)
samples['3 32'] = integers('float', 4, 0, 1)
samples['3 64'] = integers('double', 8, 0, 1)
samples['1 24'] = function(data)
    return function(k)
        local low = data[3 * k] + 256 * data[3 * k + 1] + 65536 * data[3 * k + 2]
        return (low >= 2 ^ 23 and low - 2 ^ 24 or low) / 2 ^ 23
    end
end

local function check(path, text)
    if text:sub(1, 4) ~= 'RIFF' or text:sub(9, 12) ~= 'WAVE' then
        fail(path, 'it is no WAVE file: it begins with %q', text:sub(1, 4))
    end
end

-- Returns { format, channels, rate, bits } of the chunk that tells them.
local function format_of(path, text)
    local at, size = chunk(path, text, 'fmt ', 13)
    if size < 16 then fail(path, "chunk 'fmt ' has %d bytes (at least 16)", size) end
    local format, extended = number(text, at, 2), 0xfffe
    if format == extended and size >= 26 then format = number(text, at + 24, 2) end
    local found = { format = format, channels = number(text, at + 2, 2),
        rate = number(text, at + 4, 4), bits = number(text, at + 14, 2) }
    if found.channels < 1 or found.rate < 1 then
        fail(path, '%d channels at %d samples per second', found.channels, found.rate)
    elseif not samples[format .. ' ' .. found.bits] then
        fail(path, 'format %d of %d bits (read are integers of 8, 16, 24 and 32, floats of 32 and '
            .. '64)', format, found.bits)
    end
    return found
end

-- Reads a file; see above.
function wav.read(path)
    local size = files.size(path)
    if size and size > most then fail(path, 'it has %d bytes (at most %d)', size, most) end
    local text, reason = files.read(path)
    if not text then errors.raise('MARE_ERROR_IO', reason) end
    check(path, text)
    local f = format_of(path, text)
    local at, bytes = chunk(path, text, 'data', 13)
    local step = f.channels * f.bits / 8
    local count = math.floor(bytes / step)
    if count == 0 then fail(path, 'it has no samples') end
    local data = memory.array('float', count * f.channels)
    local sample = samples[f.format .. ' ' .. f.bits](
        ffi.cast('const uint8_t *', text) + at - 1)
    for k = 0, count * f.channels - 1 do data[k] = sample(k) end
    return { rate = f.rate, channels = f.channels, count = count, data = data }
end

return wav
