-- What a picture of a run needs, the one at its end and each frame of a film: the pixels, coloured
-- on the devices, and samples of what is drawn over them. A camera is used as a snapshot
-- (snapshot.lua).

local colours = require 'mare.draw.colours'
local errors = require 'bindings.errors'
local figure = require 'mare.draw.figure'
local film = require 'mare.draw.film'
local frames = require 'mare.array.frames'
local image = require 'mare.draw.image'
local options = require 'mare.base.options'
local picture = require 'mare.draw.picture'
local snapshot = require 'mare.array.snapshot'

local camera = {}

local Camera = {}
Camera.__index = Camera

-- Returns { spec = as film.writer takes it, but without the range where the picture has none, what
-- = of picture.describe }. time: for labels.clock
local function plan(desc, path, width, time)
    local what = picture.describe(desc.picture, desc.scheme)
    local fig = picture.axes(desc.grid, desc.scheme)
    fig.path, fig.title, fig.label = path, desc.title .. ', t = 0', what.label
    fig.colours, fig.missing, fig.width = what.colours, what.missing, width
    fig.range = picture.range(desc.options.range) or what.range
    time.unit = picture.time_unit(desc.scheme)
    return { what = what, spec = { path = path, rate = film.rate, figure = fig,
        title = desc.title, vectors = what.vectors, time = time } }
end

-- Returns the names of the variables that pictures of a run show; nil if there are none. desc: as
-- for run.new
function camera.shown(desc)
    local o = desc.options
    if not (o.film or o.image) or type(desc.picture) == 'function' then return nil end
    local what = picture.describe(desc.picture, desc.scheme)
    local names, lines, arrows = { what.variable }, what.contours, what.vectors
    if lines then names[#names + 1] = lines.variable end
    if arrows then names[#names + 1], names[#names + 2] = arrows.u, arrows.v end
    return names
end

-- Returns the plan of the film that the command line asks for, with the time between frames in
-- `every`; nil if it asks for none. desc: as for run.new
function camera.film(desc)
    local o = desc.options
    if not o.film then return nil end
    if type(desc.picture) == 'function' then
        errors.usage 'option --film: this scenario draws curves, of which there is no film'
    end
    errors.option('film', film.check, o.film)
    local every = o.film_every or o.t_end / options.value(o, 'frames')
    local planned = plan(desc, o.film, options.value(o, 'film_width'),
        { last = o.t_end, step = every })
    planned.spec.figure.is_widened = not planned.spec.figure.range
    planned.every = every
    return planned
end

-- Completes a plan with what only a state tells: ranges that were not given. That of a film is
-- widened by later frames, and is at first that of `sim` now, or that of the film that is gone on
-- with; nil while there is nothing to tell it from.
function camera.complete(planned, sim, position)
    local spec, what, cells = planned.spec, planned.what, sim.grid.cells
    if spec.figure.is_widened then
        if position then planned.range = position.range
        else
            planned.range = image.widened(nil, sim:field(what.variable), cells,
                spec.figure.colours)
        end
        spec.figure.range = planned.range
    end
    spec.figure.data = not spec.figure.range and sim:field(what.variable) or nil
    spec.figure = image.figure_spec(spec.figure)
    local lines = what.contours
    if lines then
        local is_ground = lines.variable == what.variable
        spec.contours = { levels = lines.levels, is_ground = is_ground, period = lines.period,
            range = is_ground and spec.figure.range
                or image.range(sim:field(lines.variable), cells) }
    end
end

-- Makes a camera of a complete plan.
function camera.new(sim, planned, slots)
    local spec, what, fig = planned.spec, planned.what, figure.new(planned.spec.figure)
    local self = setmetatable({ shots = {}, vectors = what.vectors, sim = sim,
        variable = spec.figure.is_widened and what.variable, range = planned.range,
        colours = spec.figure.colours }, Camera)
    self.shots[1] = frames.new(sim, { variable = what.variable, width = fig.box.width,
        height = fig.box.height, range = spec.figure.range, map = colours.map(spec.figure.colours),
        missing = spec.figure.missing.colour, slots = slots })
    local function add(variables, cells)
        self.shots[#self.shots + 1] = snapshot.new(sim, { variables = variables, cells = cells,
            slots = slots })
        return self.shots[#self.shots]
    end
    if what.contours then self.lines = add({ what.contours.variable }, fig:contour_cells()) end
    if what.vectors then
        self.arrows = add({ what.vectors.u, what.vectors.v }, fig:arrow_cells())
    end
    return self
end

-- Widens the range, for which it waits for the devices.
local function widen(self)
    self.range = image.widened(self.range, self.sim:field(self.variable), self.sim.grid.cells,
        self.colours)
    if self.range then self.shots[1]:show(self.range) end
end

function Camera:take(slot)
    if self.variable then widen(self) end
    for _, shot in ipairs(self.shots) do shot:take(slot) end
end

function Camera:events(slot)
    local list = {}
    for _, shot in ipairs(self.shots) do
        for _, event in ipairs(shot:events(slot)) do list[#list + 1] = event end
    end
    return list
end

-- Returns pointers by the names that a film asks for.
function Camera:data(slot)
    local data = self.shots[1]:data(slot)
    if self.lines then data.contours = select(2, next(self.lines:data(slot))) end
    if self.arrows then
        local planes = self.arrows:data(slot)
        data.u, data.v = planes[self.vectors.u], planes[self.vectors.v]
    end
    return data
end

function Camera:wait(slot)
    for _, shot in ipairs(self.shots) do shot:wait(slot) end
end

function Camera:release()
    for _, shot in ipairs(self.shots) do shot:release() end
end

-- Draws the picture at the end of a run, as PNG.
function camera.still(desc, sim, path)
    local planned = plan(desc, path, 1200, { last = sim.now.t })
    camera.complete(planned, sim)
    local self = camera.new(sim, planned, 1)
    self:take(1)
    self:wait(1)
    local data = self:data(1)
    if self.shots[1]:is_whole() then
        film.still(planned.spec, sim.now.t, function(name) return data[name] end)
    end
    self:release()
end

return camera
