-- Keeps a clock on each device of some fields (clock.lua). All of them see the same
-- maxima, so they agree to the bit. Those of several ranks see the largest of all:
-- its bits travel, as an integer (bindings/mpi.lua), before each tick, or by a barrier
-- of the devices (links/barrier.lua), which then is the tick.

local clock = require 'mare.array.clock'
local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local rates = require 'mare.links.rates'
local reach = require 'mare.links.reach'
local together = require 'mare.links.together'

local clocks = {}

local Clocks = {}
Clocks.__index = Clocks

-- Whether devices of one process may copy the maxima of each other.
local function replicas_suffice(fields)
    if here.size > 1 then return false end
    for _, device in ipairs(fields.devices) do
        for _, other in ipairs(fields.devices) do
            if device ~= other and not reach(device, other) then return false end
        end
    end
    return true
end

local function meets(fields)
    return fields.barrier ~= nil and fields.barrier.way == 'words'
end

-- Whether each device finds the maxima of all: they are copied. Elsewhere it has those of its own
-- parts.
function clocks.copy_maxima(fields)
    return #fields.devices > 1 and not meets(fields) and replicas_suffice(fields)
end

-- Makes core know the memory of launches that wait for other devices, before any runs: its first
-- use there waits for former uses, by an event behind whatever the device that has it has queued
-- then. If that is a launch that waits for this one, both wait for ever.
local function make_ready(self)
    for k, device in ipairs(self.meets and self.fields.devices or {}) do
        local plan = device.stream:record(function()
            self.ticks[k]:run()
            self.fields.barrier.launches[k]:run()
        end, 'barriers')
        plan:run(0)
        plan:release()
    end
end

-- maxima: a replica of `n` signal rates; gradual: see clock.krn. Kernels of a part
-- find the buffer of its clock in state.clock.
function clocks.new(fields, maxima, n, gradual)
    local self = setmetatable({ fields = fields, list = {}, other = {}, maxima = maxima }, Clocks)
    local barrier, ticks = fields.barrier, {}
    self.ticks = ticks
    self.meets = meets(fields)
    self.rates = not self.meets and not replicas_suffice(fields) and rates.new(fields) or nil
    for k, device in ipairs(fields.devices) do
        self.list[k] = clock.new(device, fields.precision, maxima:at(k), n, gradual,
            self.meets and barrier:site(k) or nil, self.rates and self.rates:word(k))
        ticks[k] = self.list[k].tick
        if self.meets then barrier:take(k, self.list[k]:barrier()) end
        for _, s in ipairs(fields.states) do
            if s:is_on(device) then s.clock = self.list[k].buffer end
            if s.wide then s.wide.clock = s.clock end
        end
    end
    make_ready(self)
    return self
end

-- Replaces the maxima.
function Clocks:watch(maxima, n)
    self.maxima = maxima
    for k, one in ipairs(self.list) do one:watch(maxima:at(k), n) end
    make_ready(self)
end

-- Returns the launch that ends a sequence of steps that tick themselves, which have
-- n maxima each, on the only device.
function Clocks:settle(maxima, n)
    return self.list[1]:settle(maxima:at(1), n)
end

-- Sets where a run starts. at: as for Clock:start.
function Clocks:start(at)
    for k = 1, #self.list do self.list[k]:start(at) end
end

-- Queues what notes a step that was taken and chooses the next dt. Behind it all
-- devices have taken the step. following: the exchange of a step that is queued
-- right behind, if any
function Clocks:tick(following)
    if self.rates then
        if self.rates:learn(self.list, following) then return end
    elseif not self.meets then self.maxima:exchange() end
    together(self.ticks)
end

-- Queues what notes a step of a fixed dt, or one that leaves rates as they are; nobody is told.
function Clocks:go_on()
    if self.rates then self.rates:forget(self.list) end
    together(self.ticks)
end

-- Sets the target, as Clock:aim. The maxima must belong to the state: the next dt
-- follows from them.
function Clocks:aim(target, held)
    for k = 1, #self.list do self.list[k]:aim(target, held) end
    self:tick()
end

local function describe(self, k, now)
    return string.format('t = %.17g, dt = %.17g, step %.0f on %s', now.t, now.dt, now.steps,
        self.fields.devices[k].name)
end

local function check_silence(self, k, now)
    if not now.silent then return end
    errors.raise('MARE_ERROR_DEVICE', '%s has waited in vain for %s, which did not come to the '
        .. 'barrier after step %.0f', self.fields.devices[k].name,
        self.fields.barrier:name(now.silent), now.steps)
end

-- Waits for the devices, and sets in `now` what Clock:read does.
function Clocks:read(now)
    self.list[1]:read(now)
    check_silence(self, 1, now)
    local other = self.other
    for k = 2, #self.list do
        self.list[k]:read(other)
        check_silence(self, k, other)
        if other.t ~= now.t or other.dt ~= now.dt or other.steps ~= now.steps
            or other.failed ~= now.failed then
            errors.raise('MARE_ERROR_STATE', 'the clocks differ: %s, %s', describe(self, 1, now),
                describe(self, k, other))
        end
    end
    return now
end

function Clocks:release()
    for _, one in ipairs(self.list) do one:release() end
    if self.rates then self.rates:release() end
end

return clocks
