-- c_grid_reference.lua - one step of the C-grid schemes in double precision,
-- cell by cell, from the buffers of a part with its ghost cells. The kernels
-- are compared with it.

local reference = {}

local halo, pad = 2, 32

-- Returns a plane of a buffer as a function (i, j).
local function plane(state, data, index)
    local l = state.layout
    return function(i, j)
        return data[index * l.plane + (j + halo) * l.stride + pad + i + 1]
    end
end

-- Returns eta, hu, hv of a buffer.
function reference.level(state, buffer)
    local data = buffer:totable()
    return { eta = plane(state, data, 0), hu = plane(state, data, 1), hv = plane(state, data, 2) }
end

-- Returns force(kind, i, j) at time t, with the kinds FORCE_* of
-- ocean/domain.h.
local function forces(sim, state, t)
    local share, planes = state.domain.forcing, {}
    if sim.domain.forcing:kind() == 0 then return function() return 0 end end
    local data, times = share.buffer:totable(), share.moments:totable()
    for k = 0, 5 do
        planes[k] = sim.domain.forcing:kind() == 1 and function() return data[k + 1] end
            or plane(state, data, k)
    end
    return function(kind, i, j)
        local then_, later = planes[kind](i, j), planes[3 + kind](i, j)
        return then_ + (later - then_) * (t - times[1]) / (times[2] - times[1])
    end
end

-- Returns bed, rows and numbers of a part: depth(i, j), f(i, j) at south-west
-- corners, row(kind, j).
function reference.sea(sim, state)
    local share, scheme, g = state.domain, sim.scheme, sim.grid
    local bed, list, count = share.bed:totable(), share.rows:totable(), state.part.ny + 4
    local function row(kind, j) return list[kind * count + j + halo + 1] end
    local centre = type(scheme.coriolis) == 'function' and plane(state, bed, 2)
    local dx, dy = g:cell_size(0)
    local sea = {
        depth = plane(state, bed, 0), row = row, dx = dx, dy = dy, g = scheme.g,
        friction = scheme.friction, viscosity = scheme.viscosity, rotates = scheme.coriolis ~= nil,
        inv_dx = function(j) return row(0, j) end, south = function(j) return row(1, j) end,
        inv_area = function(j) return row(2, j) end,
        curvature = function(j) return row(6, j) end,
    }
    local force = forces(sim, state, sim.now.t)
    function sea.driven_x(h, i, j)
        return (force(0, i - 1, j) + force(0, i, j)) / 2
            - h * (force(2, i, j) - force(2, i - 1, j)) * row(0, j)
    end
    function sea.driven_y(h, i, j)
        return (force(1, i, j - 1) + force(1, i, j)) / 2
            - h * (force(2, i, j) - force(2, i, j - 1)) / dy
    end
    function sea.f(i, j)
        if not centre then return row(4, j) end
        return (centre(i - 1, j - 1) + centre(i, j - 1) + centre(i - 1, j) + centre(i, j)) / 4
    end
    return sea
end

-- Returns the mean of h(i, j) over the water around the south-west corner of
-- (i, j), or nil.
local function corner_mean(depth, h, i, j)
    local sum, n = 0, 0
    for b = j - 1, j do
        for a = i - 1, i do
            if depth(a, b) > 0 then sum, n = sum + h(a, b), n + 1 end
        end
    end
    return n > 0 and sum / n or nil
end

local function mean_of_open(depth, h, i, j, k, l)
    return depth(i, j) > 0 and depth(k, l) > 0 and (h(i, j) + h(k, l)) / 2 or nil
end

-- Returns dt times the rate at which friction stops a transport.
local function resistance(sea, dt, h, along, across)
    local friction = sea.friction
    if not friction then return 0 end
    local c, speed = friction.coefficient, math.sqrt(along ^ 2 + across ^ 2) / h ^ 2
    if friction.kind == 'linear' then return dt * c end
    if friction.kind == 'quadratic' then return dt * c * speed end
    return dt * sea.g * c ^ 2 * speed / h ^ (1 / 3)
end

