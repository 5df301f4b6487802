-- What a run in three dimensions leaves: a NetCDF file of its variables, a film and a picture of a
-- slice. run/loop.lua asks it when it is due. Everything is written while the run waits. Of several
-- ranks rank 0 writes; the others take part in bringing together what it writes.

local checkpoint = require 'mare.files.checkpoint'
local continued = require 'mare.run.continued'
local devices = require 'bindings.device'
local errors = require 'bindings.errors'
local exchange = require 'mare.array.exchange'
local film = require 'mare.draw.film'
local files = require 'bindings.files'
local functions = require 'mare.run.functions'
local here = require 'mare.ranks.here'
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

-- Returns what files say of the devices of all ranks, and of what is between these.
local function places(sim)
    local names, list, seen = {}, {}, {}
    for k, d in ipairs(sim.devices) do names[k] = ('%s (%s)'):format(d.name, d.info.model) end
    if here.size == 1 then return { device = table.concat(names, ', ') } end
    for _, own in ipairs(here.all(names)) do
        for _, name in ipairs(own) do
            if not seen[name] then list[#list + 1], seen[name] = name, true end
        end
    end
    return { device = table.concat(list, ', '), ranks = tostring(here.size),
        transport = sim.fields:transport() }
end

-- Returns what a NetCDF file says of the run that makes it, as writers take it.
function Outputs:describe(path)
    local desc, values, attributes = self.desc, {}, {}
    local o = desc.options
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
            run_id = self.run_id }, self.places, desc.scheme:parameters(),
            functions.attributes(desc)),
        owner = continued.owner(desc, self.run_id) }
end

-- Returns a writer of a new file, or of that of the run before.
local function open_with(module, spec, position)
    return errors.on_disk(position and module.resume or module.writer, spec, position)
end

local file = {}

function file.open(self, all)
    self.variables = described(all.desc)
    if here.rank > 0 then return end
    local spec = all:describe(self.spec.path)
    spec.variables = self.variables
    self.writer = open_with(netcdf, spec, self.position)
end

function file.write(self, sim)
    local function get(name) return sim:field(name, nil, true) end
    if self.writer then return self.writer:write(sim.now.t, get) end
    for _, v in ipairs(self.variables) do get(v.name) end
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

local shots = {}

function shots.open(self, all, sim)
    local desc, position = all.desc, self.position
    local o = desc.options
    local fig = figure_of(desc, sim, options.value(o, 'film_width'))
    self.variable, self.desc = fig.variable, desc
    if not fig.range then
        if position then self.range = position.range
        else self.range = image.widened(nil, fig.data, fig.nx * fig.ny, fig.colours) end
        fig.range, fig.is_widened, self.is_widened = self.range, true, true
    end
    if here.rank > 0 then return end
    fig.path = o.film
    self.writer = open_with(film, { path = o.film, rate = film.rate,
        figure = image.figure_spec(fig), title = desc.title, owner = continued.owner(desc,
            all.run_id), time = { last = o.t_end, step = self.every,
            unit = picture.time_unit(desc.scheme) } }, position)
    self.pixels = memory.array('uint32', self.writer.figure.box.width
        * self.writer.figure.box.height)
end

function shots.write(self, sim)
    local o = self.desc.options
    local slice = sim:slice(self.variable, o.slice or 'z', o.slice_at)
    if not self.writer then return end
    local fig = self.writer.figure
    if self.is_widened then
        self.range = image.widened(self.range, slice.data, slice.nx * slice.ny, fig.spec.colours)
        fig = self.range and fig:with_range(self.range) or fig
    end
    image.shade(fig, slice.data, self.pixels, fig.box.width)
    errors.on_disk(self.writer.write, self.writer, sim.now.t, function() return self.pixels end,
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
    continued.check_paths(desc, require 'mare.volume.options')
    check_slice(desc)
    described(desc)
    picture.range(o.range)
    variables.find(desc.scheme, (desc.picture or {}).variable or desc.scheme.fields[1])
end

-- Makes what keeps the files of a run, none of which is open yet. header: of the checkpoint that it
-- goes on from, or nil
function outputs.new(desc, header)
    local o = desc.options
    local self = setmetatable({ desc = desc, list = {}, has_checkpoint = header ~= nil,
        run_id = header and header.run_id or here.broadcast(continued.new_id()) }, Outputs)
    local function add(kind, path, every, is_film)
        self.list[#self.list + 1] = { open = kind.open, write = kind.write, spec = { path = path },
            every = every, film = is_film, schedule = schedule.new { every = every,
                t_end = o.t_end } }
    end
    if o.out then add(file, o.out, o.every) end
    if o.film then add(shots, o.film, o.t_end / options.value(o, 'frames'), true) end
    continued.recall(self.list, header and header.outputs)
    if here.rank == 0 then continued.check_writers(desc, self.list) end
    return self
end

-- Notes what a checkpoint of this moment says of the files, in its header.
function Outputs:seal(header)
    header.run_id, header.outputs = self.run_id, {}
    for k, one in ipairs(self.list) do
        header.outputs[k] = { last = one.last, position = one.writer and one.writer:seal() }
    end
end

local function save(self, path, keep, header, data)
    if not header.outputs then self:seal(header) end
    checkpoint.write(path, keep, header, data and data:pointer() or memory.array('uint8', 1),
        data and data.size or 0)
    for _, one in ipairs(self.list) do one.writer:keep() end
    -- No checkpoint is lost for litter of others.
    pcall(checkpoint.sweep, path, tables.column(tables.column(self.list, 'spec'), 'path'))
    pcall(checkpoint.sweep_shares, path)
end

-- Writes a checkpoint, while the run waits; saving() tells whether it failed. See
-- run/restart.lua. data: host memory, nil for none
function Outputs:save(...)
    local ok, failure = true, nil
    if here.rank == 0 then ok, failure = pcall(save, self, ...) end
    self.failure = not ok and tostring(failure) or nil
    self.has_checkpoint = self.has_checkpoint or ok
end

function Outputs:saving() return false, self.failure end

-- Opens the files.
function Outputs:open(sim)
    self.places = places(sim)
    for _, one in ipairs(self.list) do one:open(self, sim) end
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

-- Completes the files, and returns their paths.
function Outputs:close(sim)
    local paths = {}
    for k, one in ipairs(self.list) do
        if one.schedule:wants_end() then write(one, sim) end
        if one.writer then errors.on_disk(one.writer.close, one.writer) end
        one.is_complete, paths[k] = true, one.spec.path
    end
    return paths
end

-- Draws the picture of the end, when all else is written. Returns its path, or nil.
function Outputs:draw(sim)
    local path = self.desc.options.image
    local figure = path and figure_of(self.desc, sim)
    if path and here.rank == 0 then image.field(figure) end
    return path
end

-- Gives up after a failure, and says what is lost; what a checkpoint refers to stays. path: of
-- another file that does not come to be, or nil
function Outputs:abandon(told, path)
    for _, one in ipairs(self.list) do
        if one.writer then one.writer:abort() end
    end
    if not self.has_checkpoint then continued.tell_lost(self.list, told, path) end
end

return outputs
