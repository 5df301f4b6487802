-- Computes escape times again by MPFR: exactly, and in the arithmetic of each
-- kernel, operation by operation. If these two differ, the number format causes
-- it and not the kernel.

local exact = require 'mare.mandelbrot.exact'
local mpfr = require 'bindings.mpfr'
local renderer = require 'mare.mandelbrot.renderer'

local M = {}

-- Returns the escape times n of all points of a frame (view.frames), 0 for
-- never, at [row * columns + column].
function M.counts(device, frame, columns, rows, limit, shortcuts)
    local r = renderer.new { device = device, centre = frame.centre, width = columns,
        height = rows, samples = 1, iterations = limit, colours = 'magma', period = 1,
        shortcuts = shortcuts ~= false }
    r:take(frame, 1)
    r:wait(1)
    local times, counts = r.times:download(), {}
    for k = 0, columns * rows - 1 do counts[k] = math.floor(times[k] / 256) end
    return counts
end

-- ---- in the arithmetic of the kernels: fma, add and so on of numbers of `bits` ----

-- Results are reused after many more operations; keep() copies one.
local function arithmetic(bits)
    local a, ring, at = {}, {}, 0
    for k = 1, 256 do ring[k] = mpfr.new(bits) end
    function a.number(value) return mpfr.new(bits, value) end
    a.keep = a.number
    for _, name in ipairs { 'set', 'add', 'sub', 'mul', 'fma' } do
        a[name] = function(...)
            at = at % 256 + 1
            return ring[at][name](ring[at], ...)
        end
    end
    local zero = a.number(0)
    function a.neg(x) return a.sub(zero, x) end
    return a
end

local function offsets(a, frame, i, j)
    return a.fma(a.number(i), a.number(frame.step), a.number(frame.left)),
        a.fma(a.number(-j), a.number(frame.step), a.number(frame.top))
end

-- For each mode: point(frame, i, j) returns c as in the kernel; exact(c, frame,
-- bits) returns it as numbers of many bits; count(c, limit, frame) returns what
-- the kernel should find.
local modes = {}

local function plain(bits)
    local a = arithmetic(bits)
    local mode = {}
    function mode.point(frame, i, j)
        local x, y = offsets(a, frame, i, j)
        return { x = a.keep(a.add(a.number(frame.centre.x_high), x)),
            y = a.keep(a.add(a.number(frame.centre.y_high), y)) }
    end
    function mode.exact(c, _, many) return mpfr.new(many, c.x), mpfr.new(many, c.y) end
    function mode.count(c, limit)
        local x, y, t, w = a.number(), a.number(), a.number(), a.number()
        for n = 1, limit do
            t:fma(a.neg(y), y, c.x)
            t:fma(x, x, t)
            y:fma(w:add(x, x), y, c.y)
            x:set(t)
            if t:fma(x, x, w:mul(y, y)):compare(4) > 0 then return n end
        end
        return 0
    end
    return mode
end

modes.float, modes.double = plain(24), plain(53)

local d = arithmetic(53)

local function quick_sum(x, y)
    local s = d.add(x, y)
    return { s, d.sub(y, d.sub(s, x)) }
end

local function two_sum(x, y)
    local s = d.add(x, y)
    local of_y = d.sub(s, x)
    return { s, d.add(d.sub(x, d.sub(s, of_y)), d.sub(y, of_y)) }
end

local function add(x, y)
    local s = two_sum(x[1], y[1])
    return quick_sum(s[1], d.add(s[2], d.add(x[2], y[2])))
end

local function multiply(x, y)
    local high = d.mul(x[1], y[1])
    local low = d.fma(x[1], y[1], d.neg(high))
    return quick_sum(high, d.fma(x[1], y[2], d.fma(x[2], y[1], low)))
end

local function coordinate(high, low, offset)
    local s = two_sum(d.number(high), offset)
    local c = quick_sum(s[1], d.add(s[2], d.number(low)))
    return { d.keep(c[1]), d.keep(c[2]) }
end

local pairs_of_doubles = {}
modes['double-double'] = pairs_of_doubles

function pairs_of_doubles.point(frame, i, j)
    local x, y = offsets(d, frame, i, j)
    local c = frame.centre
    return { x = coordinate(c.x_high, c.x_low, x), y = coordinate(c.y_high, c.y_low, y) }
end

function pairs_of_doubles.exact(c, _, many)
    return mpfr.new(many):add(c.x[1], c.x[2]), mpfr.new(many):add(c.y[1], c.y[2])
end

function pairs_of_doubles.count(c, limit)
    local x, y = { d.number(), d.number() }, { d.number(), d.number() }
    for n = 1, limit do
        local xy, yy = multiply(x, y), multiply(y, y)
        x = add(add(multiply(x, x), { d.neg(yy[1]), d.neg(yy[2]) }), c.x)
        y = add({ d.add(xy[1], xy[1]), d.add(xy[2], xy[2]) }, c.y)
        local norm = add(multiply(x, x), multiply(y, y))
        local side = norm[1]:compare(4)
        if side > 0 or side == 0 and norm[2]:compare(0) > 0 then return n end
    end
    return 0
end

local perturbation = {}
modes.perturbation = perturbation

function perturbation.point(frame, i, j)
    local x, y = offsets(d, frame, i, j)
    return { x = d.keep(x), y = d.keep(y) }
end

function perturbation.exact(c, frame, many)
    return mpfr.new(many):add(frame.centre.x, c.x), mpfr.new(many):add(frame.centre.y, c.y)
end

local function larger(x, y) return math.max(math.abs(x:double()), math.abs(y:double())) end

function perturbation.count(c, limit, frame)
    local centre = frame.centre
    local orbit, length = exact.orbit(centre.bits, centre.x, centre.y, limit)
    local dx, dy, m = d.number(), d.number(), 0
    for n = 1, limit do
        local zx, zy = d.set(orbit[2 * m]), d.set(orbit[2 * m + 1])
        local a, b = d.add(d.add(zx, zx), dx), d.add(d.add(zy, zy), dy)
        dx, dy = d.fma(a, dx, d.fma(d.neg(b), dy, c.x)), d.fma(a, dy, d.fma(b, dx, c.y))
        m = m + 1
        local x = d.add(d.set(orbit[2 * m]), dx)
        local y = d.add(d.set(orbit[2 * m + 1]), dy)
        if d.fma(x, x, d.mul(y, y)):compare(4) > 0 then return n end
        if larger(x, y) < larger(dx, dy) or m == length - 1 then dx, dy, m = x, y, 0 end
    end
    return 0
end

-- Returns what the point (i, j) of a frame must give: its exact escape time,
-- and the time in the arithmetic of the frame's mode, which is computed only if
-- `found` is not the exact one.
function M.expected(frame, i, j, limit, found)
    local mode = modes[frame.mode]
    local c = mode.point(frame, i, j)
    local bits = math.max(192, frame.centre.bits + 128)
    local x, y = mode.exact(c, frame, bits)
    local n = exact.count(bits, x, y, limit)
    return n, n == found and n or mode.count(c, limit, frame)
end

return M
