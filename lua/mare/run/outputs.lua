-- What a run leaves: files of data, each with its own variables, cells and times, a film,
-- checkpoints, and a picture at the end. All but the picture is written by a thread
-- (service.lua) from slots of host memory; when all slots of a file wait for the disk, the
-- run waits too. Files are opened before the simulation is made, so that a path that cannot be
-- written stops a run before it has cost anything. Of several ranks rank 0 writes; the others take
-- part in bringing together what it writes.

local camera = require 'mare.run.camera'
local continued = require 'mare.run.continued'
local device = require 'bindings.device'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local exchange = require 'mare.array.exchange'
local files = require 'bindings.files'
local functions = require 'mare.run.functions'
local here = require 'mare.ranks.here'
local image = require 'mare.draw.image'
local json = require 'dkjson'
local links = require 'mare.links'
local literal = require 'mare.base.literal'
local memory = require 'bindings.memory'
local numbers = require 'mare.base.numbers'
local options = require 'mare.base.options'
local picture = require 'mare.draw.picture'
local schedule = require 'mare.base.schedule'
local snapshot = require 'mare.array.snapshot'
local tables = require 'bindings.tables'
local trace = require 'mare.measure.trace'
local worker = require 'bindings.worker'
local words = require 'mare.base.words'

local outputs = {}

local Outputs = {}
Outputs.__index = Outputs

local slots = 2             -- of a file: one is filled while the other is written

-- ---- what to write ----

-- Returns variables as the writer describes them. wanted: an array of names, or a text with names
-- to add to the unknowns.
local function describe_variables(desc, wanted, precision)
    local scheme, land = desc.scheme, desc.domain and desc.domain:has_missing()
    local known, listed, list, names = {}, {}, {}, {}
    for k, v in ipairs(scheme.variables) do
        known[v.name], names[k] = v, v.name
    end
    local function add(name)
        local v = known[name]
        if not v then
            errors.usage("option --variables: '%s' (allowed: %s)", name, table.concat(names, ', '))
        end
        if listed[name] then return end
        listed[name] = true
        list[#list + 1] = { name = name, type = precision, long_name = v.long_name,
            units = v.units, missing = land and v.value and 0 / 0 or nil, comment = v.comment,
            standard_name = desc.grid.spherical and v.on_sphere or v.standard_name }
    end
    local is_list = type(wanted) == 'table'
    for _, name in ipairs(is_list and wanted or scheme.fields) do add(name) end
    for name in (is_list and '' or wanted or ''):gmatch '[^,%s]+' do add(name) end
    return list
end

-- Returns the cells of a region { west, east, south, north }, every step-th of them.
local function sample(grid, region, step)
    local r = region and numbers('region', region, 4)
        or { grid.x[1], grid.x[2], grid.y[1], grid.y[2] }
    step = step or 1
    local slack, x, y = 1e-6, grid.x, grid.y        -- of a cell, for edges that are rounded
    if r[1] < x[1] - slack * grid.dx or r[2] > x[2] + slack * grid.dx
        or r[3] < y[1] - slack * grid.dy or r[4] > y[2] + slack * grid.dy then
        errors.usage('option --region: %g,%g,%g,%g (allowed: within %g,%g,%g,%g)', r[1], r[2],
            r[3], r[4], x[1], x[2], y[1], y[2])
    end
    if not (r[1] < r[2] and r[3] < r[4]) then
        errors.usage('option --region: %g,%g,%g,%g (allowed: west,east,south,north)', unpack(r))
    end
    local i0, j0 = grid:cell(r[1], r[3])
    local i1, j1 = grid:cell(r[2], r[4])
    -- a region that ends where a cell begins does not hold that cell
    if i1 > i0 and grid.x[1] + i1 * grid.dx >= r[2] then i1 = i1 - 1 end
    if j1 > j0 and grid.y[1] + j1 * grid.dy >= r[4] then j1 = j1 - 1 end
    return { i0 = i0, j0 = j0, step = step, nx = math.floor((i1 - i0) / step) + 1,
        ny = math.floor((j1 - j0) / step) + 1 }
end

-- Returns the times that the command line lists: all of them come to pass, unless --steps ends the
-- run.
local function listed_times(o)
    local times, t_end = o.times and numbers('times', o.times), o.t_end or math.huge
    for _, t in ipairs(times or {}) do
        if t < 0 or t > t_end then
            errors.usage("option --times: '%.14g' (allowed: times from 0 to %.14g, the end)", t,
                t_end)
        end
    end
    return times
