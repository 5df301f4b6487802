-- Runs a search: compiles candidates ahead, then builds, verifies and times each one, and keeps
-- the results. What is tuned is a target: { device,
--   job(params) -> what ahead.lua can compile in advance, { kind =, ... }, or nil,
--   build(params) -> run; raises an error if it does not compile or does not fit,
--   learn(params) takes the answer from a candidate that was correct, if none is given (optional),
--   usual(record) -> the parameters that are used if nothing is kept, for `keep`, or nil }
-- and for init.lua { name, problem_size, release(), keep(record) or nil,
--   identity() -> what decides all results, for the digest of the cache,
--   digest(params) -> a short text of what is built, or nil (optional: without it the parameters
--   say everything) }
-- A run is { verify() -> true, or false and the reason; batch(n) queues n launches; release();
-- steps = divisor of the times, default 1; wait() waits for batches on several devices or ranks,
-- which the clock of the host times: optional }. An error with status MARE_ERROR_SCRIPT is not the
-- fault of a candidate.

local ahead = require 'mare.tune.ahead'
local energy = require 'mare.measure.energy'
local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local home = require 'bindings.home'
local results = require 'mare.tune.results'
local strategies = require 'mare.tune.strategies'
local system = require 'bindings.system'
local together = require 'mare.tune.together'

local runner = {}

local least_ms = 1          -- of a batch that is timed, so that the clock's resolution suffices
local most_runs = 1000      -- in one batch

-- ---- objectives ----

-- Those that need no metric of the script: what each is of a record.
runner.objectives = {
    time = function(r) return r.time end,
    energy = function(r) return r.energy end,
    edp = function(r) return r.edp end,
    pareto = function(r) return r.edp end,      -- edp leads the search towards the Pareto front
}

-- Returns the cost of a record, which strategies make small. It is above 0,
-- since they compare ratios, and infinite if the candidate failed or was
-- measured at 0 or below.
local function cost(self, record)
    local value, of = record[self.objective], runner.objectives[self.objective]
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

-- Returns whether a is at least as good as b in time and energy, and better in
-- one.
local function dominates(a, b)
    return a.time <= b.time and a.energy <= b.energy and (a.time < b.time or a.energy < b.energy)
end

local function has_both(record)
    return record.invalidity == 'correct' and record.energy ~= nil
end

-- Returns the records that no other beats in both time and energy, fastest
-- first. Candidates so slow that their energy was not measured are left out.
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

-- Returns the time of one run in a batch of n, on the slowest rank.
local function time_batch(self, run, n)
    if run.wait then
        run:wait()
        here.all(true)
        local began = system.now()
        run:batch(n)
        run:wait()
        return here.largest(milliseconds(began)) / n / (run.steps or 1)
    end
    self.start:record()
    run:batch(n)
    self.stop:record()
    return self.start:elapsed_ms(self.stop) / n / (run.steps or 1)
end

-- Measures times in ms; only once if the first is much worse than the best so
-- far.
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

-- Returns a function that queues a batch and waits for the previous one, so
-- that the device always has work.
local function pipeline(self, run, n)
    local ends, turn = { self.start, self.stop }, 0
    return function()
        run:batch(n)
        ends[turn % 2 + 1]:record()
        turn = turn + 1
        if turn > 1 then ends[turn % 2 + 1]:wait() end
    end
end

-- Measures the joules of one run, above the idle device, into the record.
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

-- Raises errors that are not the fault of a candidate: of one that was built, also that something
-- is not to be had, such as energy. One that was not wants more than the device has.
local function check_blame(failure, was_built)
    if home.interrupted() then errors.interrupt() end
    if has_status(failure, 'MARE_ERROR_SCRIPT')
        or was_built and has_status(failure, 'MARE_ERROR_UNAVAILABLE') then
        error(failure, 0)
    end
end

-- Calls like pcall, and stores the milliseconds in a field of the record.
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

-- Verifies, times and releases a run. Returns the kind of failure for
-- results.fail and the error; nil if it succeeds.
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
    if kind == 'runtime' then together.survive(failure, record) end
    local freed, fault = pcall(run.release, run)        -- waits for what is queued
    if freed or has_status(failure, 'MARE_ERROR_LOST') then return kind, failure end
    return 'runtime', fault
end

local function kind_of(failure)
    return (has_status(failure, 'MARE_ERROR_ARGUMENT')
        or has_status(failure, 'MARE_ERROR_UNAVAILABLE')) and 'constraints'
        or has_status(failure, 'MARE_ERROR_MEMORY') and 'runtime' or 'compile'
end

