-- reference.lua - the Euler step in double precision Lua, written from the
-- papers and not from the kernels, which are compared with it. A state is a
-- function (q, i, j) -> value with q = 1 rho, 2 rho u, 3 rho v, 4 E.

local reference = {}

local abs, min, max, sqrt = math.abs, math.min, math.max, math.sqrt

local function same_sign(a, b, value)
    if a * b <= 0 then return 0 end
    return a > 0 and value or -value
end

-- Returns limited slopes from the differences to both neighbours.
local function minmod(theta)
    return function(a, b)
        return same_sign(a, b, min(theta * abs(a), abs(a + b) / 2, theta * abs(b)))
    end
end

reference.limiters = {
    minmod = minmod(1.3),
    mc = minmod(2),
    van_leer = function(a, b) return a * b > 0 and 2 * a * b / (a + b) or 0 end,
    superbee = function(a, b)
        return same_sign(a, b, max(min(2 * abs(a), abs(b)), min(abs(a), 2 * abs(b))))
    end,
    none = function() return 0 end,
}

-- W = { rho, normal velocity, transverse velocity, p }
local function primitive(q, gamma)
    local rho, u, v = q[1], q[2] / q[1], q[3] / q[1]
    return { rho, u, v, (gamma - 1) * (q[4] - rho * (u * u + v * v) / 2) }
end

local function conserved(w, gamma)
    return { w[1], w[1] * w[2], w[1] * w[3], w[4] / (gamma - 1) + w[1] * (w[2] ^ 2 + w[3] ^ 2) / 2 }
end

local function physical(w, gamma)
    local q = conserved(w, gamma)
    return { q[2], q[2] * w[2] + w[4], q[2] * w[3], w[2] * (q[4] + w[4]) }
end

local function sound(w, gamma) return sqrt(gamma * w[4] / w[1]) end

local function combine(f) return { f(1), f(2), f(3), f(4) } end

local function wave_speeds(l, r, gamma)
    local cl, cr = sound(l, gamma), sound(r, gamma)
    return min(l[2] - cl, r[2] - cr), max(l[2] + cl, r[2] + cr)
end

-- Returns the state behind the outer wave s, and the flux there: Toro 2009,
-- equations 10.37 to 10.39.
local function star_flux(w, s, contact, gamma)
    local q, f = conserved(w, gamma), physical(w, gamma)
    local factor = w[1] * (s - w[2]) / (s - contact)
    local energy = q[4] / w[1] + (contact - w[2]) * (contact + w[4] / (w[1] * (s - w[2])))
    local star = { factor, factor * contact, factor * w[3], factor * energy }
    return combine(function(k) return f[k] + s * (star[k] - q[k]) end)
end

-- The flux of HLLC as it is if the outer waves bound the face, and what tells about it: the state
-- before the contact, its outer wave and the contact.
local function hllc(l, r, gamma)
    local sl, sr = wave_speeds(l, r, gamma)
    sl, sr = min(sl, 0), max(sr, 0)
    local al, ar = l[1] * (sl - l[2]), r[1] * (sr - r[2])
    local contact = (r[4] - l[4] + al * l[2] - ar * r[2]) / (al - ar)
    local w, s = r, sr
    if contact >= 0 then w, s = l, sl end
    return star_flux(w, s, contact, gamma), w, s, contact
end

