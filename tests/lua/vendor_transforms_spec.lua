-- Transforms by cuFFT: what Mare asks it for, by a fake of it (tests/fake/fft.c) that computes in
-- the memory of null devices, and what it says where it fails.

local fakes = require 'tests.fakes'
local home = require 'bindings.home'
local trial = require 'tests.scenarios.trial'

local script = [[
local mare, device = require 'mare', require 'bindings.device'
require('bindings.cufft').is_fake = true
local on = device.open 'null'
local fft = mare.fft
local function random(shape, type)
    local function part(seed)
        return mare.rand(shape, { seed = seed, device = on, type = 'double' }) - 0.5
    end
    return (type:find 'complex' and part(1):complex(part(2)) or part(1)):to(type):eval()
end
local function largest(x) return x:abs():max():item() end
]]

-- Returns the exit status and what a script prints that uses the fake. failure: MARE_FAKE_FAIL
local function run(text, failure)
    local folder = trial.new_folder()
    finally(function() trial.remove(folder) end)
    trial.spit(folder .. '/script.lua', script .. text)
    local status, printed = trial.status_of(
        ("MARE_FAKE_FAIL='%s' LD_LIBRARY_PATH='%s/fake_fft' '%s' '%s/script.lua'"):format(
        failure or '', fakes, home.launcher, folder))
    return status, (printed:gsub('%s+status %d+%s*$', ''))
end

describe('transforms by cuFFT', function()
    it('are those of Mare', function()
        local status, text = run [[
for k, case in ipairs {
    { 'fft', { 3, 8 }, 'complex_float' }, { 'ifft', { 6, 4 }, 'complex_double', { axes = 0 } },
    { 'rfft', { 2, 3, 6 }, 'float' }, { 'irfft', { 3, 4 }, 'complex_float', { norm = 'ortho' } },
    { 'irfft', { 3, 4 }, 'complex_double', { n = 7 } }, { 'rfft2', { 2, 3, 5 }, 'double' },
    { 'irfft2', { 2, 3, 4 }, 'complex_double' }, { 'fft2', { 2, 3, 4 }, 'int16' },
    { 'fftn', { 2, 3, 4 }, 'complex_float', { axes = { 2, 0, 1 }, norm = 'forward' } },
} do
    local x, options = random(case[2], case[3]), case[4] or {}
    local expected = fft[case[1] ](x, options)
    options.backend = 'cufft'
    local y = fft[case[1] ](x, options)
    assert(y.type == expected.type and largest(y - expected) < 1e-6, case[1] .. k)
end
local x = random({ 2, 8 }, 'complex_float')
local view, y = x { {}, { 1, nil, 2 } }, random({ 2, 4 }, 'complex_float')
local plan = fft.plan { shape = { 2, 4 }, device = on, backend = 'cufft', transform = 'ifft' }
plan(view, { out = y })
print(largest(y - fft.ifft(view)) < 1e-6)
plan = fft.plan { shape = { 2, 8 }, device = on, backend = 'cufft' }
y = plan(x):copy():eval()
print(plan(x, { out = x }) == x, largest(x - y) < 1e-6)
]]
        assert.equal('0 true\ntrue\ttrue', status .. ' ' .. text)
    end)

    it('are part of plans, and say which function failed', function()
        local status, text = run [[
local x, y = random({ 2, 8 }, 'complex_float'), random({ 2, 8 }, 'complex_float')
x:buffer() y:buffer()
local transform = fft.plan { shape = { 2, 8 }, device = on, backend = 'cufft' }
local plan = on.stream:record(function() transform(x, { out = y }) end)
x:assign(2 * x)
plan:run(2)
print(largest(y - fft.fft(x)) < 1e-6)
]]
        assert.equal('0 true', status .. ' ' .. text)
        for _, name in ipairs { 'cufftCreate', 'cufftMakePlanMany64', 'cufftSetStream',
            'cufftExecC2C' } do
            status, text = run([[
print(pcall(fft.fft, random({ 4 }, 'complex_float'), { backend = 'cufft' }))
]], name .. ':1:5')
            assert.equal(0, status, text)
            assert.truthy(text:find('false', 1, true)
                and text:find(name .. ' returned 5', 1, true), text)
        end
    end)

    it('are refused where it has none', function()
        local status, text = run [[
local x = random({ 2, 3, 4 }, 'complex_float')
local function refused(f, given)
    given.backend = given.backend or 'cufft'
    print(select(2, pcall(f, x, given)))
end
refused(fft.fft, { axes = 1 })
refused(fft.fft2, { axes = { 0, 2 } })
refused(fft.fft, { n = 8 })
refused(fft.irfft2, { axes = { 2, 1 } })
refused(fft.fft, { load = function(v) return v end })
refused(fft.fft, { backend = 'fftw' })
require('bindings.cufft').is_fake = false
refused(fft.fft, {})
]]
        assert.equal(0, status, text)
        for _, words in ipairs { 'the first or the last ones of { 2, 3, 4 }', 'n = 8 along axis 2',
            'halves the last', 'no functions', "backend = 'fftw' (allowed: cufft, own)",
            "backend 'cufft' on null:0: cuFFT is for CUDA devices" } do
            assert.truthy(text:find(words, 1, true), words .. '\n' .. text)
        end
    end)
end)
