-- Checkpoints of a run: when they are due, what they hold beside the fields, and how a run goes on
-- from one. Taking one never changes a step: dt is clipped to output times only.

local checkpoint = require 'mare.files.checkpoint'
local device = require 'bindings.device'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local functions = require 'mare.run.functions'
local here = require 'mare.ranks.here'
local identity = require 'mare.run.identity'
local literal = require 'mare.base.literal'
local options = require 'mare.base.options'
local schedule = require 'mare.base.schedule'
local share = require 'mare.array.share'
local shares = require 'mare.files.shares'
local system = require 'bindings.system'
local worker = require 'bindings.worker'

local restart = {}

local Saver = {}
Saver.__index = Saver

-- Returns how many levels of the state the next step of a scheme depends on.
local function levels(scheme)
    return scheme.levels and #scheme.levels(0) or 1
end

-- Returns where each analysis lies behind the state, in bytes, and the bytes of all.
local function places(desc)
    local list, at = {}, checkpoint.state_bytes(identity.of(desc), levels(desc.scheme))
    for k, analysis in ipairs(desc.analyses or {}) do
        list[k], at = at, at + analysis:saved_bytes(desc.grid)
    end
    return list, at
end

-- Raises where a checkpoint does not hold what the run wants to go on with.
local function check_state(found, desc)
    local list, bytes = places(desc)
    local kept = found.header.analyses or {}
    if #kept > #list then
        errors.usage('%s: the run to be continued had analyses: %d, not %d', found.path, #kept,
            #list)
    elseif #kept < #list then
        errors.usage('%s: has no sums of an analysis', found.path)
    elseif found.bytes ~= bytes then
        errors.usage('%s: its state has %.0f bytes, the grid wants %.0f', found.path, found.bytes,
            bytes)
    end
end

-- Returns what is not the same in the run of a checkpoint, its name and in words; nil where all is.
local function difference_to(found, desc)
    local before = found.header.identity
    for k, entry in ipairs(identity.of(desc)) do
        local difference = identity.difference(before[k], entry)
        if difference then return entry[1], difference end
    end
end

-- Returns what a new run is about to replace, in words, or nil.
function restart.replaces(desc)
    local o = desc.options
    if not o.checkpoint or o.restart then return nil end
    local ok, found = pcall(checkpoint.newest, o.checkpoint)
    if not (ok and found) then return nil end
    local h, same = found.header, not difference_to(found, desc)
    return string.format('%s holds %s up to t = %g, which this new run replaces%s', found.path,
        same and 'a run' or 'another run', h.t_end or h.t,
        same and '; --restart latest goes on from it' or '')
end

-- Returns the newest checkpoint that rank 0 finds, which all ranks read.
local function newest(path)
    local found = here.rank == 0 and checkpoint.newest(path) or nil
    local name = here.broadcast(found and { found.path, found.passed_over })
    if not name or here.rank == 0 then return found end
    local read, reason = checkpoint.read(name[1])
    if not read then errors.usage('%s %s', name[1], reason) end
    read.path, read.passed_over = name[1], name[2]
    return read
end

-- Returns the checkpoint that --restart asks for: { header, state, path, ... }, or nil for a new
-- run.
function restart.find(desc)
    local o = desc.options
    if not o.restart then return nil end
    local latest = o.restart == 'latest'
    if latest and not o.checkpoint then
        errors.usage '--restart latest needs --checkpoint FILE'
    end
    local found = newest(latest and o.checkpoint or o.restart)
    if not found then
        if latest then return nil end       -- the first of a chain of runs with one command line
        errors.usage('option --restart: %s: %s', o.restart, files.unreadable(o.restart))
    end
    local what, difference = difference_to(found, desc)
    if what then errors.usage('%s is of another run: %s: %s', found.path, what, difference) end
    functions.check(desc, found.path)
    check_state(found, desc)
    for key, value in pairs(found.header.state or {}) do (desc.state or {})[key] = value end
    return found
end

-- Refuses a checkpoint from beyond the end of the run. Returns whether it is at the end.
function restart.is_at_end(found, o)
    local h = found.header
    for _, limit in ipairs { { 't = %.14g', h.t, o.t_end }, { 'step %.0f', h.steps, o.steps } } do
        local text, now, last = unpack(limit)
        if last and now > last then
            errors.usage('%s is at ' .. text .. ', the run ends at ' .. text, found.path, now, last)
        end
    end
    return h.t == o.t_end or h.steps == o.steps
end

-- Makes what moves with the flow in a run, at its start or as in the header of a checkpoint; nil
-- where nothing does.
function restart.particles(desc, header)
    local kind = desc.scheme.particles
    return kind and kind.new(desc, header[kind.name]) or nil
end

-- ---- taking checkpoints ----

local units = { [''] = 1, s = 1, m = 60, h = 3600, d = 86400 }

-- Turns "90", "90s" or "1.5h" into seconds.
local function seconds(text)
    local number, unit = text:match '^([%d.]+)(%a?)$'
    local value = tonumber(number)
    if value and units[unit] and value > 0 then return value * units[unit] end
    errors.usage("option --wall-limit: '%s' (allowed: a time such as 90s, 30m or 1.5h)", text)
end

-- Returns what takes the checkpoints of a run; nil where none are wanted. desc: as for run.new;
-- now: of a steady clock, seconds; told: of events.source; found: the checkpoint that the run goes
-- on from, or nil; series: of series.new, or nil; particles: of restart.particles
function restart.saver(desc, outputs, now, told, found, series, particles)
    local o = desc.options
    local limit = o.wall_limit and seconds(o.wall_limit)
    if not o.checkpoint then
        if limit or o.checkpoint_every then
            errors.usage 'options --wall-limit and --checkpoint-every want --checkpoint FILE'
        end
        return nil
    end
    files.check(o.checkpoint)
    return setmetatable({
        desc = desc, path = o.checkpoint, keep = options.value(o, 'keep'), outputs = outputs,
        now = now, started = now(), limit = limit, events = told, series = series,
        particles = particles,
        good = found and { path = found.path, t = found.header.t, step = found.header.steps },
        schedule = o.checkpoint_every and schedule.new { every = o.checkpoint_every },
    }, Saver)
end

local function header(self, sim)
    local clock, particles = sim.now, self.particles
    local list = {
        version = device.version, commit = device.commit,
        device = sim.devices[1].name .. ' ' .. sim.devices[1].info.model,
        title = self.desc.title, identity = identity.of(self.desc), t = clock.t,
        steps = clock.steps, dt = clock.dt, rate = clock.rate, cfl = clock.cfl, last = clock.last,
        state = self.desc.state, levels = levels(self.desc.scheme),
        t_end = self.ended and self.desc.options.t_end,
        series = self.series and self.series:save(), analyses = self.kept,
    }
    if particles then list[particles.name] = particles:save() end
    return list
end

-- Takes the answer of the thread that writes the share of this rank, if there is one or with
-- `wait`. Returns whether those of all ranks are there, and why one has failed; then rank 0 has the
-- rest written, unless one has.
local function settle_shares(self, wait)
    self.answer = self.answer or (wait and self.writer:receive() or self.writer:poll())
    local failure
    local answers = here.all(self.answer or false)
    for rank, text in ipairs(answers) do
        if not text then return false end
        local answer = literal.decode(text)
        self.header.shares[rank].crc = answer.crc
        failure = failure or answer.failure and ('rank %d: %s'):format(rank - 1, answer.failure)
    end
    self.answer, self.shares_underway = nil, false
    local ok, why = pcall(shares.check, files.follow(self.path),
        here.rank == 0 and not failure and self.header.shares or {})
    ok, why = unpack(here.broadcast { ok, not ok and tostring(why) or nil })
    if failure or not ok then
        os.remove(self.own_path)        -- no checkpoint will name it
        return true, failure or why
    end
    self.outputs:save(self.path, self.keep, self.header, self.memory)
    return true
end

-- Returns why the checkpoint being written failed.
local function settle(self, wait)
    if self.shares_underway then
        local are_there, failure = settle_shares(self, wait)
        if failure then self.asked, self.failure = nil, failure end
        if failure or not are_there then return failure end
    end
    local busy, failure = self.outputs:saving(wait)
    if not self.asked then return nil end
    busy, failure = unpack(here.broadcast { busy or false, failure })   -- it is rank 0 that writes
    if busy then return nil end
    self.cost = math.max(self.cost, self.now() - self.asked)
    self.asked, self.failure = nil, failure
    if not failure then
        self.good = self.pending
        self.events:tell('checkpoint', self.good)
    end
    return failure
end

-- Returns host memory for so many bytes, nil for none.
local function memory_of(sim, bytes)
    return bytes > 0 and sim.fields:host { count = bytes / sim.fields.element,
        label = 'checkpoint' } or nil
end

-- Copies the fields to the host: what each of several ranks holds of them, or all.
local function fill_fields(self, sim)
    if here.size == 1 then return sim:save(self.memory) end
    self.share = self.share or share.new(sim.fields, levels(self.desc.scheme))
    self.own = self.own or memory_of(sim, self.share.bytes)
    sim:save_share(self.share, self.own)
end

-- Copies the fields, and to rank 0 what analyses have gathered.
local function fill(self, sim)
    local list, bytes = places(self.desc)
    local shared = here.size > 1 and checkpoint.state_bytes(identity.of(self.desc),
        levels(self.desc.scheme)) or 0
    self.memory = self.memory or here.rank == 0 and memory_of(sim, bytes - shared) or nil
    fill_fields(self, sim)
    local data = self.memory and worker.pointer('char', worker.address(self.memory:pointer()))
    self.kept = {}
    for k, analysis in ipairs(self.desc.analyses or {}) do
        self.kept[k] = analysis:save(data and data + (list[k] - shared))
    end
end

-- Gives analyses of a run what they had gathered at the checkpoint that it goes on from.
function restart.load_analyses(desc, sim, found)
    local list = places(desc)
    for k, analysis in ipairs(desc.analyses or {}) do
        analysis:load(sim, found.state + list[k], found.header.analyses[k])
    end
end

-- Has the threads of all ranks write their shares. The header says how all is at this moment.
local function begin_shares(self, sim)
    local path = files.follow(self.path)
    local tag = here.broadcast(('%dx%x'):format(sim.now.steps, system.now() * 1e6 % 2 ^ 40))
    self.writer = self.writer or worker.start 'mare.files.share_writer'
    self.header, self.shares_underway = header(self, sim), true
    self.header.shares = {}
    for rank, held in ipairs(self.share.of_rank) do
        local boxes = {}
        for k, box in ipairs(held.boxes) do boxes[k] = shares.numbers(box) end
        self.header.shares[rank] = { bytes = held.bytes, boxes = boxes,
            name = shares.name(path, tag, rank - 1):match '[^/]*$' }
    end
    self.outputs:seal(self.header)
    self.own_path = shares.name(path, tag, here.rank)
    self.writer:send(literal.encode { path = self.own_path,
        data = worker.address(self.own:pointer()), size = self.share.bytes })
end

-- Takes one now, as soon as the last is on the disk.
local function take(self, sim)
    local failure = settle(self, true)
    self.asked = self.now()
    self.pending = { path = self.path, t = sim.now.t, step = sim.now.steps }
    fill(self, sim)
    if here.size > 1 then begin_shares(self, sim)
    else self.outputs:save(self.path, self.keep, header(self, sim), self.memory) end
    return failure
end

local slow_disk = 2e8       -- bytes per second, until a checkpoint has told

-- Notes where the run stands at its start.
function Saver:begin(sim)
    self.cost = 8 * sim:saved_count() / slow_disk
    self.next = self.schedule and self.schedule:next_time(sim.now.t) or math.huge
end

-- Takes a checkpoint after a batch of steps, if one is due. Returns why an earlier one could not be
-- written: the run goes on, with the last good one.
function Saver:check(sim)
    local failure = settle(self, false)
    if sim.now.t < self.next then return failure end
    self.next = self.schedule:next_time(sim.now.t)
    return take(self, sim) or failure
end

-- Returns whether the wall clock says stop: `reserve` seconds are wanted beside the time of two
-- checkpoints, of which one may be under way.
function Saver:out_of_time(reserve)
    if not self.limit then return false end
    return here.broadcast(self.now() - self.started + reserve + 2 * self.cost >= self.limit)
end

-- Takes the last of the run, which has yet to come to its end; see loop.lua. Returns as check().
function Saver:last(sim)
    self.next, self.ended = math.huge, true
    return take(self, sim)
end

local function stop_writer(self)
    if self.writer then self.writer:stop() end
    self.writer = nil
end

-- Takes one, unless the last or one of this step has been taken, and waits until it is on the disk.
-- Returns its path, time and step.
function Saver:finish(sim)
    local failure = settle(self, true)
    local is_taken = self.good and self.good == self.pending and self.good.step == sim.now.steps
    if not (self.ended or is_taken) then
        if failure then self.events:warn('no checkpoint: %s', failure) end
        take(self, sim)
        settle(self, true)
    end
    stop_writer(self)
    if self.failure then errors.raise('MARE_ERROR_IO', '%s', self.failure) end
    return self.good
end

-- Says which one a run that failed can go on from.
function Saver:last_good()
    settle(self, true)
    stop_writer(self)
    local good = self.good
    return good and string.format('the last good checkpoint is %s, t = %g, step %.0f', good.path,
        good.t, good.step) or 'no checkpoint was taken'
end

return restart
