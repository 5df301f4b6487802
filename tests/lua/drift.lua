-- drift.lua - a simple ocean scheme for specs: the wind moves the water, hu +=
-- dt * (stress / rho) at the middle of the step, the pressure changes eta in
-- the same way, and nothing else happens. Its signal rate is 1/s.

local domain = require 'mare.ocean.domain'
local files = require 'mare.base.source'
local ocean = require 'mare.ocean'

local drift = {}

local source = [[
#include "physics/ocean/domain.h"
MR_KERNEL void measure(MR_GLOBAL real *maxima, int slot) { maxima[slot] = R(1.0); }
MR_KERNEL void drift(MR_GLOBAL real *state, const MR_GLOBAL real *forcing,
    const MR_GLOBAL double *clock, const MR_GLOBAL double *forcing_times, int stride,
    mr_index plane, MR_GLOBAL real *maxima, int slot) {
    mr_index at = cell_offset(mr_gid_x(), mr_gid_y(), stride);
    real weight = time_weight(clock, forcing_times, 0.5), dt = (real)clock[CLOCK_STEP];
    state[plane + at] += dt * forcing_at(forcing, FORCE_X, plane, at, weight);
    state[2 * plane + at] += dt * forcing_at(forcing, FORCE_Y, plane, at, weight);
    state[at] += dt * forcing_at(forcing, FORCE_PRESSURE, plane, at, weight);
    if (at == cell_offset(0, 0, stride) && dt > R(0.0)) maxima[slot] = R(1.0);
}
]]

local function kernels(_, device, precision, surroundings)
    local defines = domain.defines(surroundings)
    defines.MARE_REAL = precision
    local program = device:program(files.text(source, 'drift.krn', { defines = defines }))
    return { measure = program:kernel 'measure', drift = program:kernel 'drift' }
end

local function bind(_, made, part)
    local values, state = domain.values(part.state), part.state
    values.clock, values.maxima, values.slot = part.clock, part.maxima, part.slot
    values.state, values.stride = state.now, state.layout.stride
    values.plane = state.layout.plane
    local function launch(kernel, columns, rows)
        local arguments = { global = { columns, rows } }
        for _, arg in ipairs(kernel.args) do arguments[arg.name] = values[arg.name] end
        return kernel:bind(arguments)
    end
    local step = launch(made.drift, state.layout.nx, state.layout.ny)
    return { x = { step }, y = { step }, measure = launch(made.measure, 1, 1) }
end

-- Registers it in mare.ocean, with values at centres and on faces.
for _, name in ipairs { 'drift', 'drift_on_faces' } do
    ocean.schemes[name] = 'for tests'
    ocean.halves[name] = { setup = function(scheme)
        scheme.staggered = name == 'drift_on_faces'
        scheme.kernels, scheme.bind = kernels, bind
        scheme.maxima = function() return 1 end
        scheme.updated, scheme.read_only = 3, 0
    end }
end

return drift
