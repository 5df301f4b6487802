-- Measures the energy that work on a device takes, above what the device takes
-- at rest.
--
--     local meter, reason = mare.energy.open(device)
--     local result, reason = meter:measure { run = function() ... end, units = n }
--
-- An energy counter moves in steps (of 100 ms on an H200), so it is read only
-- where it moves. Between two such moments its difference is exact, and the
-- time is known to within the length of one call of run(). The interval from
-- `low` to `high` covers this uncertainty, but not the calibration of the
-- sensor. NVIDIA GPUs are read through NVML (its energy counter, or else its
-- power), CPUs through RAPL.

local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local folders = require 'bindings.folders'
local nvml = require 'bindings.nvml'
local power_log = require 'mare.measure.power_log'
local system = require 'bindings.system'

local energy = {}

local Meter = {}
Meter.__index = Meter

local least_steps = 5           -- of the counter; shorter measurements are refused
local patience = 5              -- seconds without a step after which the counter counts as stuck
local busy = 0.05               -- load of a resting GPU above which another process uses it
local settled = 0.03            -- the warm-up ends when power changes by less from step to step
local pause = 0.001             -- seconds between reads of a counter at rest
local hwmon_drivers = { amdgpu = true, i915 = true, xe = true, nouveau = true }

-- ---- counters ----

-- Returns a counter that integrates samples of the power. It moves with every
-- read.
local function counter_of_power(power, now)
    local joules, last, at = 0, power(), now()
    return function()
        local watts, t = power(), now()
        joules, last, at = joules + 0.5 * (watts + last) * (t - at), watts, t
        return joules
    end
end

local function nvml_source(device)
    local gpu = nvml.open(device.info.uuid)
    local source = { name = 'NVML energy counter', id = device.info.uuid:lower() }
    function source.others()
        if (gpu:processes() or 0) > 1 then return 'other processes compute on it' end
    end
    function source.load() return gpu:load() end
    function source.temperature() return gpu:temperature() end
    if gpu:energy() then
        function source.counter() return gpu:energy() end
    elseif gpu:power() then
        source.name = 'NVML power samples'
        source.counter = counter_of_power(function() return gpu:power() end, system.now)
    else
        error('NVML tells neither energy nor power of it', 0)
    end
    return source
end

local function read_number(path)
    local file = io.open(path)
    local number = file and file:read '*n'
    if file then file:close() end
    return number
end

-- Returns whether a RAPL domain is a package. The domain psys is not: it counts
-- the whole machine.
local function is_package(path)
    local file = io.open(path .. '/name')
    local name = file and file:read '*l'
    if file then file:close() end
    return not name or name:find '^package' ~= nil
end

-- Returns the packages of RAPL, without the domains within them.
local function packages(folder)
    local list = {}
    local names = folders.list(folder)
    if not names then error(folder .. ' is not there: no RAPL', 0) end
    for _, name in ipairs(names) do
        local path = folder .. '/' .. name
        if name:find '^intel%-rapl:%d+$' and is_package(path) then
            list[#list + 1] = { path = path .. '/energy_uj', joules = 0,
                range = read_number(path .. '/max_energy_range_uj') }
        end
    end
    if #list == 0 then error(folder .. ' has no RAPL packages', 0) end
    return list
end

-- Returns a source that sums the packages of all CPUs and follows counters that
-- wrap around to 0.
function energy.rapl(folder)
    folder = folder or '/sys/class/powercap'
    local list = packages(errors.wanted('energy: rapl', 'string', folder))
    local function counter()
        local joules = 0
        for _, package in ipairs(list) do
            local value = read_number(package.path)
            if not value then error(package.path .. ' cannot be read (by root alone?)', 0) end
            local moved = value - (package.last or value)
            if moved < 0 then moved = moved + (package.range or 2 ^ 32) end
            package.joules, package.last = package.joules + moved / 1e6, value
            joules = joules + package.joules
        end
        return joules
    end
    counter()
    return { name = 'RAPL', id = 'RAPL', counter = counter }
end

