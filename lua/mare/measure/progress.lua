-- Tells how far and how fast a run is: events of progress, as often as each
-- listener wants, and a summary at the end. This module knows nothing of devices: the time loop
-- tells it how many steps were computed and how long they took. Rates count
-- computing time only; the remaining time counts everything since this process
-- began to compute.
--
-- T_eff = (2 x updated fields + read-only fields) x bytes x cells / time of one
-- step. This is the memory traffic that the step cannot avoid, as if each value
-- were read and written exactly once.

local energy = require 'mare.measure.energy'
local events = require 'mare.base.events'
local system = require 'bindings.system'
local tables = require 'bindings.tables'

local progress = {}

local Progress = {}
Progress.__index = Progress

local function fraction(self, clock)
    local by_time = self.t_end < math.huge and clock.t / self.t_end or 0
    local by_steps = self.steps < math.huge and clock.steps / self.steps or 0
    return math.min(1, math.max(by_time, by_steps))
end

local function duration(seconds)
    local s = math.floor(seconds + 0.5)
    if s >= 3600 then
        return string.format('%d:%02d:%02d', math.floor(s / 3600), math.floor(s / 60) % 60, s % 60)
    end
    return string.format('%d:%02d', math.floor(s / 60), s % 60)
end

-- Formats cells per second.
function progress.cell_rate(rate)
    if rate >= 1e10 then return string.format('%.1f Gcells/s', rate / 1e9) end
    return string.format(rate >= 1e8 and '%.0f Mcells/s' or '%.1f Mcells/s', rate / 1e6)
end

local function line(status)
    local pieces = {
        string.format('%3.0f %%', status.percent), string.format('t = %.4g', status.t),
        string.format('step %.0f', status.step), string.format('dt = %.2e', status.dt),
        progress.cell_rate(status.cells_per_second),
    }
    if status.t_eff_share then
        pieces[#pieces + 1] = string.format('T_eff %.0f %% of copy', 100 * status.t_eff_share)
    end
    if status.eta then pieces[#pieces + 1] = 'ETA ' .. duration(status.eta) end
    return table.concat(pieces, '  ')
end

-- clock: { t =, dt =, steps = } as read from the device. memo: what a listener
-- was told before.
local function status_for(self, memo, clock)
    local done = fraction(self, clock)
    local steps = self.steps_done - (memo.steps or 0)
    local seconds = self.seconds - (memo.seconds or 0)
    local rate, here = steps * self.cells / math.max(seconds, 1e-9), done - self.done_before
    memo.steps, memo.seconds = self.steps_done, self.seconds
    local status = {
        percent = 100 * done, t = clock.t, step = clock.steps, dt = clock.dt,
        cells_per_second = rate, t_eff_share = self.copy_rate and rate * self.bytes
            / self.copy_rate,
        eta = here > 0 and (self.now() - self.started) * (1 - done) / here or nil,
    }
    status.message = line(status)
    return status
end

-- desc: { cells =, bytes = of one cell and step in T_eff,
--   copy_rate = bytes/s of the device's own copy, or nil, t_end = or math.huge,
--   steps = the most steps, or math.huge, quiet = boolean,
--   from = the clock at the restart, or nil for a new run,
--   events = of events.source, or nil, now = function() -> seconds, or nil }
function progress.new(desc)
    local self = setmetatable(tables.merged(desc), Progress)
    self.t_end, self.steps = self.t_end or math.huge, self.steps or math.huge
    self.events = self.events or events.source { quiet = self.quiet }
    self.now = self.now or system.now
    self.started = self.now()
    self.memos = { begin = self.started }
    self.steps_done, self.seconds = 0, 0
    self.done_before = self.from and fraction(self, self.from) or 0
    function self.make(memo) return status_for(self, memo, self.clock) end
    return self
end

-- Reports that `steps` steps took `seconds` of computing, and the clock now.
function Progress:computed(clock, steps, seconds)
    self.steps_done, self.seconds = self.steps_done + steps, self.seconds + seconds
    self.clock = clock
    self.events:progress(self.memos, self.now(), self.make)
end

-- Returns { steps, seconds, cells_per_second, t_eff (bytes/s), copy_rate, share
-- } of the whole run. With a recorder (energy.recorder) it adds energy (J above
-- rest), energy_low, energy_high and cells_per_joule; or no_energy, the reason
-- why they are missing.
function Progress:result(recorder)
    local cells = self.steps_done * self.cells
    local rate, found, reason = cells / math.max(self.seconds, 1e-9), nil, nil
    if recorder then found, reason = recorder:finish() end
    found = found or {}
    return {
        steps = self.steps_done, seconds = self.seconds, cells_per_second = rate,
        t_eff = rate * self.bytes, copy_rate = self.copy_rate,
        share = self.copy_rate and rate * self.bytes / self.copy_rate,
        energy = found.joules, energy_low = found.low, energy_high = found.high,
        energy_sources = found.sources,
        cells_per_joule = found.joules and cells / found.joules, no_energy = reason,
    }
end

local function energy_line(r)
    local found = r.energy and { joules = r.energy, low = r.energy_low, high = r.energy_high,
        sources = r.energy_sources }
    local text = energy.text(found, r.no_energy)
    return text .. (found and string.format(', %.1f Mcells/J', r.cells_per_joule / 1e6) or '')
end

-- Returns the summary of a finished run. The steps before a restart are counted
-- separately.
local function summary(self, r, clock)
    local before = self.from and self.from.steps or 0
    local text = string.format('t = %.6g after %.0f steps', clock.t, clock.steps)
    if before > 0 then text = text .. string.format(', of which %.0f now', r.steps) end
    if r.steps == 0 then return text end
    text = text .. string.format(' in %.1f s: %s, T_eff %.1f GB/s', r.seconds,
        progress.cell_rate(r.cells_per_second), r.t_eff / 1e9)
    if not r.share then return text end
    return text .. string.format(' = %.0f %% of the device\'s copy bandwidth (%.1f GB/s)',
        100 * r.share, r.copy_rate / 1e9)
end

-- Ends the run: tells the summary and returns the table of result().
function Progress:finish(clock, recorder)
    local r = self:result(recorder)
    local message = summary(self, r, clock) .. (recorder and '\n' .. energy_line(r) or '')
    self.events:tell('rates', tables.merged({ message = message }, r))
    return r
end

return progress