-- Returns a transport that moves from old by `push` but for friction s and what
-- viscosity takes of the new one.
local function resisted(old, push, s, taken)
    return (old + (1 + s / 2) * push) / (1 + (1 + s / 2) * (s + (taken or 0)))
end

-- Returns f / h at a corner, with the curvature of the grid if advection
-- counts.
local function turn(sea, h, i, j, hu)
    local mean = corner_mean(sea.depth, h, i, j)
    if not mean then return 0 end
    local f = sea.f(i, j)
    if hu then
        f = f + sea.curvature(j) * (hu(i, j) + hu(i, j - 1)) / 2 / mean
    end
    return f / mean
end

-- Returns what rotation adds to hu(i, j) / h and subtracts from hv(i, j) / h.
local function turned_hv(sea, h, hv, hu, i, j)
    local sum = 0
    for k = j, j + 1 do
        sum = sum + turn(sea, h, i, k, hu) * (hv(i - 1, k) + hv(i, k)) / 2
            * sea.south(k) * sea.inv_dx(j) / 2
    end
    return sum
end

local function turned_hu(sea, h, hu, curved, i, j)
    local sum = 0
    for k = i, i + 1 do
        sum = sum + turn(sea, h, k, j, curved) * (hu(k, j) + hu(k, j - 1)) / 4
    end
    return sum
end

local function around_hu(hv, i, j)
    return (hv(i - 1, j) + hv(i, j) + hv(i - 1, j + 1) + hv(i, j + 1)) / 4
end

local function around_hv(hu, i, j)
    return (hu(i, j) + hu(i + 1, j) + hu(i, j - 1) + hu(i + 1, j - 1)) / 4
end

local function divergence(sea, hu, hv, i, j)
    local along = sea.dy * (hu(i + 1, j) - hu(i, j))
    return sea.inv_area(j) * (along + sea.south(j + 1) * hv(i, j + 1) - sea.south(j) * hv(i, j))
end

-- Does the step of kernels/physics/ocean/linear.krn: returns eta, hu and hv
-- after dt as functions (i, j). last: dt of the previous step, or 0.
function reference.linear(sea, q, step, last)
    local depth, new, dt = sea.depth, {}, (last + step) / 2
    -- dt times the force on hv where hu is so, depth and friction there
    local function push_hv(hu, i, j)
        local h = mean_of_open(depth, depth, i, j - 1, i, j)
        if not h then return end
        local slope = sea.g * (q.eta(i, j) - q.eta(i, j - 1)) / sea.dy
        return dt * (sea.driven_y(h, i, j) - h * (turned_hu(sea, depth, hu, nil, i, j) + slope)),
            resistance(sea, dt, h, q.hv(i, j), around_hv(sea.rotates and q.hu or new.hu, i, j))
    end
    local function middle_hv(i, j)
        local push, s = push_hv(q.hu, i, j)
        return push and (q.hv(i, j) + push / 2) / (1 + s / 2) or 0
    end
    function new.hu(i, j)
        local h = mean_of_open(depth, depth, i - 1, j, i, j)
        if not h then return 0 end
        local slope = sea.g * sea.inv_dx(j) * (q.eta(i, j) - q.eta(i - 1, j))
        local turned = sea.rotates and turned_hv(sea, depth, middle_hv, nil, i, j) or 0
        local push = dt * (sea.driven_x(h, i, j) + h * (turned - slope))
        return resisted(q.hu(i, j), push,
            resistance(sea, dt, h, q.hu(i, j), around_hu(q.hv, i, j)))
    end
    local function mean_hu(i, j) return (q.hu(i, j) + new.hu(i, j)) / 2 end
    function new.hv(i, j)
        local push, s = push_hv(mean_hu, i, j)
        return push and resisted(q.hv(i, j), push, s) or 0
    end
    function new.eta(i, j)
        return q.eta(i, j) - step * divergence(sea, new.hu, new.hv, i, j)
    end
    return new
end

-- Returns q / h at a face between two cells, 0 where it is closed.
local function velocity(sea, h, q, i, j, k, l)
    local mean = mean_of_open(sea.depth, h, i, j, k, l)
    return mean and q(i, j) / mean or 0
end

