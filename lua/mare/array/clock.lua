-- Keeps model time on the device. There dt follows from the state, so that the host
-- need not wait for each step. Each device has a clock. All clocks of a simulation
-- see the same maxima, so they always agree. The host sets a target and reads.
-- base/constants.lua describes the slots.

local bind = require 'mare.array.bind'
local constants = require 'mare.base.constants'
local rates = require 'mare.links.rates'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'

local clock = {}

local Clock = {}
Clock.__index = Clock

local slots = constants.CLOCK_SLOTS     -- the buffer has a second clock for steps that tick it
local time, step, target = constants.CLOCK_TIME, constants.CLOCK_STEP, constants.CLOCK_TARGET
local cfl, count, rate = constants.CLOCK_CFL, constants.CLOCK_COUNT, constants.CLOCK_RATE
local failed, hold = constants.CLOCK_FAILED, constants.CLOCK_HOLD
local last, fixed = constants.CLOCK_LAST, constants.CLOCK_FIXED

-- What device:program takes. is_joint: whether devices tick together, at a barrier
local function program(device, precision, gradual, is_joint)
    return source.program(is_joint and 'array/barrier.krn' or 'array/clock.krn', {
        defines = { GROUP = rates.group_of(device), MARE_REAL = precision,
            GRADUAL = gradual and 1 or 0 },
    })
end

-- Begins to compile what a clock wants.
function clock.prepare(device, precision, gradual, is_joint)
    device:prepare(program(device, precision, gradual, is_joint))
end

-- Makes a clock. maxima: a buffer of `n` signal rates, one for each work-group of
-- the last sweep of every part; gradual: see clock.krn; site: that of the device, if
-- it ticks at a barrier with others, of links/barrier.lua; word: a buffer of one rate where the
-- largest is found, and `tick` is told that of all devices as an argument
function clock.new(device, precision, maxima, n, gradual, site, word)
    local self = setmetatable({
        buffer = device:buffer { type = 'double', count = 2 * slots, label = 'clock' },
        host = device:host { type = 'double', count = slots },
    }, Clock)
    self.buffer:fill(0)
    self.group = rates.group_of(device)
    self.program = device:program(program(device, precision, gradual, site ~= nil))
    self.site, self.word, self.maxima, self.count = site, word, maxima, n
    self.tick = self:bind(site and 'clock_meet' or word and 'clock_told' or 'clock_tick', maxima, n)
    self.rate = word and self:bind('clock_rate', maxima, n) or nil
    return self
end

function Clock:bind(kernel, maxima, n)
    local values = { clock = self.buffer, maxima = maxima, count = n, found = self.word, rate = 0 }
    local ticks = kernel == 'clock_tick' or kernel == 'clock_meet'
    return bind(self.program:kernel(kernel), tables.merged(values, self.site),
        { global = self.group, group = self.group,
            programmatic = ticks and self.buffer.device.info.has_programmatic })
end

-- Returns the launch of a barrier at which no clock ticks.
function Clock:barrier()
    return self:bind 'device_barrier'
end

-- Returns the launch that ends a sequence of steps that tick themselves, which have
-- n maxima each.
function Clock:settle(maxima, n)
    return self:bind('clock_settle', maxima, n)
end

-- Replaces the maxima by these n.
function Clock:watch(maxima, n)
    self.maxima, self.count = maxima, n
    for _, launch in ipairs { self.rate or self.tick } do
        launch:set('maxima', maxima)
        launch:set('count', n)
    end
end

local function write(self, slot, ...)
    for k = 1, select('#', ...) do self.host.data[k - 1] = (select(k, ...)) end
    self.buffer:upload(self.host, { offset = slot, count = select('#', ...) })
end

-- Sets where a run starts. at: { t, steps = how many were taken, cfl, rate = the
-- largest signal rate if the maxima do not tell it, last = dt of the last step, dt
-- if it is not to follow from the rate }
function Clock:start(at)
    local data = self.host.data
    data[time], data[step], data[target] = at.t, 0, at.t
    data[cfl], data[count], data[rate] = at.cfl, at.steps, at.rate or 0
    data[failed], data[hold], data[last], data[fixed] = 0, 0, at.last or 0, at.dt or 0
    self.buffer:upload(self.host, { count = slots })
end

-- Sets the target. Steps end exactly there or, with `held`, before the first step
-- whose dt the target would change. The next tick chooses it.
function Clock:aim(goal, held)
    write(self, step, 0, goal)
    write(self, hold, held and 1 or 0)
end

-- Waits for the device, and sets in `into`: t, dt (of the next step, 0 at the
-- target), steps, rate, last (dt of the last step of a gradual clock), failed, and
-- silent, the number from 0 of a device that did not come to a barrier, or nil.
function Clock:read(into)
    self.buffer:download { into = self.host, count = slots }
    local data = self.host.data
    into.t, into.dt, into.steps, into.rate = data[time], data[step], data[count], data[rate]
    into.failed, into.cfl, into.last = data[failed] == 1, data[cfl], data[last]
    into.silent = data[failed] > 1 and data[failed] - 2 or nil
    return into
end

function Clock:release()
    self.tick:release()
    if self.rate then self.rate:release() end
    self.buffer:release()
    self.host:release()
end

return clock