end

-- Returns the description of the file that the command line asks for.
local function from_options(o)
    return o.out and {
        path = o.out, every = o.every, steps = o.every_steps, times = listed_times(o),
        region = o.region, stride = o.stride, variables = o.variables, deflate = o.deflate,
        quantize = o.quantize,
    } or nil
end

local wanted_fields = {
    path = 'string', every = 'number', steps = 'number', times = 'any', region = 'any',
    stride = 'number', variables = 'any', deflate = 'number', shuffle = 'boolean',
    quantize = 'number',
}

-- Returns the names of the devices of all ranks, each once.
local function all_names(names)
    local list, seen = {}, {}
    for _, own in ipairs(here.all(names)) do
        for _, name in ipairs(own) do
            if not seen[name] then list[#list + 1], seen[name] = name, true end
        end
    end
    return list
end

-- Returns everything that a reader needs to run it again, beside the options.
local function attributes(desc, devices, run_id)
    local names, script = {}, options.script or {}
    for k, d in ipairs(devices) do names[k] = string.format('%s (%s)', d.name, d.info.model) end
    if here.size > 1 then names = all_names(names) end
    local list = tables.merged({
        device = table.concat(names, ', '), driver = devices[1].info.driver, run_id = run_id,
        scenario = script.name, scenario_text = script.text,
        arguments = desc.options.words and json.encode(desc.options:words()) or nil,
    }, desc.scheme:parameters(), functions.attributes(desc))
    for side, text in pairs(exchange.describe(desc.boundaries, desc.domain)) do
        list['boundary_' .. side] = text
    end
    list.tide = desc.domain and desc.domain:tide_text()
    if here.size > 1 then list.ranks = tostring(here.size) end
    if here.size > 1 or #devices > 1 then list.transport = links.describe(devices) end
    return list
end

local function option_values(o)
    local values = {}
    for _, option in ipairs(o.metadata and o:metadata() or {}) do
        values[option.name] = option.value
    end
    return values
end

local function spec_of(desc, wanted, common)
    local g, o, units = desc.grid, desc.options, desc.scheme.units or {}
    return {
        path = wanted.path, title = desc.title, source = 'Mare ' .. device.full_version,
        space_units = units.length, time_units = units.time, epoch = desc.epoch,
        has_dates = desc.domain ~= nil,
        grid = { nx = g.nx, ny = g.ny, x = g.x, y = g.y, coordinates = g.coordinates },
        sample = sample(g, wanted.region, wanted.stride),
        command = options.program .. ' ' .. words.line(options.source),
        variables = describe_variables(desc, wanted.variables, options.value(o, 'precision')),
        deflate = wanted.deflate, shuffle = wanted.shuffle, quantize = wanted.quantize,
        attributes = common, options = option_values(o),
        owner = continued.owner(desc, common.run_id),
    }
end

-- Returns the descriptions of what does not change, at the cells of a file, and the arrays, which
-- must live until the file is open.
local function describe_statics(desc, cells)
    local list, arrays = {}, {}
    local precision = options.value(desc.options, 'precision')
    for k, v in ipairs(desc.domain and desc.scheme:statics(desc.domain) or {}) do
        arrays[k] = memory.array(precision, cells.nx * cells.ny)
        for n = 0, cells.nx * cells.ny - 1 do
            arrays[k][n] = v.at(cells.i0 + n % cells.nx * cells.step,
                cells.j0 + math.floor(n / cells.nx) * cells.step)
        end
        list[k] = { name = v.name, type = precision, units = v.units, long_name = v.long_name,
            standard_name = v.standard_name, address = worker.address(arrays[k]),
            missing = desc.domain:has_land() and 0 / 0 or nil }
    end
    return list, arrays
end

local function new_output(desc, wanted, common)
    errors.fields('output', wanted, wanted_fields)
    local spec = spec_of(desc, wanted, common)
    local statics, arrays = describe_statics(desc, spec.sample)
    spec.statics = statics
    return {
        spec = spec, busy = {}, arrays = arrays,
        schedule = schedule.new { every = wanted.every, steps = wanted.steps,
            times = wanted.times and numbers('times', wanted.times), t_end = desc.options.t_end },
    }
end

local function new_film(desc, run_id)
    local plan = camera.film(desc)
    if not plan then return nil end
    plan.spec.owner = continued.owner(desc, run_id)
    return {
        film = plan, spec = plan.spec, busy = {},
        schedule = schedule.new { every = plan.every, t_end = desc.options.t_end },
    }
end

-- ---- the thread that writes ----

local function request(self, message)
    if not self.worker:send(literal.encode(message)) then
        self.worker:receive()       -- raises why
    end
end

-- Answers to checkpoints wait in `saved`; any other failure ends the run.
local function take(self, text)
    local reply = text and literal.decode(text)
    if not reply then errors.raise('MARE_ERROR_IO', 'the thread that writes has ended') end
    trace.note('writer', reply.kind, reply.began, reply.ended)
    if reply.kind == 'checkpoint' then
        self.saved = { failure = reply.failure }
    elseif reply.failure then
        errors.raise('MARE_ERROR_IO', '%s', reply.failure)
    elseif reply.kind == 'write' then
        local output = self.list[reply.id]
        self.events:tell('output', { path = output.spec.path, t = output.busy[reply.slot] })
        output.busy[reply.slot] = false
    end
    return reply
end

-- Returns what the event of a run's start says: of what it is computed and with which options.
function Outputs:parameters()
    return self.common, option_values(self.desc.options)
end

-- Describes a file of the same run with other cells and variables.
function Outputs:describe(path, cells, names)
    local spec = spec_of(self.desc, { path = path, variables = names }, self.common)
    spec.sample = cells
    return spec
end

-- Takes what has been answered. Raises what went wrong meanwhile.
function Outputs:poll()
    for text in self.worker and self.worker.poll or function() end, self.worker do
        take(self, text)
    end
end

local function await(self, kind)
    repeat local reply = take(self, self.worker:receive()) until reply.kind == kind
end

local function open(self, id)
    if not self.is_writer then return end
    local output = self.list[id]
    request(self, { kind = 'open', id = id, spec = output.spec, position = output.position })
    await(self, 'open')
end

-- Films are opened when there is a state, of which their colours may depend.
local function open_files(self)
    for id, output in ipairs(self.list) do
        if not output.film then open(self, id) end
    end
end

-- Opens the files, unless another run is writing one of them. It looks for such a run twice: before
-- it makes part files, since it may read those of the other run, and again once others can see its
-- own. An empty part file tells others for as long as the run lasts that it writes checkpoints.
local function start(self)
    if not self.is_writer then return end
    local path = self.desc.options.checkpoint
    continued.check_writers(self.desc, self.list)
    self.claim = path and files.temporary(path)
    self.worker = worker.start 'mare.run.service'
    open_files(self)
    continued.check_writers(self.desc, self.list)
end

-- Opens the files of a run. desc: as for run.new, with boundaries of exchange.boundaries; earlier,
-- run_id: of a checkpoint's header
function outputs.new(desc, devices, earlier, run_id)
    local o = desc.options
    continued.check_paths(desc, options.simulation)
    if type(desc.picture) ~= 'function' then picture.describe(desc.picture, desc.scheme) end
    picture.range(o.range)
    for _, name in ipairs { 'out', 'image', 'checkpoint' } do
        if o[name] then errors.option(name, files.check, o[name]) end
    end
    if o.image then errors.option('image', image.check, o.image) end
    local self = setmetatable({
        desc = desc, image = o.image, run_id = run_id or here.broadcast(continued.new_id()),
        list = {}, is_writer = here.rank == 0,
        events = events.source(), has_checkpoint = run_id ~= nil,
    }, Outputs)
    self.common = attributes(desc, devices, self.run_id)
    self.list[1] = from_options(o) and new_output(desc, from_options(o), self.common)
    for _, wanted in ipairs(desc.outputs or {}) do
        self.list[#self.list + 1] = new_output(desc, wanted, self.common)
    end
    self.list[#self.list + 1] = new_film(desc, self.run_id)
    if #self.list == 0 and not o.checkpoint then return self end
    continued.recall(self.list, earlier)
    local ok, failure = pcall(start, self)
    if not ok then
        self:abort()
        error(failure, 0)
    end
    return self
end

-- Sets the simulation that is written from now on, and the source of its events.
function Outputs:attach(sim, told)
    self.events = told or self.events
    for id, output in ipairs(self.list) do
        if output.film then
            camera.complete(output.film, sim, output.position)
            open(self, id)
            output.snapshot = camera.new(sim, output.film, slots)
        else
            output.snapshot = snapshot.new(sim, { slots = slots, cells = output.spec.sample,
                variables = tables.column(output.spec.variables, 'name') })
        end
    end
end

-- ---- snapshots ----

Outputs.next_time, Outputs.next_step = schedule.several.next_time, schedule.several.next_step
Outputs.hits = schedule.several.hits

local function free_slot(self, output)
    self:poll()
    while true do
        for slot = 1, slots do
            if not output.busy[slot] then return slot end
        end
        take(self, self.worker:receive())
    end
end

local function write(self, id, sim)
    local output, addresses = self.list[id], {}
    local slot = self.is_writer and free_slot(self, output) or 1
    output.snapshot:take(slot)
    output.last = sim.now.t
    if not self.is_writer then return end
    for name, pointer in pairs(output.snapshot:data(slot)) do
        addresses[name] = worker.address(pointer)
    end
    request(self, { kind = 'write', id = id, slot = slot, t = sim.now.t, type = sim.precision,
        events = output.snapshot:events(slot), data = addresses, range = output.snapshot.range })
    output.busy[slot] = sim.now.t
end

-- Writes every output that is due and not yet written at this time.
function Outputs:write(sim)
    for id, output in ipairs(self.list) do
        if output.last ~= sim.now.t and output.schedule:due(sim.now.t, sim.now.steps) then
            write(self, id, sim)
        end
    end
end

-- ---- checkpoints ----

-- Notes what a checkpoint of this moment says of outputs, in its header; where each file is, its
-- thread keeps for it.
function Outputs:seal(header)
    self:note(header)
    if self.is_writer then request(self, { kind = 'seal' }) end
end

function Outputs:note(header)
    header.run_id, header.outputs = self.run_id, {}
    for id, output in ipairs(self.list) do header.outputs[id] = { last = output.last } end
end

-- Hands a checkpoint over: its header is completed with where each file is. The host memory `data`,
-- nil for none, is in use until saving() is false.
function Outputs:save(path, keep, header, data)
    if not header.outputs then self:note(header) end
    self.saved = nil
    self.underway, self.has_checkpoint = self.is_writer, true
    if not self.is_writer then return end
    request(self, { kind = 'checkpoint', path = path, keep = keep, header = header,
        data = data and worker.address(data:pointer()) or 0, size = data and data.size or 0 })
end

-- Returns whether the last checkpoint is still being written; with `wait` it waits until that is
-- not so. Once it is written or has failed, also returns why it failed, or nil.
function Outputs:saving(wait)
    if self.underway and wait and not self.saved then await(self, 'checkpoint') end
    if not self.underway or not self.saved then return self.underway end
    self.underway = false
    return false, self.saved.failure
end

-- ---- the end ----

-- Closes the files of a run that is complete. Returns those there are now.
function Outputs:close(sim)
    local written = {}
    for id, output in ipairs(self.list) do
        if output.schedule:wants_end() and output.last ~= sim.now.t then write(self, id, sim) end
        if self.is_writer then
            request(self, { kind = 'close', id = id })
            await(self, 'close')
        end
        output.is_complete, written[id] = true, output.spec.path
    end
    self:abort()
    return written
end

-- Draws the picture of the end, when all else is written. Returns its path, or nil.
function Outputs:draw(sim)
    if not self.image then return nil end
    local draw = type(self.desc.picture) == 'function' and self.desc.picture
    if draw then draw(sim, self.image) else camera.still(self.desc, sim, self.image) end
    return self.image
end

-- Gives up after a failure, and says what is lost: all, unless a checkpoint refers to it. `path`:
-- of another file that does not come to be, or nil.
function Outputs:abandon(path)
    self:abort()
    if self.has_checkpoint then return end
    continued.tell_lost(self.list, self.events, path)
end

-- Ends the thread. Of files that were not closed, what a checkpoint refers to stays under its
-- temporary name, the rest goes.
function Outputs:abort()
    if self.worker then self.worker:stop() end
    if self.claim then self.claim:discard() end
    self.worker, self.claim = nil, nil
end

return outputs
