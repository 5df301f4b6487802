-- holm_nonlinear.lua - the rungs of the nonlinear scheme for holm.lua:
-- kernels/measure/ladder_nonlinear.krn, which has no filter against the leapfrog's other mode.

local domain = require 'mare.ocean.domain'
local source = require 'mare.base.source'

local M = { name = 'nonlinear', title = 'nonlinear', kernel = 'move_all' }

local three = { 'move_eta', 'move_hu', 'move_hv' }

M.rungs = {
    { 'three kernels', three }, { 'on three streams', three, streams = true },
    { 'one kernel', { 'move_all' } }, { 'fast maths', { 'move_all' }, math = 'relaxed' },
    { 'best block', { 'move_all' }, math = 'relaxed', retuned = true },
}

-- Numbers that a step moves, a cell, if nothing is read twice: 7 read, 3 written.
M.numbers_moved = 10

function M.kept() return 0 end

-- A launch on a stream of its own, between what was queued before and what comes.
local function beside(device, stream, launch)
    local before, after = device:event(), device:event()
    return {
        begin = function()
            before:record()
            stream:wait_event(before)
            launch:run(stream)
            after:record(stream)
        end,
        finish = function() device.stream:wait_event(after) end,
    }
end

-- What runs the launches of a step on three streams, the last one on the default stream.
local function spread(device, streams, list)
    local first, second = beside(device, streams[1], list[1]), beside(device, streams[2], list[2])
    return { run = function()
        first.begin()
        second.begin()
        list[3]:run()
        first.finish()
        second.finish()
    end }
end

-- As that of holm_cdklm.lua. A step writes over the level before; the first one wants that level,
-- which two launches make by the midpoint rule.
function M.launches(device, r, rung, block)
    local program = device:program(source.program('measure/ladder_nonlinear.krn', {
        math = rung.math or 'strict',
        defines = { MARE_REAL = 'float', GX = block[1], GY = block[2] } }))
    local values, layout, n = domain.values(r.state), r.state.layout, r.state.layout.nx
    local p = { nx = n, ny = n, stride = layout.stride, plane = layout.plane,
        inv_dx = values.inv_dx, inv_dy = values.inv_dy, g = values.g }
    local function move(name, src, base, dst)
        return program:kernel(name):bind { src = src, base = base, dst = dst, bed = values.bed,
            s = { of_src = 1, of_base = 0, dt = 0 }, p = p, global = { n, n }, group = block }
    end
    local function wrap(q)
        return program:kernel 'wrap':bind { q = q, p = p, global = n + 2 * layout.halo }
    end
    local third = device:buffer { type = 'float', count = r.now.count, label = 'third' }
    local streams = rung.streams and { device:stream {}, device:stream {} }
    local steps, moves = {}, {}
    for k, way in ipairs { { r.now, r.other }, { r.other, r.now } } do
        local list = {}
        for _, name in ipairs(rung[2]) do
            list[#list + 1] = move(name, way[1], way[2], way[2])
            moves[#moves + 1] = list[#list]
        end
        if streams then list = { spread(device, streams, list) } end
        list[#list + 1] = wrap(way[2])
        steps[k] = list
    end
    local function weigh(launch, of_src, of_base, dt)
        launch:set('s', { of_src = of_src, of_base = of_base, dt = dt })
    end
    local half = move('move_all', r.now, r.now, third)
    local back = move('move_all', third, r.now, r.other)
    local last
    local function set_step(dt)
        if not last then
            weigh(half, 1, 0, -dt / 2)
            weigh(back, 0, 1, -dt)
            for _, launch in ipairs { half, wrap(third), back, wrap(r.other) } do launch:run() end
        end
        local ratio = dt / (last or dt)
        for _, launch in ipairs(moves) do
            weigh(launch, 1 - ratio ^ 2, ratio ^ 2, (1 + ratio) * dt)
        end
        last = dt
    end
    return { steps = steps, wrap = wrap(r.now), set_step = set_step, streams = streams,
        info = program:kernel(rung[2][#rung[2]]).info }
end

return M
