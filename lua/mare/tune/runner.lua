-- Runs a search: compiles candidates ahead, builds, verifies and times each, and keeps what comes
-- out. What is tuned is a target: { device,
--   job(params) -> what ahead.lua compiles before it is needed, { kind =, ... }, or nil,
--   build(params) -> run, an error if it does not compile or does not fit,
--   learn(params) takes the answer from what was correct, if there is none; or no such function,
--   usual(record) -> parameters of what is used if nothing is kept, for `keep`, or nil }
-- which has for tune.lua { name, problem_size, release(), keep(record) or nil,
--   identity() -> what decides all results, for the cache's digest,
--   digest(params) -> a short text of what is built, or nil; no such function where the parameters
--   tell all of it }
-- and a run { verify() -> true, or false and why, batch(n) queues it n times, release(), steps = by
-- which times are divided, 1 if nil }. An error with MARE_ERROR_SCRIPT is no candidate's fault.

local ahead = require 'mare.tune.ahead'
local energy = require 'mare.measure.energy'
local errors = require 'bindings.errors'
local host = require 'bindings.host'
local results = require 'mare.tune.results'
local strategies = require 'mare.tune.strategies'
local system = require 'bindings.system'

local runner = {}

local least_ms = 1          -- of a batch that is timed, so that the clock's ticks do not matter
local most_runs = 1000      -- in one

-- ---- objectives ----

local objectives = {
    time = function(r) return r.time end,
    energy = function(r) return r.energy end,
    edp = function(r) return r.edp end,
    pareto = function(r) return r.edp end,      -- the product leads towards the middle of the set
}

