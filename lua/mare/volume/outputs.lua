-- What a run in three dimensions leaves: a NetCDF file of its variables, a film and a picture of a
-- slice. run/loop.lua asks it when it is due. Everything is written while the run waits.

local checkpoint = require 'mare.files.checkpoint'
local devices = require 'bindings.device'
local errors = require 'bindings.errors'
local exchange = require 'mare.array.exchange'
local film = require 'mare.draw.film'
local files = require 'bindings.files'
local functions = require 'mare.run.functions'
local image = require 'mare.draw.image'
local json = require 'dkjson'
local labels = require 'mare.draw.labels'
local memory = require 'bindings.memory'
local netcdf = require 'mare.volume.netcdf'
local options = require 'mare.base.options'
local picture = require 'mare.draw.picture'
local schedule = require 'mare.base.schedule'
local tables = require 'bindings.tables'
local variables = require 'mare.volume.variables'
local words = require 'mare.base.words'

local outputs = {}

local Outputs = {}
Outputs.__index = Outputs

-- ---- files ----

-- Returns the variables of the file: the unknowns, and those of the option --variables.
local function described(desc)
    local list, listed = {}, {}
    local function add(name)
        local v = variables.find(desc.scheme, name)
        if name == 'time' or desc.grid[name] and name:find '^[xyz]$' then
            errors.argument('%s: a coordinate of files is called so', name)
        end
        if listed[name] then return end
        listed[name], list[#list + 1] = true, { name = name, long_name = v.long_name,
            units = v.units, type = options.value(desc.options, 'precision') }
    end
    for _, name in ipairs(desc.scheme.fields) do add(name) end
    for name in (desc.options.variables or ''):gmatch '[^,%s]+' do
        errors.option('variables', add, name)
    end
    return list
end

-- Returns what a NetCDF file says of the run that makes it, as writers take it.
function outputs.describe(desc, sim, path)
    local o, values, attributes, names = desc.options, {}, {}, {}
    for k, d in ipairs(sim.devices) do names[k] = ('%s (%s)'):format(d.name, d.info.model) end
    for _, option in ipairs(o.metadata and o:metadata() or {}) do
        values[option.name] = option.value
    end
    for side, text in pairs(exchange.describe(desc.boundaries)) do
        attributes['boundary_' .. side] = text
    end
    local units, script = desc.scheme.units or {}, options.script or {}
    return { path = path, grid = desc.grid, title = desc.title,
        source = 'Mare ' .. devices.full_version, options = values,
        time_units = units.time, space_units = units.length,
        command = options.program .. ' ' .. words.line(options.source),
        attributes = tables.merged(attributes, { scenario = script.name,
            scenario_text = script.text,
            arguments = o.words and json.encode(o:words()) or nil,
            device = table.concat(names, ', ') },
            desc.scheme:parameters(), functions.attributes(desc)) }
end

local function open_file(desc, sim)
    local spec = outputs.describe(desc, sim, desc.options.out)
    spec.variables = described(desc)
    return netcdf.writer(spec)
end

local file = {}

function file.write(self, sim)
    self.writer:write(sim.now.t, function(name) return sim:field(name) end)
end

-- ---- pictures ----

-- Returns what a picture of a slice shows, as image.figure_spec takes it but for its data.
local function figure_of(desc, sim, width)
    local o, given = desc.options, desc.picture or {}
    local v = variables.find(desc.scheme, given.variable or desc.scheme.fields[1])
    local slice = sim:slice(v.name, o.slice or 'z', o.slice_at)
    local spec = labels.axes(slice.x, slice.y, (desc.scheme.units or {}).length)
    return tables.merged(spec, { nx = slice.nx, ny = slice.ny, variable = v.name, width = width,
        label = given.label or labels.with_unit(v.long_name or v.name, v.units),
        colours = given.colours, range = picture.range(o.range) or given.range,
        xlabel = slice.axes[1], ylabel = slice.axes[2], data = slice.data, path = o.image,
        title = ('%s, t = %.4g'):format(desc.title or desc.scheme.name, sim.now.t) })
end

local function open_film(desc, sim, every)
    local o = desc.options
    local fig = figure_of(desc, sim, options.value(o, 'film_width'))
    local self = { variable = fig.variable, desc = desc }
    if not fig.range then
        self.range = image.widened(nil, fig.data, fig.nx * fig.ny, fig.colours)
        fig.range, fig.is_widened, self.is_widened = self.range, true, true
    end
    fig.path = o.film
    self.writer = netcdf.on_disk(film.writer, { path = o.film, rate = film.rate,
        figure = image.figure_spec(fig), title = desc.title, time = { last = o.t_end, step = every,
            unit = picture.time_unit(desc.scheme) } })
    self.pixels = memory.array('uint32', self.writer.figure.box.width
        * self.writer.figure.box.height)
    return self