reference.fluxes = {
    lax_friedrichs = function(l, r, gamma)
        local s = max(abs(l[2]) + sound(l, gamma), abs(r[2]) + sound(r, gamma))
        local ql, qr = conserved(l, gamma), conserved(r, gamma)
        local fl, fr = physical(l, gamma), physical(r, gamma)
        return combine(function(k) return (fl[k] + fr[k]) / 2 - s * (qr[k] - ql[k]) / 2 end)
    end,
    hll = function(l, r, gamma)
        local sl, sr = wave_speeds(l, r, gamma)
        local ql, qr = conserved(l, gamma), conserved(r, gamma)
        local fl, fr = physical(l, gamma), physical(r, gamma)
        if sl >= 0 then return fl end
        if sr <= 0 then return fr end
        return combine(function(k)
            return (sr * fl[k] - sl * fr[k] + sl * sr * (qr[k] - ql[k])) / (sr - sl)
        end)
    end,
    hllc = function(l, r, gamma)
        local sl, sr = wave_speeds(l, r, gamma)
        if sl >= 0 then return physical(l, gamma) end
        if sr <= 0 then return physical(r, gamma) end
        local al, ar = l[1] * (sl - l[2]), r[1] * (sr - r[2])
        local contact = (r[4] - l[4] + al * l[2] - ar * r[2]) / (al - ar)
        if contact >= 0 then return star_flux(l, sl, contact, gamma) end
        return star_flux(r, sr, contact, gamma)
    end,
    hllc_straight = function(l, r, gamma)
        local f, w, s, contact = hllc(l, r, gamma)
        local most = abs(w[3] / (s - contact)) * min(abs(contact), abs(contact - w[2]))
        local shear = abs(w[1] * (s - w[2])) * max(min(l[3] - r[3], most), -most)
        return { f[1], f[2], f[3] + shear, f[4] + shear * w[3] }
    end,
}

-- Returns the low and the high face of the middle one of three cells after half
-- a step, from W_t = -A(W) W_x.
local function faces(l, w, r, k, gamma, limiter)
    local d = combine(function(n) return limiter(w[n] - l[n], r[n] - w[n]) end)
    local rate = {
        w[2] * d[1] + w[1] * d[2], w[2] * d[2] + d[4] / w[1],
        w[2] * d[3], w[2] * d[4] + gamma * w[4] * d[2],
    }
    local middle = combine(function(n) return w[n] - k / 2 * rate[n] end)
    local low = combine(function(n) return middle[n] - d[n] / 2 end)
    local high = combine(function(n) return middle[n] + d[n] / 2 end)
    if min(low[1], high[1], low[4], high[4]) <= 0 then return w, w end
    return low, high
end

-- Turns cells 1 .. #line of primitive variables into new conserved ones in 3 ..
-- #line - 2.
local function sweep_line(line, k, gamma, flux, limiter)
    local low, high, out = {}, {}, {}
    for c = 2, #line - 1 do
        low[c], high[c] = faces(line[c - 1], line[c], line[c + 1], k, gamma, limiter)
    end
    for c = 3, #line - 2 do
        local q = conserved(line[c], gamma)
        local west, east = flux(high[c - 1], low[c], gamma), flux(high[c], low[c + 1], gamma)
        out[c] = combine(function(n) return q[n] + k * (west[n] - east[n]) end)
    end
    return out
end

local function flow_at(state, i, j, normal, gamma)
    local rho, energy = state(1, i, j), state(4, i, j)
    return primitive({ rho, state(normal, i, j), state(5 - normal, i, j), energy }, gamma)
end

-- Does one sweep of a periodic state of nx x ny cells along 'x' or 'y'.
function reference.sweep(state, nx, ny, axis, k, gamma, flux, limiter)
    local along, across = axis == 'x' and nx or ny, axis == 'x' and ny or nx
    local normal = axis == 'x' and 2 or 3
    local rows = {}
    for t = 0, across - 1 do
        local line = {}
        for n = -2, along + 1 do
            local i, j = n % along, t
            if axis == 'y' then i, j = j, i end
            line[n + 3] = flow_at(state, i, j, normal, gamma)
        end
        rows[t] = sweep_line(line, k, gamma, reference.fluxes[flux], reference.limiters[limiter])
    end
    local swap = { 1, normal, 5 - normal, 4 }
    return function(q, i, j)
        if axis == 'y' then i, j = j, i end
        return rows[j % across][i % along + 3][axis == 'x' and q or swap[q]]
    end
end

-- Returns the largest signal rate of a state.
function reference.rate(state, nx, ny, gamma, dx, dy)
    local largest = 0
    for j = 0, ny - 1 do
        for i = 0, nx - 1 do
            local w = flow_at(state, i, j, 2, gamma)
            local c = sound(w, gamma)
            largest = max(largest, (abs(w[2]) + c) / dx, (abs(w[3]) + c) / dy)
        end
    end
    return largest
end

return reference
