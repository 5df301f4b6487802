-- Decaying turbulence in two dimensions: the vorticity w of a periodic square, by a Fourier method
-- without aliasing (Orszag 1971) and the Runge-Kutta method of fourth order. Waves of random
-- phases merge into vortices (McWilliams 1984): the energy goes to long waves, while viscosity
-- takes the enstrophy of short ones. What viscosity takes is also summed beside: without it the
-- method loses no energy.

local mare = require 'mare'

local o = mare.options {
    title = 'decaying turbulence',
    help = 'Vorticity of a periodic square by Fourier transforms; draws the spectrum of energy.',
    mare.options.device,
    { name = 'n', default = 256, range = { 8, 8192 }, help = 'points along each side' },
    { name = 't-end', default = 4.0, type = 'number', help = 'time; the rms velocity is 1' },
    { name = 'viscosity', default = 1e-3, type = 'number', help = 'kinematic, sides being 2 pi' },
    { name = 'waves', default = 6, range = { 1, 1000 }, help = 'of most energy along a side' },
    { name = 'seed', default = 1, help = 'of the phases' },
    { name = 'image', default = 'turbulence.png', help = 'picture of the spectra' },
    { name = 'quiet', default = false, help = 'print nothing' },
}
local print = o.quiet and function() end or print
local fft, n = mare.fft, o.n
local device = mare.options.apply('device', mare.device.open, o.device)
local on = { device = device, type = 'float' }

-- Wave numbers, and those whose products are no others' aliases.
local place = mare.arange(n, on)
local ky = mare.where((place * 2):gt(n), place - n, place):unsqueeze(1):eval()
local kx = mare.arange(math.floor(n / 2) + 1, on):unsqueeze(0):eval()
local square = (kx ^ 2 + ky ^ 2):eval()
local inverse = mare.where(square:eq(0), 0, 1 / square):eval()
local kept = mare.logical_and((kx * 3):lt(n), (ky:abs() * 3):lt(n)):float():eval()

local function by_i(k, x) return (k * -x:imag()):complex(k * x:real()) end

-- Returns both components of the velocity of a transformed vorticity.
local function velocity(hat)
    local potential = hat * inverse
    return fft.irfft2(by_i(ky, potential), { n = { n, n } }),
        fft.irfft2(by_i(kx, -1 * potential), { n = { n, n } })
end

-- Returns the rate at which the transformed vorticity changes.
local function rate(hat)
    local u, v = velocity(hat)
    local w = fft.irfft2(hat, { n = { n, n } })
    local flux = by_i(kx, fft.rfft2(u * w)) + by_i(ky, fft.rfft2(v * w))
    return (-1 * kept * flux - o.viscosity * square * hat):eval()
end

local function advanced(hat, dt)
    local a = rate(hat)
    local b = rate(hat + dt / 2 * a)
    local c = rate(hat + dt / 2 * b)
    local d = rate(hat + dt * c)
    return (hat + dt / 6 * (a + 2 * b + 2 * c + d)):eval()
end

local function energy(hat)
    local numbers, list = mare.spectrum.energy { velocity(hat) }
    return list:sum { type = 'double' }:item(), numbers:totable(), list:totable()
end

-- Returns what viscosity takes from the energy in a time.
local function dissipation(hat)
    local w = fft.irfft2(hat, { n = { n, n } })
    return o.viscosity * (w ^ 2):mean():item()
end

local noise = fft.rfft2(mare.randn({ n, n }, { seed = o.seed, device = device }))
local ratio = square / o.waves ^ 2
local hat = (noise * kept * (square * mare.exp(-1 * ratio)):sqrt()):eval()
hat = (hat / math.sqrt(2 * energy(hat))):eval()

local steps = math.max(1, math.ceil(o.t_end * n / (0.25 * 2 * math.pi)))
local dt, before, numbers, first = o.t_end / steps, energy(hat)
local lost, now = 0, dissipation(hat)
for _ = 1, steps do
    hat = advanced(hat, dt)
    local next_one = dissipation(hat)
    lost, now = lost + dt * (now + next_one) / 2, next_one
end
local after, _, last = energy(hat)
local failure = math.abs(after + lost - before) / before
print(('%d steps: energy %.6g, then %.6g; viscosity took %.6g; error %.2g'):format(steps, before,
    after, lost, failure))

-- The spectra from wave 1 to the last one that is kept.
local function drawn(list, label)
    local x, y = {}, {}
    for k = 2, math.floor(n / 3) do x[#x + 1], y[#y + 1] = numbers[k], math.max(list[k], 1e-12) end
    return { x = x, y = y, label = label }
end
mare.image.lines { path = o.image, title = 'Energy of decaying turbulence', xlabel = 'wave number',
    ylabel = 'energy', xlog = true, ylog = true,
    series = { drawn(first, 't = 0'), drawn(last, ('t = %g'):format(o.t_end)) } }
return { error = failure, first = first, last = last }