end

local shots = {}

function shots.write(self, sim)
    local o, fig = self.desc.options, self.writer.figure
    local slice = sim:slice(self.variable, o.slice or 'z', o.slice_at)
    if self.is_widened then
        self.range = image.widened(self.range, slice.data, slice.nx * slice.ny, fig.spec.colours)
        fig = self.range and fig:with_range(self.range) or fig
    end
    image.shade(fig, slice.data, self.pixels, fig.box.width)
    netcdf.on_disk(self.writer.write, self.writer, sim.now.t, function() return self.pixels end,
        self.range)
end

-- ---- a run's ----

-- Refuses a slice outside of the grid, before anything is computed.
local function check_slice(desc)
    local o = desc.options
    local range = desc.grid[o.slice or 'z']
    if o.slice_at and not (o.slice_at >= range[1] and o.slice_at <= range[2]) then
        errors.usage('option --slice-at: %g (allowed: from %g to %g)', o.slice_at, range[1],
            range[2])
    end
end

-- Refuses paths that cannot be written. desc: as for run.lua
function outputs.check(desc)
    local o = desc.options
    for _, name in ipairs { 'out', 'image' } do
        if o[name] then errors.option(name, files.check, o[name]) end
    end
    if o.image then errors.option('image', image.check, o.image) end
    if o.film then errors.option('film', film.check, o.film) end
    if o.film and not o.t_end then errors.usage 'option --film wants --t-end X' end
    check_slice(desc)
    described(desc)
    picture.range(o.range)
    variables.find(desc.scheme, (desc.picture or {}).variable or desc.scheme.fields[1])
end

-- Makes what keeps the files of a run, none of which is open yet. is_later: whether it goes on from
-- a checkpoint; what the run before it left is not replaced
function outputs.new(desc, is_later)
    for _, name in ipairs(is_later and { 'out', 'film' } or {}) do
        local path = desc.options[name]
        if path and files.size(path) then
            errors.usage('option --%s: %s is of the run before: in three dimensions one that goes '
                .. 'on from a checkpoint writes files of its own, under other names', name, path)
        end
    end
    return setmetatable({ desc = desc, list = {} }, Outputs)
end

-- Writes a checkpoint, while the run waits; saving() tells whether it failed. See
-- run/restart.lua.
function Outputs:save(path, keep, header, data)
    header.run_id, header.outputs = 'volume', {}
    local ok, failure = pcall(checkpoint.write, path, keep, header, data:pointer(), data.size)
    self.failure = not ok and tostring(failure) or nil
end

function Outputs:saving() return false, self.failure end

-- Opens the files.
function Outputs:open(sim)
    local desc, o = self.desc, self.desc.options
    local function add(made, kind, path, every)
        made.write, made.path = kind.write, path
        made.schedule = schedule.new { every = every, t_end = o.t_end }
        self.list[#self.list + 1] = made
    end
    if o.out then add({ writer = open_file(desc, sim) }, file, o.out, o.every) end
    if o.film then
        local every = o.t_end / options.value(o, 'frames')
        add(open_film(desc, sim, every), shots, o.film, every)
    end
end

Outputs.next_time, Outputs.next_step = schedule.several.next_time, schedule.several.next_step
Outputs.hits = schedule.several.hits

-- Nothing is under way between two writes.
function Outputs.poll() end

local function write(one, sim)
    if one.last == sim.now.t then return end
    one:write(sim)
    one.last = sim.now.t
end

-- Writes all that is due and not yet written at this time.
function Outputs:write(sim)
    for _, one in ipairs(self.list) do
        if one.schedule:due(sim.now.t, sim.now.steps) then write(one, sim) end
    end
end

-- Completes the files, draws the picture, and returns the paths.
function Outputs:close(sim)
    local o, paths = self.desc.options, {}
    for k, one in ipairs(self.list) do
        if one.schedule:wants_end() then write(one, sim) end
        netcdf.on_disk(one.writer.close, one.writer)
        paths[k] = one.path
    end
    if o.image then
        image.field(figure_of(self.desc, sim))
        paths[#paths + 1] = o.image
    end
    return paths
end

-- Says what a run that goes on from a checkpoint does about the files of this one, which stopped.
function Outputs:before_restart()
    local o, names = self.desc.options, {}
    for _, name in ipairs { 'out', 'film' } do
        if o[name] then names[#names + 1] = ('another --%s than %s'):format(name, o[name]) end
    end
    return names[1] and ' and wants ' .. table.concat(names, ', ') or ''
end

-- Completes the files of a run that stopped with a checkpoint: what comes then goes into others.
function Outputs:keep()
    for _, one in ipairs(self.list) do one.writer:close() end
end

-- Removes what is not complete.
function Outputs:abort()
    for _, one in ipairs(self.list) do one.writer:abort() end
end

return outputs
