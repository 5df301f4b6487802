-- cases.lua - every scheme as a case to time: { name, equations, ... } in `list`; and make(case,
-- n), the description for simulation.new on n x n cells. New schemes of mare.shallow_water and
-- mare.ocean are included by themselves.

local euler = require 'mare.schemes.euler'
local grid = require 'mare.array.grid'
local ocean = require 'mare.ocean'
local tables = require 'bindings.tables'
local water = require 'mare.schemes.shallow_water'

local cases = { list = {} }

-- Two smooth shear layers: McNally, Lyra and Passy (2012), ApJS 201, 18.
local row, rho, u = nil, 0, 0      -- the layers do not change along x
local function shear(x, y)
    if y ~= row then
        local depth, width = math.abs(y - 0.5), 0.025
        local ramp = 0.5 * math.exp(-math.abs(depth - 0.25) / width)
        local inside = depth < 0.25
        row, rho, u = y, inside and 2 - ramp or 1 + ramp, inside and -0.5 + ramp or 0.5 - ramp
    end
    return rho, u, 0.01 * math.sin(4 * math.pi * x), 2.5
end

-- A smooth bump: Holm, Brodtkorb and Saetra (2020).
local function bump(x, y) return (1 - (2 * x - 1) ^ 2) ^ 2 * (1 - (2 * y - 1) ^ 2) ^ 2 end

local equations = {
    euler = { initial = shear, boundaries = 'periodic' },
    water = { initial = function(x, y) return 60 + bump(x, y), 0, 0 end, boundaries = 'periodic' },
    ocean = { initial = function(x, y) return bump(x, y), 0, 0 end, boundaries = 'reflective' },
}

local function add(kind, name, scheme)
    local case = { name = kind .. '_' .. name, equations = kind, scheme = scheme }
    cases.list[#cases.list + 1], cases[case.name] = case, case
end

for _, flux in ipairs { 'hll', 'hllc' } do
    add('euler', flux, function() return euler.new { gamma = 5 / 3, flux = flux } end)
end
add('euler', 'lax_friedrichs', function() return euler.new { scheme = 'lax_friedrichs' } end)
for _, name in ipairs(tables.keys(water.schemes)) do
    add('water', name, function() return water.new { scheme = name } end)
end
for _, name in ipairs(tables.keys(ocean.schemes)) do
    add('ocean', name, function()
        return ocean.new { scheme = name, depth = 60, coriolis = { f = 1e-3 } }
    end)
end

-- Returns the fields of simulation.new except for devices. A case may bring an initial state and
-- boundaries of its own. All schemes are
-- stable at cfl = 0.45.
function cases.make(case, n, precision)
    local kind = equations[case.equations]
    return {
        grid = grid.new { nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 } }, scheme = case.scheme(),
        initial = case.initial or kind.initial,
        boundaries = case.boundaries or kind.boundaries,
        options = { precision = precision, cfl = 0.45 },
    }
end

return cases
