-- holm_cdklm.lua - the rungs of the high-resolution scheme for holm.lua:
-- kernels/measure/ladder.krn.

local domain = require 'mare.ocean.domain'
local source = require 'mare.base.source'

local M = { name = 'cdklm', title = 'high-resolution', kernel = 'rung', coriolis = { f = 1e-3 } }

M.rungs = {
    { 'original', 0 }, { 'depth of centres recomputed', 1 }, { 'depth of faces recomputed', 2 },
    { 'velocities in place of unknowns', 3 }, { 'fluxes along x recomputed', 4 },
    { 'fluxes along y recomputed', 5 }, { 'one room for slopes', 6 }, { 'fewer registers', 7 },
    { 'fast maths', 7, math = 'relaxed' }, { 'best block', 7, math = 'relaxed', retuned = true },
}

-- Numbers that a step moves, a cell: 4 read, 3 written; twice, and the base.
M.numbers_moved = 17

-- Numbers that a group keeps in local memory for each cell of its tile.
function M.kept(rung) return rung[2] == 0 and 25 or 7 end

-- Returns what a step runs, four launches, with set_step(dt), and the kernel's `info`.
function M.launches(device, r, rung, block)
    local program = source.program('measure/ladder.krn', { math = rung.math or 'strict',
        defines = { MARE_REAL = 'float', RUNG = rung[2], GX = block[1], GY = block[2],
            LIMITER = r.sim.scheme.defines.LIMITER, THETA = r.sim.scheme.defines.THETA,
            BALANCED = 1, CORIOLIS = 'CORIOLIS_BY_ROW', METRIC = 0, FORCING = 0, FRICTION = 0,
            LAND_CELLS = 0, VISCOSITY = 0, WALLS = 0 } })
    program = device:program(program)
    local values, layout, n = domain.values(r.state), r.state.layout, r.state.layout.nx
    local p = { nx = n, ny = n, stride = layout.stride, plane = layout.plane, dx = values.dx,
        dy = values.dy, inv_dx = values.inv_dx, inv_dy = values.inv_dy, g = values.g, f = 1e-3,
        dry = values.dry }
    local now, other = r.now, r.other
    local function stage(src, base, dst, keep)
        return program:kernel 'rung':bind { src = src, base = base, dst = dst, bed = values.bed,
            dt = 0, keep = keep, p = p, global = { n, n }, group = block }
    end
    local function wrap(q)
        return program:kernel 'wrap':bind { q = q, p = p, global = n + 2 * layout.halo }
    end
    local list = { stage(now, now, other, 0), wrap(other), stage(other, now, now, 0.5), wrap(now) }
    local function set_step(dt)
        list[1]:set('dt', dt)
        list[3]:set('dt', dt)
    end
    return { steps = { list }, wrap = list[4], set_step = set_step,
        info = program:kernel 'rung'.info }
end

return M
