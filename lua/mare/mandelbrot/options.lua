-- The options of a zoom on the command line. Calls of zoom() have the same
-- ranges.

local colours = require 'mare.draw.colours'
local renderer = require 'mare.mandelbrot.renderer'
local view = require 'mare.mandelbrot.view'

return {
    { name = 'centre', default = 'published',
        help = 'centre of all frames: a point such as -0.75+0.1i with any number of digits, or '
            .. table.concat(view.places, ', ') },
    { name = 'width', default = 3.0, type = 'number', range = { 1e-290, 16 },
        help = 'width of the first frame' },
    { name = 'zoom', default = 0.95 ^ -49, range = { 1, 1e290 },
        help = 'how many times narrower the last frame is; --frames 1 shows that one' },
    { name = 'frames', default = 50, range = { 1, 100000 }, help = 'number of frames' },
    { name = 'size', default = { 768, 512 }, range = { 1, 32767 },
        help = 'size of a frame in pixels' },
    { name = 'samples', default = 2, range = { 1, 8 },
        help = 'points along each side of a pixel, which shows their mean' },
    { name = 'iterations', default = 5000, range = { 1, renderer.most_iterations },
        help = 'iterations after which a point counts as in the set' },
    { name = 'precision', default = 'auto', choices = view.modes,
        help = 'precision of the arithmetic' },
    { name = 'shortcuts', default = true,
        help = 'iterate also points that are known to be in the set; the result is the same' },
    { name = 'colour', default = 'magma', choices = colours.names(),
        help = 'colour map' },
    { name = 'period', default = 6.0, type = 'number', range = { 1e-3, 1e6 },
        help = 'period of the colours, in square roots of the escape time' },
    { name = 'film', type = 'path',
        help = 'film to make: FILE.gif, FILE.png (APNG) or, with ffmpeg, FILE.mp4' },
    { name = 'rate', default = 20, range = { 1, 100 }, needs = { 'film' },
        help = 'frames per second of the film' },
}
