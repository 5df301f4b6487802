-- holm_linear.lua - the rungs of the linear scheme for holm.lua: kernels/measure/ladder_linear.krn.

local domain = require 'mare.ocean.domain'
local source = require 'mare.base.source'

local M = { name = 'linear', title = 'linear', kernel = 'move_all' }

M.rungs = {
    { 'three kernels', { 'move_hu', 'move_hv', 'move_eta' } }, { 'one kernel', { 'move_all' } },
    { 'fast maths', { 'move_all' }, math = 'relaxed' },
    { 'best block', { 'move_all' }, math = 'relaxed', retuned = true },
}

-- Numbers that a step moves, a cell, if nothing is read twice: 4 read, 3 written.
M.numbers_moved = 7

function M.kept() return 0 end

-- As that of holm_cdklm.lua. Steps go from one buffer to the other and back.
function M.launches(device, r, rung, block)
    local program = device:program(source.program('measure/ladder_linear.krn', {
        math = rung.math or 'strict',
        defines = { MARE_REAL = 'float', GX = block[1], GY = block[2] } }))
    local values, layout, n = domain.values(r.state), r.state.layout, r.state.layout.nx
    local p = { nx = n, ny = n, stride = layout.stride, plane = layout.plane,
        inv_dx = values.inv_dx, inv_dy = values.inv_dy, g = values.g }
    local steps, moves = {}, {}
    for k, way in ipairs { { r.now, r.other }, { r.other, r.now } } do
        local list = {}
        for _, name in ipairs(rung[2]) do
            local move = program:kernel(name):bind { src = way[1], dst = way[2], bed = values.bed,
                dt = 0, push = 0, p = p, group = block,
                global = { name == 'move_hu' and n + 1 or n, name == 'move_hv' and n + 1 or n } }
            list[#list + 1], moves[#moves + 1] = move, move
        end
        list[#list + 1] = program:kernel 'wrap':bind { q = way[2], p = p,
            global = n + 2 * layout.halo }
        steps[k] = list
    end
    local last = 0
    local function set_step(dt)
        for _, move in ipairs(moves) do
            move:set('dt', dt)
            move:set('push', 0.5 * (last + dt))
        end
        last = dt
    end
    local wrap = steps[2][#steps[2]]
    return { steps = steps, wrap = wrap, set_step = set_step,
        info = program:kernel(rung[2][#rung[2]]).info }
end

return M