-- Returns a source of the one GPU that the kernel's hwmon knows, of another vendor than NVIDIA: its
-- energy in microjoules, or else its power in microwatts.
function energy.hwmon(folder)
    folder = folder or '/sys/class/hwmon'
    local found = {}
    for _, name in ipairs(folders.list(errors.wanted('energy: hwmon', 'string', folder)) or {}) do
        local path = folder .. '/' .. name
        local file = io.open(path .. '/name')
        local driver = file and file:read '*l'
        if file then file:close() end
        if hwmon_drivers[driver] then found[#found + 1] = { path = path, driver = driver } end
    end
    if #found ~= 1 then
        error(('%s has %d GPUs of amdgpu, i915, xe and nouveau: one is wanted'):format(folder,
            #found), 0)
    end
    local path = found[1].path
    local source = { name = 'hwmon of ' .. found[1].driver, id = path }
    local function power()
        return (read_number(path .. '/power1_average') or read_number(path .. '/power1_input')
            or error(path .. ' tells neither energy nor power', 0)) / 1e6
    end
    if read_number(path .. '/energy1_input') then
        function source.counter() return read_number(path .. '/energy1_input') / 1e6 end
    else
        source.counter = counter_of_power(power, system.now)
    end
    if read_number(path .. '/temp1_input') then
        function source.temperature() return read_number(path .. '/temp1_input') / 1000 end
    end
    return source
end

-- Returns a meter of a source: { name =, counter = function() -> J, and if known
--   id = of the counter, which several devices may share,
--   others = function() -> the reason why nothing can be measured, or nil,
--   load = function() -> 0 to 1, temperature = function() -> deg C,
--   now = function() -> s, sleep = function(s) }
function energy.new(source)
    if type(errors.wanted('energy', 'table', source).counter) ~= 'function' then
        errors.argument 'energy: counter is missing: a function that returns joules'
    end
    return setmetatable({ source = source, now = source.now or system.now,
        sleep = source.sleep or system.sleep }, Meter)
end

-- Returns the meter of an open device, or nil and the reason.
function energy.open(device)
    local info = type(device) == 'table' and device.info
    if type(info) ~= 'table' or type(info.kind) ~= 'string' then
        errors.argument('energy: open: an open device is wanted, not %s', type(device))
    end
    local ok, source = false, 'no energy counter is known for ' .. tostring(info.model)
    if info.kind == 'cpu' then
        ok, source = pcall(energy.rapl)
    elseif tostring(info.vendor):find 'NVIDIA' and info.uuid ~= '' then
        ok, source = pcall(nvml_source, device)
    elseif info.kind == 'gpu' then
        ok, source = pcall(energy.hwmon)
    end
    if ok then return energy.new(source) end
    return nil, tostring(source)
end

-- Returns the name of the counter for a device, or nil and the reason. info: of
-- the device.
function energy.source_of(info)
    errors.wanted('energy: source_of', 'table', info)
    local meter, reason = energy.open { info = info }
    return meter and meter.source.name, reason
end

-- ---- reading a counter ----

-- Calls work() until the counter moves. Returns the counter's joules, the time,
-- and the uncertainty of that time, which is the time since the previous read.
-- Returns nil if the counter does not move.
local function next_step(self, work)
    local before, began = self.source.counter(), self.now()
    local looked = began
    while true do
        work()
        local t = self.now()
        local joules = self.source.counter()
        if joules > before then return joules, t, self.now() - looked end
        if t - began > patience then return nil end
        looked = t
    end
end

local function stands_still(self)
    return nil, string.format('the counter (%s) has not moved in %g s', self.source.name, patience)
end

-- Returns how busy the device is, once it rests or some seconds have passed;
-- the driver reports the load with a delay.
local function load_of(self)
    local began, load = self.now(), self.source.load
    while load and load() > busy and self.now() - began < patience do self.sleep(10 * pause) end
    return load and load() or 0
end

-- Measures and keeps the power of the device at rest, in W, over at least
-- `seconds` and least_steps steps of the counter. Returns nil and the reason if
-- the counter does not move or another process uses the device.
function Meter:rest(seconds)
    local function wait() self.sleep(pause) end
    load_of(self)
    local source, first, start, late = self.source, next_step(self, wait)
    if not first then return stands_still(self) end
    local joules, t, steps, ending = first, start, 0, nil
    while steps < least_steps or t - start < (seconds or 0.5) do
        joules, t, ending = next_step(self, wait)
        if not joules then return stands_still(self) end
        steps = steps + 1
    end
    local others = source.others and source.others()
    local load = load_of(self)
    if not others and load > busy then
        others = string.format('it is shared: %.0f %% busy while this process rests', 100 * load)
    end
    if others then return nil, others end
    self.idle, self.period = (joules - first) / (t - start), (t - start) / steps
    self.idle_error = self.idle * (late + ending) / (t - start)
    self.joules, self.began, self.late = joules, t, ending
    return self.idle
end

-- Calls run() for at least `least` seconds, until the power has been steady
-- over two steps of the counter (one step if the device was warmed up before).
local function warm_up(self, run, least)
    local joules, t = next_step(self, run)
    if not joules then return false end
    local began, last, steady, wanted = t, math.huge, 0, self.is_warm and 1 or 2
    self.is_warm = true
    while t - began < 10 do
        local next_joules, next_t = next_step(self, run)
        if not next_joules then return false end
        local watts = (next_joules - joules) / (next_t - t)
        steady = math.abs(watts - last) < settled * last and steady + 1 or 0
        if steady >= wanted and next_t - began >= least then return true end
        joules, t, last = next_joules, next_t, watts
    end
    return true
end

local measure_fields = { run = 'function', units = 'number', seconds = 'number', warm = 'number',
    steps = 'number' }

-- Measures what one unit of work takes. desc: { run = function that does
-- `units` of them within some 10 ms, units = 1, seconds = 1 and steps = 5 of
-- the counter to measure at least, warm = 0.3 seconds of warm-up at least }. It
-- is best if run() queues its work and waits for the work of the previous call:
-- then the device stays busy while the counter is read. Returns { joules, low,
-- high (J of one unit above rest), power (W, in total), idle (W), seconds
-- (measured), unit_seconds, steps, temperature (deg C, at the end), warmed (its
-- rise) }, or nil and the reason.
function Meter:measure(desc)
    errors.fields('energy: measure', desc, measure_fields)
    if not self.idle then
        local ok, reason = self:rest()
        if not ok then return nil, reason end
    end
    local source, calls = self.source, 0
    local function run()
        desc.run()
        calls = calls + 1
    end
    if not warm_up(self, run, desc.warm or 0.3) then return stands_still(self) end
    local warmth = source.temperature and source.temperature()
    local first, start, late = next_step(self, run)
    if not first then return stands_still(self) end
    calls = 0
    local joules, t, ending, steps = first, start, 0, 0
    while steps < (desc.steps or least_steps) or t - start < (desc.seconds or 1) do
        joules, t, ending = next_step(self, run)
        if not joules then return stands_still(self) end
        steps = steps + 1
    end
    local others = source.others and source.others()
    if others then return nil, others end
    return self:result(joules - first, t - start, calls * (desc.units or 1), late + ending, steps,
        warmth)
end

-- Returns what the work since the last call of rest() took in total, in the
-- form of measure() with one unit, or nil and the reason. Waits, with the
-- device at rest, for the next step of the counter.
function Meter:since_rest()
    local joules, t, late = next_step(self, function() self.sleep(pause) end)
    if not joules then return stands_still(self) end
    local seconds, others = t - self.began, self.source.others and self.source.others()
    local steps = math.floor(seconds / self.period + 0.5)
    if steps < least_steps then
        return nil, string.format('too short: %.2f s, wanted are %d steps of the counter (%s), %.2f'
            .. ' s', seconds, least_steps, self.source.name, least_steps * self.period)
    end
    if others then return nil, others end
    return self:result(joules - self.joules, seconds, 1, self.late + late, steps)
end

-- Returns the result for `joules` in `seconds`, of which `unsure` are
-- uncertain.
function Meter:result(joules, seconds, units, unsure, steps, warmth)
    local net, slack = joules - self.idle * seconds, unsure / seconds
    local doubt = joules * slack + self.idle_error * seconds
    local now = self.source.temperature and self.source.temperature()
    return {
        joules = net / units, low = (net - doubt) / units, high = (net + doubt) / units,
        power = joules / seconds, idle = self.idle, seconds = seconds, steps = steps,
        unit_seconds = seconds / units, temperature = now,
        warmed = now and warmth and now - warmth,
    }
end

-- Returns what a file of seconds and watts tells, as power_log.lua reads it: a log of
-- --power-log, or of a wall meter.
function energy.read_log(path, options) return power_log.read(path, options) end

-- ---- a run ----

local Recorder = {}
Recorder.__index = Recorder

-- Returns a recorder of the energy of several devices, and of those of all ranks. A
-- counter that they share (one GPU under two back ends or ranks, all CPUs of a machine)
-- is counted once. Raises an error if a device has no counter. Where there are several
-- ranks all call it, begin() and finish(). log: a path for what power_log.lua writes, of
-- the whole node: the processors count, too, where RAPL can be read.
function energy.recorder(devices, log)
    local self, opened, ids, seen = setmetatable({ meters = {}, log_path = log }, Recorder), {}, {},
        {}
    for k, device in ipairs(errors.wanted('energy: recorder', 'table', devices)) do
        local meter, reason = energy.open(device)
        if not meter then
            errors.usage('option --%s: %s: %s', log and 'power-log' or 'energy', device.name,
                reason)
        end
        meter.label = device.info and device.info.model
        opened[k] = meter
        ids[k] = here.machine .. ' ' .. (meter.source.id or here.name .. ' ' .. k)
    end
    local ok, rapl = pcall(log and energy.rapl or error)
    if ok then
        opened[#opened + 1] = energy.new(rapl)
        opened[#opened].label = 'processors (RAPL)'
        ids[#ids + 1] = here.machine .. ' ' .. rapl.id
    end
    for rank, others in ipairs(here.all(ids)) do
        for _, id in ipairs(rank <= here.rank and others or {}) do seen[id] = true end
    end
    for k, id in ipairs(ids) do
        if not seen[id] then self.meters[#self.meters + 1], seen[id] = opened[k], true end
    end
    return self
end

-- Measures the devices at rest; the work to be measured starts after this call, which
-- returns on no rank before all devices have been measured.
function Recorder:begin()
    for _, meter in ipairs(self.meters) do
        local idle, reason = meter:rest()
        if not idle then self.reason = reason end
    end
    here.all(true)
    if self.log_path and not self.reason and self.meters[1] then
        local path = here.rank == 0 and self.log_path or self.log_path .. '.' .. here.rank
        self.log = power_log.new(path, self.meters)
    end
end

-- Call this now and then meanwhile: counters made of power samples need it.
function Recorder:look()
    if self.log then return self.log:look() end
    for _, meter in ipairs(self.meters) do meter.source.counter() end
end

-- What the meters of this rank have found, or { reason = why one has not }.
local function own_findings(self)
    local list = { reason = self.reason }
    for k, meter in ipairs(self.meters) do
        if list.reason then break end
        list[k], list.reason = meter:since_rest()
        if list[k] then list[k].label = meter.label end
    end
    return list
end

-- Returns { joules, low, high, idle (W), seconds, sources = { { name, joules }, ... } } of
-- all devices since begin(), above rest; or nil and the reason.
function Recorder:finish()
    local sum = { joules = 0, low = 0, high = 0, idle = 0, seconds = 0, sources = {} }
    if self.log then self.log:close() end
    for _, list in ipairs(here.all(own_findings(self))) do
        if list.reason then return nil, list.reason end
        for _, found in ipairs(list) do
            for _, name in ipairs { 'joules', 'low', 'high', 'idle' } do
                sum[name] = sum[name] + found[name]
            end
            sum.sources[#sum.sources + 1] = { name = found.label, joules = found.joules }
            sum.seconds = math.max(sum.seconds, found.seconds)
        end
    end
    return sum
end

-- Puts the results of finish() into words.
function energy.text(found, reason)
    if not found then return 'energy: not measured: ' .. tostring(reason) end
    for _, name in ipairs { 'joules', 'low', 'high' } do
        errors.wanted('energy: text: ' .. name, 'number', errors.wanted('energy: text', 'table',
            found)[name])
    end
    local text = string.format('energy: %.4g J above rest (%.4g to %.4g)', found.joules, found.low,
        found.high)
    if not found.sources or #found.sources < 2 then return text end
    local words = {}
    for k, one in ipairs(found.sources) do
        words[k] = ('%s %.4g J'):format(one.name, one.joules)
    end
    return text .. ': ' .. table.concat(words, ', ')
end

return energy
