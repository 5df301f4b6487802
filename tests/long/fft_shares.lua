-- fft_shares.lua - bits of transforms of divided arrays beside those of whole ones, by the kernels
-- for GPUs on every device that takes them, then by those of the device.
--     build/mare tests/long/fft_shares.lua [DEVICE]
-- Radices follow from how many transforms there are; the limit goes from fewer than the share's to
-- more than the whole array's.

local axis = require 'mare.fft.axis'
local groups = require 'mare.stages.groups'
local mare = require 'mare'

local device, other = mare.device.open(arg[1]), mare.device.open(arg[1])
local fft, on = mare.fft, mare.divide { device, other }

-- Makes whole arrays, with the functions of divided ones.
local whole = setmetatable({}, { __index = function(_, name)
    return function(sizes, options)
        options.device = device
        return mare[name](sizes, options)
    end
end })

local function complex(x, sizes)
    return mare.complex(x.rand(sizes, { seed = 1 }) - 0.5, x.rand(sizes, { seed = 2 }))
end

local function cases(x)
    return {
        fft.fftn(complex(x, { 64, 6, 5 })),
        fft.fft(complex(x, { 128, 3 }), { axes = 0 }),
        fft.fft2(complex(x, { 6, 32, 64 }), { norm = 'ortho' }),
        fft.ifft2(complex(x, { 96, 2 }), { norm = 'ortho' }),
        fft.irfft2(complex(x, { 64, 33 })),
        fft.rfft2(x.rand({ 30, 64 }, { seed = 1 }), { norm = 'forward' }),
        fft.rfft(x.rand({ 512, 6 }, { seed = 1 }), { axes = 0, norm = 'ortho' }),
        fft.irfft(complex(x, { 33, 6, 4 }), { axes = { 1, 2, 0 } }),
        fft.fftn(complex(x, { 17, 4, 6 }), { norm = 'forward' }),
        fft.fft(complex(x, { 24, 1000 }), { axes = 1 }),
        fft.rfft(x.rand({ 20, 512 }, { seed = 1 }), { axes = 1 }),
    }
end

local function are_same(a, b)
    a, b = a:gather(), b:to(device)
    if tostring(a.shape) ~= tostring(b.shape) then return false end
    if not a.type:find 'complex' then return a:eq(b):all():item() end
    return mare.logical_and(a:real():eq(b:real()), a:imag():eq(b:imag())):all():item()
end

local bad, count = 0, 0
for _, most in ipairs { 1, 4, 20, 40, 100, 400, false } do
    axis.has_groups = most and true or nil
    groups.limits.units = (most or 1) / 32
    local divided, wanted = cases(on), cases(whole)
    for k = 1, #wanted do
        count = count + 1
        if not are_same(divided[k], wanted[k]) then
            bad = bad + 1
            print(('transform %d has other bits, where fewer than %s are few'):format(k, most))
        end
    end
end
print(('%d of %d transforms have other bits'):format(bad, count))
os.exit(bad > 0 and 1 or 0)
