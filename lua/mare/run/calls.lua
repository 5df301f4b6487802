-- Functions of a script that a run calls: at listed times, every T of model time, every N steps,
-- each exactly then and before what is written of that time. What comes every T or N comes at the
-- start too. A call is { number, function(sim) }, or { number, change = function(q, x, y, t, p) },
-- which changes the state as simulation:change does; files of the run hold its text.

local errors = require 'bindings.errors'
local schedule = require 'mare.base.schedule'

local calls = {}

local Calls = {}
Calls.__index = Calls

-- These fields of run list calls; each says what its numbers are and which schedule one makes.
local kinds = {
    { 'at', 'a time', function(time) return { times = { time } } end },
    { 'every', 'a time greater than 0', function(time) return { every = time } end },
    { 'every_steps', 'a number of steps', function(steps) return { steps = steps } end },
}

local function is_right(field, value)
    if type(value) ~= 'number' or value ~= value then return false end
    if field == 'at' then return true end
    return value > 0 and value < math.huge and (field == 'every' or value % 1 == 0)
end

local function add(list, field, noun, make, wanted)
    for k, pair in ipairs(wanted or {}) do
        local value, f = unpack(type(pair) == 'table' and pair or {})
        local change = type(pair) == 'table' and pair.change
        if f == nil and type(change) == 'function' then
            f = function(sim) sim:change(change) end
        end
        if not is_right(field, value) or type(f) ~= 'function' then
            errors.argument('run: %s[%d] must be { %s, function } or { %s, change = function }',
                field, k, noun, noun)
        end
        list[#list + 1] = { schedule = schedule.new(make(value)), f = f }
    end
end

-- Makes the calls of a run. desc: { at = { { time, function(sim) }, ... }, every = likewise,
-- every_steps = likewise }
function calls.new(desc)
    local self = setmetatable({ list = {} }, Calls)
    for _, kind in ipairs(kinds) do
        add(self.list, kind[1], kind[2], kind[3], desc[kind[1]])
    end
    return self
end

Calls.next_time, Calls.next_step = schedule.several.next_time, schedule.several.next_step
Calls.hits = schedule.several.hits

function Calls:make(sim)
    for _, call in ipairs(self.list) do
        if call.schedule:due(sim.now.t, sim.now.steps) then call.f(sim) end
    end
end

return calls
