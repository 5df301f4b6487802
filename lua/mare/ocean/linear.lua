-- The linear C-grid scheme of mare.ocean: kernels/physics/ocean/linear.krn. Stable up to cfl = 1,
-- open sides included. Transports, and so u and v, are half a step older than eta.

local c_grid = require 'mare.ocean.c_grid'
local errors = require 'bindings.errors'
local variables = require 'mare.ocean.variables'

local linear = { fields = c_grid.fields }

local levels = { [0] = { 'now' }, { 'other' } }

local function bind(_, kernels, part)
    local state, bytes = part.state, c_grid.bytes(part.state, 7)
    local step, measure = c_grid.binder(kernels, part)
    return {
        measure = measure,
        x = { step { src = state.now, dst = state.other, bytes = bytes } },
        y = { step { src = state.other, dst = state.now, bytes = bytes } },
    }
end

function linear.setup(scheme, desc)
    c_grid.check(scheme, desc)
    if scheme.viscosity > 0 then
        errors.argument('ocean: viscosity = %g, the linear scheme has none', scheme.viscosity)
    end
    scheme.variables = variables.with_old_transports()
    scheme.staggered, scheme.gradual, scheme.unwatched = true, true, true
    scheme.accounts, scheme.has_shut_walls = true, true
    scheme.keeps_open = true
    scheme.buffers, scheme.updated, scheme.read_only = 2, 3, 1
    scheme.maxima, scheme.kernels, scheme.bind = c_grid.maxima, c_grid.kernels, bind
    scheme.prepare_kernels = c_grid.prepare_kernels
    scheme.step_shape = scheme.scheme
    scheme.levels = function(steps) return levels[steps % 2] end
end

return linear
