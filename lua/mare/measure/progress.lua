-- Reports how far and how fast a run is: on a terminal one line that is
-- rewritten in place, elsewhere a line now and then, the same in the journal,
-- and a summary at the end. This module knows nothing of devices: the time loop
-- tells it how many steps were computed and how long they took. Rates count
-- computing time only; the remaining time counts everything since this process
-- began to compute.
--
-- T_eff = (2 x updated fields + read-only fields) x bytes x cells / time of one
-- step. This is the memory traffic that the step cannot avoid, as if each value
-- were read and written exactly once.

local energy = require 'mare.measure.energy'

local progress = {}

local Progress = {}
Progress.__index = Progress

local interval = { terminal = 0.2, log = 10 }       -- seconds between lines

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

-- Adds a listener that is called every `pause` seconds with the rate since its
-- previous call.
local function listen(self, pause, tell)
    self.listeners[#self.listeners + 1] = { pause = pause, tell = tell, told = self.started,
        steps = 0, seconds = 0 }
end

-- desc: { cells =, bytes = of one cell and step in T_eff,
--   copy_rate = bytes/s of the device's own copy, or nil, t_end = or math.huge,
--   steps = the most steps, or math.huge, terminal = boolean, quiet = boolean,
--   from = the clock at the restart, or nil for a new run, journal = or nil,
--   now = function() -> seconds, write = function(text) }
function progress.new(desc)
    local self = setmetatable({ listeners = {} }, Progress)
    for key, value in pairs(desc) do self[key] = value end
    self.started = self.now()
    self.steps_done, self.seconds = 0, 0
    self.done_before = self.from and fraction(self, self.from) or 0
    local terminal = self.terminal
    if not self.quiet then
        listen(self, interval[terminal and 'terminal' or 'log'], function(status)
            self.write(terminal and '\r' .. line(status) .. '\27[K' or line(status) .. '\n')
        end)
    end
    if self.journal then
        listen(self, interval.log, function(status) self.journal:write('progress', status) end)
    end
    return self
end

-- clock: { t =, dt =, steps = } as read from the device.
local function status_for(self, listener, clock)
    local done = fraction(self, clock)
    local steps, seconds = self.steps_done - listener.steps, self.seconds - listener.seconds
    local rate, here = steps * self.cells / math.max(seconds, 1e-9), done - self.done_before
    return {
        percent = 100 * done, t = clock.t, step = clock.steps, dt = clock.dt,
        cells_per_second = rate, t_eff_share = self.copy_rate and rate * self.bytes
            / self.copy_rate,
        eta = here > 0 and (self.now() - self.started) * (1 - done) / here or nil,
    }
end

-- Reports that `steps` steps took `seconds` of computing, and the clock now.
function Progress:computed(clock, steps, seconds)
    self.steps_done, self.seconds = self.steps_done + steps, self.seconds + seconds
    local now = self.now()
    for _, listener in ipairs(self.listeners) do
        if now - listener.told >= listener.pause then
            listener.tell(status_for(self, listener, clock))
            listener.told, listener.steps, listener.seconds = now, self.steps_done, self.seconds
        end
    end
end

-- Clears the line that is rewritten in place, so that other text can follow.
function Progress:clear()
    if self.terminal and not self.quiet then self.write('\r\27[K') end
end

-- Returns { steps, seconds, cells_per_second, t_eff (bytes/s), copy_rate, share
-- } of the whole run. With a watch of energy.watch it adds energy (J above
-- rest), energy_low, energy_high and cells_per_joule; or no_energy, the reason
-- why they are missing.
function Progress:result(watch)
    local cells = self.steps_done * self.cells
    local rate, found, reason = cells / math.max(self.seconds, 1e-9), nil, nil
    if watch then found, reason = watch:finish() end
    found = found or {}
    return {
        steps = self.steps_done, seconds = self.seconds, cells_per_second = rate,
        t_eff = rate * self.bytes, copy_rate = self.copy_rate,
        share = self.copy_rate and rate * self.bytes / self.copy_rate,
        energy = found.joules, energy_low = found.low, energy_high = found.high,
        cells_per_joule = found.joules and cells / found.joules, no_energy = reason,
    }
end

local function energy_line(r)
    local found = r.energy and { joules = r.energy, low = r.energy_low, high = r.energy_high }
    local text = energy.text(found, r.no_energy)
    return text .. (found and string.format(', %.1f Mcells/J\n', r.cells_per_joule / 1e6) or '\n')
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

-- Ends the run: writes the summary and returns the table of result().
function Progress:finish(clock, watch)
    local r = self:result(watch)
    if self.quiet then return r end
    self:clear()
    self.write(summary(self, r, clock) .. '\n' .. (watch and energy_line(r) or ''))
    return r
end

return progress