-- Builds, verifies and times a candidate into the record. Returns its error, if
-- it fails.
local function try(self, params, record)
    local ok, run = clocked(record, 'compile_time', self.target.build, self.target, params)
    ok, run = together.agree(ok, run)
    if not ok and has_status(run, 'MARE_ERROR_LOST') then error(run, 0) end   -- it never ran
    local kind, failure
    if ok then kind, failure = examine(self, run, record) else kind, failure = kind_of(run), run end
    if not kind then
        record.invalidity = 'correct'
        return
    end
    check_blame(failure, ok)
    results.fail(record, self.objective, kind, reason_of(failure))
    return failure
end

local function add_metrics(self, record)
    if record.invalidity ~= 'correct' then return end
    for name, f in pairs(self.metrics or {}) do record[name] = f(record) end
end

-- Returns the record in the file, unless it lacks an energy that is wanted now.
-- Candidates so slow that they were timed once never have one.
local function known_record(self, key)
    local record = self.results.records[key]
    local lacks = self.meter and record and record.invalidity == 'correct' and not record.energy
    if not lacks or #record.times == 1 and self.iterations > 1 then return record end
end

-- Keeps the record of a candidate that has ended, unless it lacked memory,
-- which may be free when the tuning continues. A candidate that has lost the
-- device ends the tuning: drivers give a process no second context after that
-- (NVIDIA's on an H200, CUDA and OpenCL).
local function conclude(self, key, record, failure)
    if has_status(failure, 'MARE_ERROR_MEMORY') then return self.results:finish() end
    self.results:add(key, record)
    if not has_status(failure, 'MARE_ERROR_LOST') then return end
    local path = self.results.path
    errors.raise('MARE_ERROR_LOST', 'tune: the candidate %s lost the device%s: %s', key,
        path and (' (it is recorded in %s as failed, and the same call in a new process goes on '
            .. 'with the next)'):format(path) or '', failure.message)
end

-- If the first candidate gives the answer, a candidate that was correct before
-- gives it again.
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

-- Returns the record of a candidate, from the file or measured and kept.
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
        record = here.broadcast(record)
        conclude(self, key, record, failure)
    elseif not self.replay then
        add_metrics(self, record)
    end
    if type(record.time) == 'number' then self.fastest = math.min(self.fastest, record.time) end
    self.visited[index] = record
    self.records[#self.records + 1] = record
    if self.tell and here.rank == 0 then self.tell(record, #self.records) end
    return record
end

-- ---- the search ----

local function is_spent(self)
    if here.interrupted() then errors.interrupt() end
    return #self.records >= self.max_fevals
        or here.broadcast(system.now() - self.began >= self.time_limit)
end

-- Queues the unknown candidates of a list for compilation, as far as the budget
-- goes.
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

-- A strategy that asks so often without a new candidate is stopped.
local most_stale = 500

local function visit_all(self)
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

local of_energy = { energy = true, edp = true, pareto = true }

-- Returns whether a tuning measures energy. desc: as for run()
function runner.needs_energy(desc)
    return desc.energy or of_energy[desc.objective] or false
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
    if runner.needs_energy(self) then self.meter = open_meter(device) end
    self.ahead = self.target.job and not self.target.is_divided and ahead.new(device, self.workers)
end

-- Returns whether the best candidate should be kept, and the record of what is
-- used otherwise. That is measured in the same way, and must be worse.
local function weigh(self, best)
    if not (self.keep and best) then return false end
    if not self.target.usual then return true end
    local params, usual = self.target:usual(best), self.target:usual(best)
    local failure = try(self, params, usual)
    if has_status(failure, 'MARE_ERROR_LOST') or has_status(failure, 'MARE_ERROR_MEMORY') then
        error(failure, 0)       -- not the fault of the shape
    end
    add_metrics(self, usual)
    usual = here.broadcast(usual)
    return cost(self, best) < cost(self, usual), usual
end

-- Searches. desc: { target, space, results = of results.open, strategy, strategy_options,
--   objective, higher_is_better, iterations, early_stop, energy, energy_seconds, energy_warm,
--   metrics, workers, keep, replay = true if the results hold all candidates,
--   tell = function(record, count) }.
-- Returns the records in the order of the search, the best one (nil if all failed), whether it
-- should be kept, and the record that it was compared with, if there is one.
function runner.run(desc)
    local o = desc.strategy_options
    local self = { visited = {}, records = {}, queued = {}, fastest = math.huge,
        began = system.now(), max_fevals = o.max_fevals or math.huge,
        time_limit = o.time_limit or math.huge, energy_batch_ms = 10 }
    for key, value in pairs(desc) do self[key] = value end
    prepare(self)
    local ok, failure = pcall(visit_all, self)
    if self.ahead then self.ahead:stop() end
    if not self.replay then self.results:finish() end
    if not ok then error(failure, 0) end
    local best = best_of(self)
    return self.records, best, weigh(self, best)
end

return runner
