-- A picture without its high frequencies: a Gaussian of the wave numbers, with two widths and an
-- angle, as in Fritzenwallner's thesis (2023, figure 2.12), and beside it the spectrum. Rows, then
-- columns with the filter and the picture of the spectrum, then rows: three kernels. Of a film each
-- frame is filtered, while the angle turns; without a file it is a picture of rings.

local mare = require 'mare'

local o = mare.options {
    title = 'Frequency filter',
    help = 'Filters a picture, a film or a camera by wave numbers; draws picture and spectrum.',
    mare.options.device,
    { name = 'file', type = 'string',
        help = 'picture, film or /dev/video0, by ffmpeg; without it: rings' },
    { name = 'width', default = 512, range = { 16, 8192 }, help = 'pixels across' },
    { name = 'height', default = 512, range = { 16, 8192 }, help = 'pixels down' },
    { name = 'sigma-x', default = 60.0, type = 'number', range = { 1e-3 },
        help = 'width of the Gaussian, in waves' },
    { name = 'sigma-y', default = 15.0, type = 'number', range = { 1e-3 },
        help = 'its other width' },
    { name = 'angle', default = 0.0, type = 'number', help = 'of it, in degrees' },
    { name = 'turn', default = 0.0, type = 'number', help = 'degrees more in each frame' },
    { name = 'frames', default = 1, range = { 1, 1000000 }, help = 'at most so many' },
    { name = 'image', type = 'path', writes = 'png',
        help = 'picture to draw, of the last frame: FILE.png' },
    { name = 'film', type = 'path', writes = 'file',
        help = 'film to make: FILE.gif, .png or, with ffmpeg, .mp4' },
    { name = 'keys', default = false,
        help = 'show it in the terminal while a film runs: arrows turn and narrow it, + and - both '
            .. 'widths, q ends' },
    { name = 'quiet', default = false, help = 'print nothing' },
}
local print = o.quiet and function() end or print
local device = mare.options.apply('device', mare.device.open, o.device)
local width, height = o.width, o.height

-- Rings whose waves shorten outwards.
local function rings()
    local function place(n)
        local number = mare.arange(n, { device = device, type = 'float' })
        return (number - n / 2) / math.min(width, height)
    end
    local square = place(height):unsqueeze(1) ^ 2 + place(width):unsqueeze(0) ^ 2
    return ((mare.cos(square * (0.5 * math.pi * math.min(width, height))) + 1) * 127.5)
        :to 'uint8':eval()
end

local source = o.file and mare.options.apply('file', mare.spectrum.frames,
    { path = o.file, width = width, height = height })
local now = source and source:next(device) or rings()
local filter = mare.spectrum.gaussian { height = height, width = width, device = device }
local gauss = { widths = { o.sigma_x, o.sigma_y }, angle = o.angle }
local show = mare.spectrum.shown(width, height, device)

local film = o.film and mare.options.apply('film', show.film, show, o.film)
local picture, spectrum = filter(now, gauss)
if o.keys then
    show:by_keys(gauss, function()
        picture, spectrum = filter(now, gauss)
        local following = source and source:next(device)
        if following then now, gauss.angle = following, gauss.angle + o.turn end
        return picture, spectrum, following
    end, source and source.is_camera and 0 or nil)
else
    local count = 0
    repeat
        picture, spectrum = filter(now, gauss)
        if film then show:add(film, count, picture, spectrum) end
        count, gauss.angle = count + 1, gauss.angle + o.turn
        if source and count < o.frames then now = source:next(device) end
    until count >= o.frames or not now
    device:wait()
    print(('%d frames of %d x %d'):format(count, width, height))
end
if source then source:close() end
if film then
    film:close()
    print('wrote ' .. o.film)
end
if o.image then
    show:save(o.image, picture, spectrum)
    print('wrote ' .. o.image)
end
return { picture = picture, spectrum = spectrum }
