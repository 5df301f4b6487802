-- Means of functions over cells and along faces by Gauss-Legendre points.

local errors = require 'bindings.errors'

local quadrature = {}

-- The Legendre polynomial of degree n at x, and its derivative.
local function legendre(n, x)
    local before, here = 1, x
    for k = 2, n do before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k end
    return here, n * (x * here - before) / (x * x - 1)
end

-- Points between -0.5 and 0.5 and weights whose sum is 1: exact for polynomials of degree 2 n - 1.
function quadrature.points(n)
    local list = {}
    if n == 1 then return { { at = 0, weight = 1 } } end
    for k = 1, n do
        local x = -math.cos(math.pi * (k - 0.25) / (n + 0.5))
        for _ = 1, 20 do
            local value, slope = legendre(n, x)
            x = x - value / slope
        end
        local _, slope = legendre(n, x)
        list[k] = { at = 0.5 * x, weight = 1 / ((1 - x * x) * slope * slope) }
    end
    return list
end

-- From f(x, y, ...), which gives up to so many numbers, to a function that gives their means over a
-- cell around (x, y), dx wide and dy high; either may be 0: along a face. n: points along an axis,
-- of which 1 gives f itself; weight: of what lies at y, 1 if nil
function quadrature.mean(n, f, count, dx, dy, weight)
    if n == 1 then return f end
    local points = quadrature.points(n)
    local one = { { at = 0, weight = 1 } }
    local across, up = dx > 0 and points or one, dy > 0 and points or one
    return function(x, y, ...)
        local sums, whole = {}, 0
        for k = 1, count do sums[k] = 0 end
        for _, q in ipairs(up) do
            local py = y + dy * q.at
            local share = q.weight * (weight and weight(py) or 1)
            whole = whole + share
            for _, p in ipairs(across) do
                local values = { f(x + dx * p.at, py, ...) }
                for k = 1, count do
                    sums[k] = sums[k] + share * p.weight * (values[k] or 0)
                end
            end
        end
        for k = 1, count do sums[k] = sums[k] / whole end
        return unpack(sums, 1, count)
    end
end

-- Returns a function that gives the unknowns of cell (i, j) of a grid from a script's function.
-- That is tried once: what it forgets to return must not surface within the scheme. n: points along
-- an axis; domain: of scheme:domain, which then tells how they follow, or nil
function quadrature.sampler(scheme, grid, initial, n, domain)
    if type(initial) ~= 'function' then
        errors.argument('simulation: initial must be a function(x, y), not %s', type(initial))
    end
    local x, y, count = grid:x_centre(0), grid:y_centre(0), #scheme.fields
    local values = { initial(x, y) }
    for k = 1, count do
        if type(values[k]) ~= 'number' then
            errors.argument('simulation: initial(%g, %g) gives %s as value %d, %s wants %d numbers',
                x, y, type(values[k]), k, scheme.name, count)
        end
    end
    if domain then return scheme:conserved(domain, initial, n) end
    local value = quadrature.mean(n, function(a, b)
        return scheme:conserved(initial(a, b))
    end, count, grid.dx, grid.dy)
    return function(i, j) return value(grid:x_centre(i), grid:y_centre(j)) end
end

return quadrature
