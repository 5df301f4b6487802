-- Watches the energy of a run where none comes from outside: what grows nonetheless comes from the
-- steps themselves. Looked at every 1024 steps, as batches allow, and at the end. A run that is
-- shorter is not watched: the kernels for it take longer to compile than its steps.

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
    return found[1]
end

local function begin(self)
    self.sums = self.sums
        or integrals.new(self.sim, { { name = 'energy', variable = self.known.variable } })
    self.first = measure(self)
end

-- state: of a loop, whose sim, t_end and steps it reads; known: of scheme:kept_energy. Nil where
-- energy may come in.
function growth.new(state, known)
    local sim = state.sim
    if not known then return nil end
    local self = setmetatable({ sim = sim, known = known, seen = sim.now.steps }, Growth)
    if steps_left(state) >= period then begin(self) end
    return self
end

-- Says that the state may have been set to another one.
function Growth:restart()
    if self.sums then begin(self) end
end

-- Raises where there is more energy than there can be. is_end: of the run
function Growth:look(is_end)
    local sim, known = self.sim, self.known
    local steps = sim.now.steps - self.seen
    if steps == 0 or steps < period and not (is_end and self.sums) then return end
    if not self.sums then return begin(self) end
    local energy = measure(self)
    if energy <= known.factor * self.first + known.noise then return end
    local limit = sim.dt and '--dt' or '--cfl'
    errors.raise('MARE_ERROR_STATE', 'energy grew from %.4g to %.4g %s until step %.0f, t = %g, '
        .. 'where none comes in (%s): the steps are unstable; is %s = %g too large?',
        self.first, energy, known.units, sim.now.steps, sim.now.t, known.why, limit,
        sim.dt or sim.cfl)
end

function Growth:release()
    if self.sums then self.sums:release() end
end

return growth
