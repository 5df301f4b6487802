-- How far a run is and how fast: one line rewritten in place on a terminal, a plain line now and
-- then elsewhere, and a summary at the end. It knows nothing of devices: run.lua tells it what
-- was computed and how long that took. Rates count only computing, the time left counts
-- everything.
--
-- T_eff = (2 x updated fields + read-only fields) x bytes x cells / time of one step: the memory
-- traffic that the step cannot do without, as if each value was read and written exactly once.

local progress = {}

local Progress = {}
Progress.__index = Progress

local interval = { terminal = 0.2, log = 10 }       -- seconds between lines

-- { cells =, bytes = of one cell and step in T_eff, copy_rate = bytes/s of the device's own copy,
-- or nil,
--   t_end = or math.huge, steps = limit or math.huge, terminal = boolean, quiet = boolean,
--   now = function() -> seconds, write = function(text) }
function progress.new(desc)
    local self = setmetatable({}, Progress)
    for key, value in pairs(desc) do self[key] = value end
    self.started = self.now()
    self.printed = self.started
    self.steps_done, self.seconds = 0, 0
    self.recent_steps, self.recent_seconds = 0, 0
    return self
end

local function duration(seconds)
    local s = math.floor(seconds + 0.5)
    if s >= 3600 then
        return string.format('%d:%02d:%02d', math.floor(s / 3600), math.floor(s / 60) % 60, s % 60)
    end
    return string.format('%d:%02d', math.floor(s / 60), s % 60)
end

local function cell_rate(rate)
    if rate >= 1e10 then return string.format('%.1f Gcells/s', rate / 1e9) end
    return string.format(rate >= 1e8 and '%.0f Mcells/s' or '%.1f Mcells/s', rate / 1e6)
end

local function fraction(self, clock)
    local by_time = self.t_end < math.huge and clock.t / self.t_end or 0
    local by_steps = self.steps < math.huge and clock.steps / self.steps or 0
    return math.min(1, math.max(by_time, by_steps))
end

-- `clock`: { t =, dt =, steps = } as read from the device
function Progress:line(clock)
    local done = fraction(self, clock)
    local rate = self.recent_steps * self.cells / math.max(self.recent_seconds, 1e-9)
    local parts = {
        string.format('%3.0f %%', 100 * done), string.format('t = %.4g', clock.t),
        string.format('step %.0f', clock.steps), string.format('dt = %.2e', clock.dt),
        cell_rate(rate),
    }
    if self.copy_rate then
        local share = rate * self.bytes / self.copy_rate
        parts[#parts + 1] = string.format('T_eff %.0f %% of copy', 100 * share)
    end
    if done > 0 then
        parts[#parts + 1] = 'ETA ' .. duration((self.now() - self.started) * (1 - done) / done)
    end
    return table.concat(parts, '  ')
end

-- A batch of steps took so many seconds of computing, and the clock is now there.
function Progress:computed(clock, steps, seconds)
    self.steps_done, self.seconds = self.steps_done + steps, self.seconds + seconds
    self.recent_steps = self.recent_steps + steps
    self.recent_seconds = self.recent_seconds + seconds
    local now = self.now()
    local pause = interval[self.terminal and 'terminal' or 'log']
    if self.quiet or now - self.printed < pause then return end
    local line = self:line(clock)
    self.write(self.terminal and '\r' .. line .. '\27[K' or line .. '\n')
    self.printed, self.recent_steps, self.recent_seconds = now, 0, 0
end

-- Clears the line that is being rewritten, so that other text may follow.
function Progress:clear()
    if self.terminal and not self.quiet then self.write('\r\27[K') end
end

-- { steps, seconds, cells_per_second, t_eff (bytes/s), copy_rate, share } of the whole run
function Progress:result()
    local rate = self.steps_done * self.cells / math.max(self.seconds, 1e-9)
    return {
        steps = self.steps_done, seconds = self.seconds, cells_per_second = rate,
        t_eff = rate * self.bytes, copy_rate = self.copy_rate,
        share = self.copy_rate and rate * self.bytes / self.copy_rate,
    }
end

function Progress:finish(clock)
    local r = self:result()
    if self.quiet then return r end
    self:clear()
    local text = string.format('t = %.6g after %.0f steps in %.1f s: %s, T_eff %.1f GB/s',
        clock.t, clock.steps, self.seconds, cell_rate(r.cells_per_second), r.t_eff / 1e9)
    if r.share then
        text = text .. string.format(' = %.0f %% of the device\'s copy bandwidth (%.1f GB/s)',
            100 * r.share, r.copy_rate / 1e9)
    end
    self.write(text .. '\n')
    return r
end

return progress
