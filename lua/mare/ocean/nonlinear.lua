-- The nonlinear C-grid scheme of mare.ocean: kernels/physics/ocean/nonlinear.krn. Stable up to cfl
-- = 1 over the sum of all rates, of which the filter and uneven steps want a tenth or two.

local c_grid = require 'mare.ocean.c_grid'
local choices = require 'mare.schemes.choices'

local _, number = choices.checks 'ocean'

local nonlinear = { fields = { filter = 'any', theta = 'any', rk = 'any' } }

-- Which steps filter, the first `steps` of each `period`, and how much one takes of a filter of 1.
-- One that filters writes three fields more. Filtering every other step is stable up to omega dt =
-- 0.99 where the filter is weak, but moves 13 % more. A few at once spoil each other's errors of
-- phase: 16 of 192 are stable up to 0.96, where the filter is at most the usual one, and damp as
-- much on the mean; each by itself, every 16th, grows in narrow bands from 0.19 on.
local usual = 0.01
local seldom = { period = 192, steps = 16, weight = 6 }
local often = { period = 2, steps = 1, weight = 1 }

-- What the next step depends on. Step k goes from k's level and the one before to the latter's
-- place; after one that filters, the level before is in `third`.
local places = {
    [0] = { plain = { 'now', 'other' }, filtered = { 'now', 'third' } },
    { plain = { 'other', 'now' }, filtered = { 'other', 'third' } },
}

local function levels_of(pattern)
    return function(steps)
        local is_filtered = (steps - 1) % pattern.period < pattern.steps
        return places[steps % 2][is_filtered and 'filtered' or 'plain']
    end
end

local function bind(scheme, kernels, part)
    local filtered = 3 * scheme.filter_steps / scheme.filter_period
    local state, bytes = part.state, c_grid.bytes(part.state, 10 + filtered)
    local now, other, third = state.now, state.other, state.third
    local step, measure = c_grid.binder(kernels, part)
    local function leap(level, from, old, to)
        return step { level = level, now = from, old = old, next = to, third = third,
            filter = scheme.filter_weight, bytes = bytes }
    end
    return {
        measure = measure, x = { leap(0, now, other, other) }, y = { leap(0, other, now, now) },
        back = { leap(1, now, now, third), leap(2, third, now, other) },
    }
end

-- filter: of every other step, half of it a step, from 0 (none) to 1; 0.01 damps a wave of 125
-- steps a period by 1.3 % in 32 periods. What is above that is taken every other step indeed.
function nonlinear.setup(scheme, desc)
    c_grid.check(scheme, desc)
    local filter = number('filter', desc.filter or usual, 0, 1)
    local pattern = filter <= usual and seldom or often
    scheme.filter, scheme.filter_weight = filter, pattern.weight * filter
    scheme.filter_period, scheme.filter_steps = pattern.period, pattern.steps
    scheme.nonlinear, scheme.staggered, scheme.gradual = true, true, true
    scheme.has_shut_walls = scheme.viscosity == 0       -- it looks at what slides along a wall
    scheme.keeps_open = true
    scheme.buffers, scheme.updated, scheme.read_only = 3, 3, 4
    scheme.maxima, scheme.kernels, scheme.bind = c_grid.maxima, c_grid.kernels, bind
    scheme.prepare_kernels = c_grid.prepare_kernels
    scheme.step_shape = scheme.scheme
    scheme.levels, scheme.back = levels_of(pattern), { 'now', 'third' }
end

return nonlinear