-- Returns the rates of change of the level q, without viscosity and friction.
local function rates(sea, q)
    local depth = sea.depth
    local function h(i, j) return depth(i, j) + q.eta(i, j) end
    local function u(i, j) return velocity(sea, h, q.hu, i, j, i - 1, j) end
    local function v(i, j) return velocity(sea, h, q.hv, i, j, i, j - 1) end
    -- momentum carried through centres and corners
    local function flux_x(i, j)
        return (q.hu(i, j) + q.hu(i + 1, j)) / 2 * (u(i, j) + u(i + 1, j)) / 2
    end
    local function flux_y(i, j)
        return (q.hv(i, j) + q.hv(i, j + 1)) / 2 * (v(i, j) + v(i, j + 1)) / 2
    end
    local function corner_u(i, j)
        return (q.hv(i - 1, j) + q.hv(i, j)) / 2 * (u(i, j - 1) + u(i, j)) / 2
    end
    local function corner_v(i, j)
        return (q.hu(i, j - 1) + q.hu(i, j)) / 2 * (v(i - 1, j) + v(i, j)) / 2
    end
    local function width(j) return 1 / sea.inv_dx(j) end
    local rate = { h = h }
    function rate.eta(i, j) return -divergence(sea, q.hu, q.hv, i, j) end
    function rate.hu(i, j)
        local mean = (h(i, j) + h(i - 1, j)) / 2
        local slope = sea.g * sea.inv_dx(j) * (q.eta(i, j) - q.eta(i - 1, j))
        local out = (flux_x(i, j) - flux_x(i - 1, j)) * sea.inv_dx(j)
            + (sea.south(j + 1) * corner_u(i, j + 1) - sea.south(j) * corner_u(i, j))
            / (width(j) * sea.dy)
        return mean * (turned_hv(sea, h, q.hv, q.hu, i, j) - slope) - out
            + sea.driven_x(mean, i, j)
    end
    function rate.hv(i, j)
        local mean = (h(i, j) + h(i, j - 1)) / 2
        local slope = sea.g * (q.eta(i, j) - q.eta(i, j - 1)) / sea.dy
        local out = (corner_v(i + 1, j) - corner_v(i, j)) / sea.south(j)
            + (width(j) * flux_y(i, j) - width(j - 1) * flux_y(i, j - 1)) / (sea.south(j) * sea.dy)
        return -mean * (turned_hu(sea, h, q.hu, q.hu, i, j) + slope) - out
            + sea.driven_y(mean, i, j)
    end
    return rate
end

-- Returns the viscosity of field `name`: the share of its neighbours, and that
-- of its own value.
local function laplacian(sea, q, name, i, j)
    local f, kx, ky = q[name], name == 'hu' and sea.inv_dx(j) ^ 2 or 1 / sea.south(j) ^ 2,
        1 / sea.dy ^ 2
    return sea.viscosity * (kx * (f(i - 1, j) + f(i + 1, j)) + ky * (f(i, j - 1) + f(i, j + 1))),
        sea.viscosity * (kx + ky)
end

-- Does the step of kernels/physics/ocean/nonlinear.krn from the levels q (now)
-- and old; last: dt between them.
function reference.nonlinear(sea, q, old, dt, last)
    local rate, r, next = rates(sea, q), dt / last, {}
    local span = (1 + r) * dt
    local function leap(name, i, j, more)
        return old[name](i, j) + (1 - r * r) * (q[name](i, j) - old[name](i, j))
            + span * (rate[name](i, j) + more)
    end
    function next.eta(i, j) return leap('eta', i, j, 0) end
    local function transport(name, i, j, k, l, across)
        local h = mean_of_open(sea.depth, rate.h, i, j, k, l)
        if not h then return 0 end
        local brought, taken = laplacian(sea, q, name, i, j)
        local before = old[name](i, j)
        return resisted(before, leap(name, i, j, brought - taken * before) - before,
            resistance(sea, span, h, q[name](i, j), across), span * taken)
    end
    function next.hu(i, j) return transport('hu', i, j, i - 1, j, around_hu(q.hv, i, j)) end
    function next.hv(i, j) return transport('hv', i, j, i, j - 1, around_hv(q.hu, i, j)) end
    return next
end

return reference
