-- The nonlinear C-grid scheme of mare.ocean: kernels/physics/ocean/nonlinear.krn. Stable up to cfl
-- = 1 over the sum of all rates, of which the filter and uneven steps want a tenth or two.

local c_grid = require 'mare.ocean.c_grid'
local choices = require 'mare.schemes.choices'
local constants = require 'mare.base.constants'

local _, number = choices.checks 'ocean'

local nonlinear = { fields = { filter = 'any', theta = 'any', rk = 'any' } }

local period = constants.FILTER_PERIOD

-- What the next step depends on. Step k goes from k's level and the one before to the latter's
-- place; after one that filters, the level before is in `third`.
local even, odd, filtered = { 'now', 'other' }, { 'other', 'now' }, { 'other', 'third' }

local function levels(steps)
    if steps % 2 == 0 then return even end
    return steps % period == 1 and filtered or odd
end

local function bind(scheme, kernels, part)
    local state, bytes = part.state, c_grid.bytes(part.state, 10 + 3 / period)
    local now, other, third = state.now, state.other, state.third
    local step, measure = c_grid.binder(kernels, part)
    local function leap(level, from, old, to)
        return step { level = level, now = from, old = old, next = to, third = third,
            filter = scheme.filter, bytes = bytes }
    end
    return {
        measure = measure, x = { leap(0, now, other, other) }, y = { leap(0, other, now, now) },
        back = { leap(1, now, now, third), leap(2, third, now, other) },
    }
end

-- filter: of every other step, half of it a step, from 0 (none) to 1; 0.01 damps a wave of 125
-- steps a period by 1.3 % in 32 periods.
function nonlinear.setup(scheme, desc)
    c_grid.check(scheme, desc)
    scheme.filter = number('filter', desc.filter or 0.01, 0, 1)
    scheme.nonlinear, scheme.staggered, scheme.gradual = true, true, true
    scheme.has_shut_walls = scheme.viscosity == 0       -- it looks at what slides along a wall
    scheme.keeps_open = true
    scheme.buffers, scheme.updated, scheme.read_only = 3, 3, 4
    scheme.maxima, scheme.kernels, scheme.bind = c_grid.maxima, c_grid.kernels, bind
    scheme.step_shape = scheme.scheme
    scheme.levels, scheme.back = levels, { 'now', 'third' }
end

return nonlinear
