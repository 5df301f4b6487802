-- Zooms into the Mandelbrot set: a colour says how many steps z -> z^2 + c,
-- from z = 0, takes to leave the circle of radius 2. Without options it is the
-- zoom with which Holm, Brodtkorb and Saetra (2020, their table 1) compare
-- languages: 50 frames onto -0.75 + 0.1i, each 0.95 times as wide as the one
-- before, with at most 5000 iterations. Their first frame is 3 x 2 large.
--
-- Frames are computed in float as long as float separates neighbouring points,
-- then in double, then as distances from an orbit with many digits
-- (perturbation): to a width of 1e-290.

local mare = require 'mare'

local o = mare.options {
    title = 'Zooms into the Mandelbrot set',
    help = 'The zoom of a published comparison of languages, or with options any other.',
    mare.options.device,
    mare.mandelbrot.options,
    { name = 'image', type = 'path', help = 'PNG file for the last frame' },
    { name = 'energy', default = false,
        help = 'measure the energy that the device takes, above rest' },
    { name = 'quiet', default = false, help = 'print nothing' },
}

local device = mare.options.apply('device', mare.device.open, o.device)
local recorder = o.energy and mare.energy.recorder { device } or nil
local result = mare.mandelbrot.zoom {
    device = device, energy = recorder,
    centre = o.centre, width = o.width, zoom = o.zoom, frames = o.frames,
    size = o.size, samples = o.samples, iterations = o.iterations, precision = o.precision,
    shortcuts = o.shortcuts, colours = o.colour, period = o.period, film = o.film, rate = o.rate,
    image = o.image, quiet = o.quiet,
}

if not o.quiet then
    local first
    for _, frame in ipairs(result.frames) do
        if frame.mode ~= first then
            print(string.format('from frame %d (%.4g wide) on: %s', frame.number, frame.width,
                frame.mode))
        end
        first = frame.mode
    end
    print(string.format('%d frame%s of %d x %d pixels in %.3f s, of which kernels %.3f s',
        o.frames, o.frames == 1 and '' or 's', o.size[1], o.size[2], result.seconds,
        result.kernel_seconds))
    if recorder then print(mare.energy.text(result.energy, result.no_energy)) end
end
return result