-- The names of those that are always there.
function runner.objectives()
    local names = {}
    for name in pairs(objectives) do names[#names + 1] = name end
    return names
end

-- What is to be small of a record, above 0, since strategies compare by ratios; math.huge where it
-- failed, which a measurement that comes out at 0 or below has, too.
local function cost(self, record)
    local value, of = record[self.objective], objectives[self.objective]
    if of then value = of(record) end
    if value ~= nil and type(value) ~= 'number' and record.invalidity == 'correct' then
        errors.raise('MARE_ERROR_SCRIPT', "tune: objective '%s' is a %s, a number above 0 is "
            .. 'wanted', self.objective, type(value))
    end
    if type(value) ~= 'number' or value ~= value then return math.huge end
    if value <= 0 then
        if of then return math.huge end
        errors.raise('MARE_ERROR_SCRIPT', "tune: objective '%s' is %g, a number above 0 is wanted",
            self.objective, value)
    end
    return self.higher_is_better and 1 / value or value
end

-- Whether a is at least as good as b in both and better in one.
local function dominates(a, b)
    return a.time <= b.time and a.energy <= b.energy and (a.time < b.time or a.energy < b.energy)
end

local function has_both(record)
    return record.invalidity == 'correct' and record.energy ~= nil
end

-- The records that no other beats in time and energy, the fastest first. What was so slow that its
-- energy was not measured is none of them.
function runner.pareto(records)
    local front = {}
    for _, one in ipairs(records) do
        local beaten = not has_both(one)
        for _, other in ipairs(records) do
            beaten = beaten or has_both(other) and dominates(other, one)
        end
        if not beaten then front[#front + 1] = one end
    end
    table.sort(front, function(a, b) return a.time < b.time end)
    return front
end

-- ---- one candidate ----

local function milliseconds(since)
    return 1000 * (system.now() - since)
end

local function reason_of(failure)
    return errors.is(failure) and failure.message or tostring(failure)
end

-- Of one run in a batch of n.
local function time_batch(self, run, n)
    self.start:record()
    run:batch(n)
    self.stop:record()
    return self.start:elapsed_ms(self.stop) / n / (run.steps or 1)
end

-- Times in ms; only the first where that is much worse than the best so far.
local function time_runs(self, run)
    local steps = run.steps or 1
    run:batch(1)
    local first = time_batch(self, run, 1)
    local wanted = math.ceil(least_ms / math.max(first * steps, 1e-6))
    local n = math.max(1, math.min(most_runs, wanted))
    local times = { n > 1 and time_batch(self, run, n) or first }
    if times[1] > self.early_stop * self.fastest then return times end
    for k = 2, self.iterations do times[k] = time_batch(self, run, n) end
    return times
end

local function median(values)
    local sorted = { unpack(values) }
    table.sort(sorted)
    local middle = math.floor((#sorted + 1) / 2)
    return (sorted[middle] + sorted[#sorted + 1 - middle]) / 2
end

-- A function that queues a batch and waits for the one before: the device is never without work.
local function pipeline(self, run, n)
    local ends, turn = { self.start, self.stop }, 0
    return function()
        run:batch(n)
        ends[turn % 2 + 1]:record()
        turn = turn + 1
        if turn > 1 then ends[turn % 2 + 1]:wait() end
    end
end

-- Joules of one run, above the idle device, into the record.
local function measure_energy(self, run, record)
    local steps = run.steps or 1
    local n = math.max(1, math.floor(self.energy_batch_ms / record.time / steps))
    local found, reason = self.meter:measure {
        run = pipeline(self, run, n), units = n * steps,
        seconds = self.energy_seconds, warm = self.energy_warm,
    }
    if not found then errors.raise('MARE_ERROR_UNAVAILABLE', 'energy: %s', reason) end
    record.energy, record.energy_low, record.energy_high = found.joules, found.low, found.high
    record.power, record.edp = found.power, found.joules * record.time
    record.temperature = found.temperature
end

local function has_status(failure, status)
    return errors.is(failure) and failure.status == status
end

-- Passes on what no candidate is to be blamed for.
local function check_blame(failure)
    if host.interrupted() then errors.interrupt() end
    if has_status(failure, 'MARE_ERROR_SCRIPT')
        or has_status(failure, 'MARE_ERROR_UNAVAILABLE') then
        error(failure, 0)
    end
end

-- As pcall; the milliseconds go into a field of the record.
local function clocked(record, field, f, ...)
    local began = system.now()
    local ok, result, why = pcall(f, ...)
    record[field] = milliseconds(began)
    return ok, result, why
end

local function measure(self, run, record)
    record.times = time_runs(self, run)
    record.time = median(record.times)
    self.fastest = math.min(self.fastest, record.time)
    local slow = #record.times < self.iterations
    if self.meter and not slow then measure_energy(self, run, record) end
end

-- Verifies, times and frees a run. Returns what is wrong with it, in a word of results.fail and as
-- the failure; nil if nothing is.
local function examine(self, run, record)
    local kind, failure
    local ran, right, why = clocked(record, 'verification_time', run.verify, run)
    if not ran then
        kind, failure = 'runtime', right
    elseif not right then
        kind, failure = 'correctness', why
    else
        ran, failure = clocked(record, 'benchmark_time', measure, self, run, record)
        kind = not ran and 'runtime' or nil
    end
    local freed, fault = pcall(run.release, run)        -- waits for what is queued
    if freed or has_status(failure, 'MARE_ERROR_LOST') then return kind, failure end
    return 'runtime', fault
end

local function kind_of(failure)
    return has_status(failure, 'MARE_ERROR_ARGUMENT') and 'constraints'
        or has_status(failure, 'MARE_ERROR_MEMORY') and 'runtime' or 'compile'
end

-- Builds, verifies, times. Fills the record; what fails is told there and returned.
local function try(self, params, record)
    local ok, run = clocked(record, 'compile_time', self.target.build, self.target, params)
    if not ok and has_status(run, 'MARE_ERROR_LOST') then error(run, 0) end   -- nothing ran of it
    local kind, failure
    if ok then kind, failure = examine(self, run, record) else kind, failure = kind_of(run), run end
    if not kind then
        record.invalidity = 'correct'
        return
    end
    check_blame(failure)
    results.fail(record, self.objective, kind, reason_of(failure))
    return failure
end

local function add_metrics(self, record)
    if record.invalidity ~= 'correct' then return end
    for name, f in pairs(self.metrics or {}) do record[name] = f(record) end
end

-- The record of the file, unless it lacks the energy that is wanted now. What was so slow that it
-- was timed once never had it.
local function known_record(self, key)
    local record = self.results.records[key]
    local lacks = self.meter and record and record.invalidity == 'correct' and not record.energy
    if not lacks or #record.times == 1 and self.iterations > 1 then return record end
end

-- Keeps the record of a candidate that has ended, unless it failed by what may have passed when the
-- tuning goes on: memory is full of other things, too. One that has lost the device ends the
-- tuning, since drivers give a process no second one (NVIDIA's on an H200, CUDA and OpenCL).
local function conclude(self, key, record, failure)
    if has_status(failure, 'MARE_ERROR_MEMORY') then return self.results:finish() end
    self.results:add(key, record)
    if not has_status(failure, 'MARE_ERROR_LOST') then return end
    local path = self.results.path
    errors.raise('MARE_ERROR_LOST', 'tune: the candidate %s lost the device%s: %s', key,
        path and (' (it is recorded in %s as failed, and the same call in a new process goes on '
            .. 'with the next)'):format(path) or '', failure.message)
end

-- Where answers are the first candidate's, one that was correct the last time gives them now.
local function learn(self)
    if self.has_learnt or not self.target.learn then return end
    self.has_learnt = true
    for index = 1, self.space.size do
        local record = self.results.records[self.space:key(index)]
        if record and record.invalidity == 'correct' then
            return self.target:learn(self.space:params(index))
        end
    end
end

-- The record of a candidate, which is kept; from the file if it was there.
local function record_of(self, index)
    local key = self.space:key(index)
    local record, failure = known_record(self, key), nil
    if not record then
        record = self.space:params(index)
        record.timestamp = os.date '!%Y-%m-%dT%H:%M:%SZ'
        record.strategy_time, record.framework_time = milliseconds(self.asked), 0
        record.verification_time, record.benchmark_time = 0, 0
        if self.replay then
            results.fail(record, self.objective, 'constraints', 'not among the recorded ones')
        else
            learn(self)
            record.digest = self.results:digest(key, self.space:params(index))
            self.results:begin(key, self.space:params(index), record.digest)
            failure = try(self, self.space:params(index), record)
        end
        add_metrics(self, record)
        conclude(self, key, record, failure)
    elseif not self.replay then
        add_metrics(self, record)
    end
    if type(record.time) == 'number' then self.fastest = math.min(self.fastest, record.time) end
    self.visited[index] = record
    self.records[#self.records + 1] = record
    if self.tell then self.tell(record, #self.records) end
    return record
end

-- ---- the search ----

local function is_spent(self)
    if host.interrupted() then errors.interrupt() end
    return #self.records >= self.max_fevals or system.now() - self.began >= self.time_limit
end

-- Hands those of a list that are not known to the compilers, no more than the budget allows.
local function compile_ahead(self, list)
    if not self.ahead then return end
    local jobs, room = {}, self.max_fevals - #self.records
    for _, index in ipairs(list) do
        if #jobs >= room then break end
        local known = self.visited[index] or known_record(self, self.space:key(index))
        local job = not known and self.target:job(self.space:params(index))
        if job and not self.queued[index] then
            self.queued[index], jobs[#jobs + 1] = true, job
        end
    end
    self.ahead:queue(jobs)
    if self.meter then self.ahead:finish() end      -- only this process may use the device
end

-- A strategy that asks nothing new so often will not any more.
local most_stale = 500

local function march(self)
    local search = strategies.start(self.strategy, self.space, self.strategy_options)
    local list, stale = search(), 0
    while list and stale < most_stale and #self.records < self.space.size do
        compile_ahead(self, list)
        local costs, before = {}, #self.records
        self.asked = system.now()
        for k, index in ipairs(list) do
            if not self.visited[index] and is_spent(self) then return end
            costs[k] = cost(self, self.visited[index] or record_of(self, index))
            self.asked = system.now()
        end
        stale = #self.records > before and 0 or stale + 1
        list = search(costs)
    end
end

local function best_of(self)
    local best
    for _, record in ipairs(self.records) do
        local value = cost(self, record)
        if value < math.huge and (not best or value < cost(self, best)) then best = record end
    end
    return best
end

local function needs_energy(objective)
    return objective == 'energy' or objective == 'edp' or objective == 'pareto'
end

local function open_meter(device)
    local meter, reason = energy.open(device)
    if not meter then errors.raise('MARE_ERROR_UNAVAILABLE', 'tune: energy: %s', reason) end
    local idle
    idle, reason = meter:rest()
    if not idle then errors.raise('MARE_ERROR_UNAVAILABLE', 'tune: energy: %s', reason) end
    return meter
end

local function prepare(self)
    if self.replay then return end
    local device = self.target.device
    self.start, self.stop = device:event(), device:event()
    if self.energy or needs_energy(self.objective) then self.meter = open_meter(device) end
    self.ahead = self.target.job and ahead.new(device, self.workers)
end

-- Whether the best one is to be kept, and the record of what is used otherwise, which is measured
-- as all were and must be worse.
local function weigh(self, best)
    if not (self.keep and best) then return false end
    if not self.target.usual then return true end
    local params, usual = self.target:usual(best), self.target:usual(best)
    local failure = try(self, params, usual)
    if has_status(failure, 'MARE_ERROR_LOST') or has_status(failure, 'MARE_ERROR_MEMORY') then
        error(failure, 0)       -- says nothing of the shape
    end
    add_metrics(self, usual)
    return cost(self, best) < cost(self, usual), usual
end

-- Searches. desc: { target, space, results = of results.open, strategy, strategy_options,
-- objective, higher_is_better, iterations, early_stop, energy, energy_seconds, energy_warm,
-- metrics, workers, keep, replay = true where results hold all there is, tell = function(record,
-- count) }
-- Returns the records in the order of the search, the best one, or nil where all failed, whether
-- that is to be kept, and the record of what it was weighed against, if there is one.
function runner.run(desc)
    local o = desc.strategy_options
    local self = { visited = {}, records = {}, queued = {}, fastest = math.huge,
        began = system.now(), max_fevals = o.max_fevals or math.huge,
        time_limit = o.time_limit or math.huge, energy_batch_ms = 10 }
    for key, value in pairs(desc) do self[key] = value end
    prepare(self)
    local ok, failure = pcall(march, self)
    if self.ahead then self.ahead:stop() end
    if not self.replay then self.results:finish() end
    if not ok then error(failure, 0) end
    local best = best_of(self)
    return self.records, best, weigh(self, best)
end

return runner
