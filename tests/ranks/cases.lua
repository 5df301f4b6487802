-- cases.lua - small simulations, one of each scheme: run(names) gives a line for each with the
-- clock and checksums of its unknowns, a derived variable and its integrals. However the grid is
-- divided, among ranks too, the lines are the same.

local integrals = require 'mare.array.integrals'
local mare = require 'mare'
local memory = require 'bindings.memory'
local open_basin = require 'tests.open_basin'
local random = require 'mare.base.random'
local zlib = require 'bindings.zlib'

local nx, ny = 41, 38           -- no multiple of any number of parts
local cases = {}

local function rough(x, y)
    local k = 4 * (math.floor(10 * y + 3) * (nx + 6) + math.floor(10 * x + 3))
    local function draw(n) return random.uniform(3, k + n) end
    return 0.3 + draw(0), draw(1) - 0.5, draw(2) - 0.5, 0.3 + draw(3)
end

local function unit_grid(halo)
    return mare.grid { nx = nx, ny = ny, x = { 0, nx / 10 }, y = { 0, ny / 10 }, halo = halo }
end

local mixed = { west = 'fixed', east = 'outflow', south = 'reflective', north = 'fixed' }

local function euler(precision, boundaries)
    return { grid = unit_grid(), scheme = mare.euler { gravity = 0.5 }, boundaries = boundaries,
        initial = rough, options = { precision = precision }, derived = 'vorticity' }
end

function cases.euler() return euler('float', 'periodic') end
function cases.euler_double() return euler('double', mixed) end

local function water(scheme, boundaries)
    local made = mare.shallow_water { scheme = scheme }
    return { grid = unit_grid(made.halo), scheme = made, boundaries = boundaries,
        initial = function(x, y)
            local h, u, v = rough(x, y)
            return 1 + 0.2 * h, 0.1 * u, 0.1 * v
        end, derived = 'speed' }
end

function cases.water() return water('waf', mixed) end
function cases.water_stages()
    return water('kurganov_petrova_rk3', { west = 'periodic', east = 'periodic',
        south = 'reflective', north = 'outflow' })
end

local function ocean(scheme, precision, is_sphere)
    local desc = open_basin(scheme, is_sphere, { 40, 50, 70 })
    desc.options, desc.derived = { precision = precision }, 'speed'
    return desc
end

function cases.linear() return ocean('linear', 'double') end
function cases.nonlinear() return ocean('nonlinear', 'float') end
function cases.kurganov_petrova() return ocean('kurganov_petrova', 'float') end
function cases.cdklm() return ocean('cdklm', 'float', true) end

-- A tide that comes in at cells, with its account, and a periodic axis.
function cases.tide_in_cells()
    local list = {}
    for j = 0, 21 do list[j + 1] = { 5, j } end
    return {
        grid = mare.grid { nx = 26, ny = 22, x = { 0, 26e3 }, y = { 0, 22e3 } },
        scheme = mare.ocean { scheme = 'nonlinear', viscosity = 10,
            depth = function(x) return x < 5e3 and 0 / 0 or 50 end,
            tide = { cells = list, constituents = { { name = 'M2', amplitude = 0.5, phase = 0 } } },
        },
        boundaries = { west = 'reflective', east = 'reflective', south = 'periodic',
            north = 'periodic' },
        initial = function() return 0, 0, 0 end, options = {}, derived = 'speed',
    }
end

-- ---- running them ----

local function checksum(sim, name)
    local data = sim:field(name):pointer()
    return ('%08x'):format(zlib.crc32(0, data, sim.grid.cells * (sim.precision == 'double'
        and 8 or 4)))
end

-- Not of the dissipation, which depends on the split where sides of the C-grids are open.
local function sums_of(sim)
    local list = {}
    for _, integral in ipairs(sim.scheme.integrals) do
        if integral.name ~= 'dissipation' then list[#list + 1] = integral end
    end
    local sums, found = integrals.new(sim, list), {}
    sums:take()
    sums:fetch(found)
    sums:release()
    return found
end

local function line(name, device)
    local desc = cases[name]()
    local derived, o = desc.derived, desc.options or {}
    desc.derived, desc.options = nil, o
    if type(device) == 'table' then
        desc.devices, o.decompose = device, { 2, 2 }
    else
        o.device = device
    end
    local sim, words = mare.simulation(desc), { name }
    sim:aim(130)
    for _, n in ipairs { 1, 6, 5 } do
        sim:step(n)
        sim:read()
    end
    for _, value in ipairs { sim.now.t, sim.now.dt, unpack(sums_of(sim)) } do
        words[#words + 1] = ('%.17g'):format(value)
    end
    for _, field in ipairs(sim.scheme.fields) do words[#words + 1] = checksum(sim, field) end
    words[#words + 1] = checksum(sim, derived)
    local count = sim:saved_count() * sim.fields.element
    local saved = memory.array('uint8', count)
    sim:save(saved)
    local crc = zlib.crc32(0, saved, count)
    if mare.ranks.rank == 0 then words[#words + 1] = ('%08x'):format(crc) end
    sim:release()
    return table.concat(words, ' ')
end

local M = {}

-- Prints the lines on rank 0, and raises where another rank has found anything else. device: a
-- name, or a list of open ones that have two parts along each axis in turn
function M.run(device, ...)
    local ranks = mare.ranks
    for _, name in ipairs { ... } do
        local text = line(name, device)
        if ranks.rank == 0 then print(text) end
        local own = text:match('^(.*) %x+$')
        local first = ranks.broadcast(ranks.rank == 0 and own or nil)
        if ranks.rank > 0 and text ~= first then error(text .. ' is not ' .. first) end
    end
end

M.names = {}
for name in pairs(cases) do M.names[#M.names + 1] = name end
table.sort(M.names)

return M
