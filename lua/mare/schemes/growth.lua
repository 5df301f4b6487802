-- Watches what a scheme says of a run that cannot be, such as energy that grows where none comes
-- from outside: it comes from the steps themselves. Looked at every 1024 steps, as batches allow,
-- and at the end. A run that is shorter is not watched: the kernels for it take longer to compile
-- than its steps.

local errors = require 'bindings.errors'
local integrals = require 'mare.array.integrals'

local growth = {}

local Growth = {}
Growth.__index = Growth

local period = 1024     -- steps

-- How many steps there are to take, as dt is now.
local function steps_left(state)
    local now = state.sim.now
    local dt = state.sim.dt or now.cfl / now.rate
    return math.min(state.steps - now.steps, (state.t_end - now.t) / dt)
end

local function measure(self)
    self.sums:take()
    local found = {}
    self.sums:fetch(found)
    self.seen = self.sim.now.steps
    return found
end

local function begin(self)
    local list = {}
    for k, name in ipairs(self.bounds.variables) do list[k] = { name = name, variable = name } end
    self.sums = self.sums or integrals.new(self.sim, list, self.bounds.most)
    self.first = measure(self)
end

-- state: of a loop, whose sim, t_end and steps it reads; bounds: of scheme:bounds. Nil where
-- there are none.
function growth.new(state, bounds)
    local sim = state.sim
    if not bounds then return nil end
    local self = setmetatable({ sim = sim, bounds = bounds, seen = sim.now.steps }, Growth)
    if steps_left(state) >= period then begin(self) end
    return self
end

-- Says that the state may have been set to another one.
function Growth:restart()
    if self.sums then begin(self) end
end

-- Raises where there is more than there can be. is_end: of the run
function Growth:look(is_end)
    local sim, bounds = self.sim, self.bounds
    local steps = sim.now.steps - self.seen
    if steps == 0 or steps < period and not (is_end and self.sums) then return end
    if not self.sums then return begin(self) end
    local what, why = bounds.excess(self.first, measure(self))
    if not what then return end
    local limit = sim.dt and '--dt' or '--cfl'
    errors.raise('MARE_ERROR_STATE', '%s until step %.0f, t = %g, %s; is %s = %g too large?', what,
        sim.now.steps, sim.now.t, why, limit, sim.dt or sim.cfl)
end

function Growth:release()
    if self.sums then self.sums:release() end
end

return growth
