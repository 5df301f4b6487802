-- Least squares with complex unknowns: which boundary tide do gauges want, given what each piece of
-- it does at each of them. Complex numbers are { re, im }.

local errors = require 'bindings.errors'

local inversion = {}

-- Solves the symmetric positive a x = b of n unknowns, rows of `a` one after the other, in place.
local function solve(a, b, n)
    for k = 1, n do
        local pivot = a[(k - 1) * n + k]
        if pivot <= 0 then
            errors.raise('MARE_ERROR_STATE', 'inversion: unknown %d of %d is not determined', k, n)
        end
        for i = k + 1, n do
            local share = a[(i - 1) * n + k] / pivot
            if share ~= 0 then
                for j = k, n do
                    a[(i - 1) * n + j] = a[(i - 1) * n + j] - share * a[(k - 1) * n + j]
                end
                b[i] = b[i] - share * b[k]
            end
        end
    end
    for k = n, 1, -1 do
        for j = k + 1, n do b[k] = b[k] - a[(k - 1) * n + j] * b[j] end
        b[k] = b[k] / a[(k - 1) * n + k]
    end
    return b
end

-- Adds the equation sum of row[k] x[k] = right, of real numbers, with a weight.
local function add(a, b, n, row, right, weight)
    for i, p in pairs(row) do
        b[i] = b[i] + weight * p * right
        for j, q in pairs(row) do
            a[(i - 1) * n + j] = a[(i - 1) * n + j] + weight * p * q
        end
    end
end

-- The x that minimises the sum of weights[g] |right[g] - sum over k of rows[g][k] x[k]|^2 and of
-- smooth |sum of row[k] x[k]|^2 over `smoothness`, rows { [k] = number } of what should vanish.
-- skip = function(g) -> whether to leave that out, or nil
function inversion.fit(desc)
    local n = desc.unknowns
    local a, b = {}, {}
    for k = 1, 4 * n * n do a[k] = 0 end
    for k = 1, 2 * n do b[k] = 0 end
    for g, row in ipairs(desc.rows) do
        if not (desc.skip and desc.skip(g)) then
            local re, im = {}, {}
            for k = 1, n do
                re[k], re[n + k] = row[k][1], -row[k][2]
                im[k], im[n + k] = row[k][2], row[k][1]
            end
            add(a, b, 2 * n, re, desc.right[g][1], desc.weights[g])
            add(a, b, 2 * n, im, desc.right[g][2], desc.weights[g])
        end
    end
    for _, row in ipairs(desc.smoothness) do
        local im = {}
        for k, value in pairs(row) do im[n + k] = value end
        add(a, b, 2 * n, row, 0, desc.smooth)
        add(a, b, 2 * n, im, 0, desc.smooth)
    end
    local x, list = solve(a, b, 2 * n), {}
    for k = 1, n do list[k] = { x[k], x[n + k] } end
    return list
end

-- sum of row[k] x[k]
function inversion.apply(row, x)
    local re, im = 0, 0
    for k, value in ipairs(x) do
        re = re + row[k][1] * value[1] - row[k][2] * value[2]
        im = im + row[k][1] * value[2] + row[k][2] * value[1]
    end
    return { re, im }
end

return inversion
