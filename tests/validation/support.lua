-- support.lua - what the acceptance specs share: a simulation from a short
-- description, cell means and errors, copies of the state to compare bit by
-- bit, and gates.
--
-- A gate compares an error with the one in recorded.lua, which this module
-- wrote once:
--   MARE_VALIDATION=record build/mare tests/busted.lua tests/validation
-- MARE_VALIDATION=show prints each value beside the recorded one. The record
-- does not depend on precision, device and time, since errors of the
-- discretisation hardly do.

local assert = require 'luassert'
local ffi = require 'ffi'
local choices = require 'mare.schemes.choices'
local device_list = require 'mare.array.devices'
local euler = require 'mare.schemes.euler'
local grid = require 'mare.array.grid'
local home = require 'bindings.home'
local sample = require 'tests.sample'
local share = require 'tests.share'
local simulation = require 'mare.run.simulation'
local tables = require 'bindings.tables'

local support = {}

support.fluxes = sample(tables.keys(euler.equation.fluxes), 1)
support.limiters = sample(tables.keys(choices.limiters), 1)
support.precisions = { 'float', 'double' }

-- ---- simulations ----

local devices

function support.devices()
    if not devices then
        devices = device_list.open()
        for _, device in ipairs(devices) do share(device) end
    end
    return devices
end

local function keep(_, ...)
    return ...
end

-- desc: nx, ny, x, y, coordinates and boundaries as for mare.grid and
-- mare.simulation; flux, limiter, gamma, gravity; precision, first, cfl,
-- decompose; initial(x, y) returns density, velocity, pressure, or
-- `conserved`(x, y) the unknowns. minmod has theta = 1. The scheme of another
-- equation is given as `scheme`.
function support.simulation(desc)
    local scheme = desc.scheme or euler.new {
        gamma = desc.gamma, gravity = desc.gravity, flux = desc.flux, limiter = desc.limiter,
        theta = 1,
    }
    if desc.conserved then scheme.conserved = keep end
    return simulation.new {
        grid = grid.new { nx = desc.nx, ny = desc.ny, x = desc.x, y = desc.y,
            coordinates = desc.coordinates }, scheme = scheme,
        boundaries = desc.boundaries or 'periodic', initial = desc.conserved or desc.initial,
        devices = support.devices(), options = desc,
    }
end

-- Runs to time t, in batches that never overshoot, or takes n steps of the
-- largest dt.
function support.run_to(sim, t)
    sim:aim(t)
    while sim.now.t < t do
        assert(not sim.now.failed and sim.now.dt > 0, 'the state became invalid')
        sim:step(math.max(1, math.min(500, math.floor((t - sim.now.t) / sim.now.dt))))
        sim:read()
    end
    return sim
end

function support.run_steps(sim, n)
    sim:aim(math.huge)
    sim:step(n)
    sim:read()
    assert(not sim.now.failed and sim.now.steps == n, 'the state became invalid')
    return sim
end

-- ---- errors and sums ----

-- Returns the mean over the cells of |field - exact(x, y)|, at the centres.
function support.error(sim, name, exact)
    local field, g, sum = sim:field(name), sim.grid, 0
    for j = 0, g.ny - 1 do
        for i = 0, g.nx - 1 do
            local value = exact(g:x_centre(i), g:y_centre(j))
            sum = sum + math.abs(tonumber(field[j * g.nx + i]) - value)
        end
    end
    return sum / g.cells
end

-- ---- states ----

-- Returns a copy of the unknowns: { nx, ny, names = of the unknowns, rho =
-- array, rho_u =, ... }.
function support.state(sim)
    local state = {
        nx = sim.grid.nx, ny = sim.grid.ny, precision = sim.precision, names = sim.scheme.fields,
    }
    for _, name in ipairs(state.names) do
        state[name] = ffi.new(sim.precision .. '[?]', sim.grid.cells)
        ffi.copy(state[name], sim:field(name):pointer(), ffi.sizeof(state[name]))
    end
    return state
end

-- Returns the state rearranged: source(i, j) returns the cell that becomes cell
-- (i, j). { nx, ny, swap, sign } describe the new state.
local function rearranged(state, shape, source)
    local new = {
        nx = shape.nx, ny = shape.ny, precision = state.precision, names = state.names,
    }
    for _, name in ipairs(state.names) do
        local from = state[shape.swap and shape.swap[name] or name]
        local to = ffi.new(state.precision .. '[?]', shape.nx * shape.ny)
        local sign = shape.sign and shape.sign[name] or 1
        for j = 0, shape.ny - 1 do
            for i = 0, shape.nx - 1 do
                local a, b = source(i, j)
                to[j * shape.nx + i] = sign * from[b * state.nx + a]
            end
        end
        new[name] = to
    end
    return new
end

function support.transposed(s)
    local swap = { rho_u = 'rho_v', rho_v = 'rho_u', hu = 'hv', hv = 'hu' }
    local shape = { nx = s.ny, ny = s.nx, swap = swap }
    return rearranged(s, shape, function(i, j) return j, i end)
end

function support.mirrored_x(s)
    local shape = { nx = s.nx, ny = s.ny, sign = { rho_u = -1, hu = -1 } }
    return rearranged(s, shape, function(i, j) return s.nx - 1 - i, j end)
end

function support.mirrored_y(s)
    local shape = { nx = s.nx, ny = s.ny, sign = { rho_v = -1, hv = -1 } }
    return rearranged(s, shape, function(i, j) return i, s.ny - 1 - j end)
end

function support.part(s, i0, j0, nx, ny)
    return rearranged(s, { nx = nx, ny = ny }, function(i, j) return i0 + i, j0 + j end)
end

-- Returns nil if two states are equal, else where they differ. NaN equals
-- nothing; 0 equals -0, because a mirrored momentum of 0 is -0.
function support.difference(a, b)
    assert(a.nx == b.nx and a.ny == b.ny and a.precision == b.precision)
    local count, first = 0, nil
    for _, name in ipairs(a.names) do
        for k = 0, a.nx * a.ny - 1 do
            if a[name][k] ~= b[name][k] then
                count = count + 1
                first = first or string.format('%s in cell (%d, %d): %.17g and %.17g', name,
                    k % a.nx, math.floor(k / a.nx), a[name][k], b[name][k])
            end
        end
    end
    return first and string.format('%d values differ, first %s', count, first)
end

-- Does the same for all bits.
function support.bits_differ(a, b)
    for _, name in ipairs(a.names) do
        local size = ffi.sizeof(a[name])
        if ffi.string(a[name], size) ~= ffi.string(b[name], size) then
            return support.difference(a, b) or name .. ' differs in the sign of a zero'
        end
    end
end

-- Returns the sum over the cells of one unknown, in double.
function support.total(sim, name)
    local field, sum = sim:field(name), 0
    for k = 0, sim.grid.cells - 1 do sum = sum + tonumber(field[k]) end
    return sum
end

function support.assert_valid(sim)
    assert.is_false(sim.now.failed)
    assert.is_nil(sim:invalid())
end

-- ---- gates ----

local path = home.root .. '/tests/validation/recorded.lua'
local mode = os.getenv 'MARE_VALIDATION'
local record

local function write_record()
    local keys = {}
    for key in pairs(record) do keys[#keys + 1] = key end
    table.sort(keys)
    local file = assert(io.open(path, 'w'))
    file:write('-- Errors measured by the specs here; written by support.lua.\nreturn {\n')
    for _, key in ipairs(keys) do file:write(("    ['%s'] = %.4g,\n"):format(key, record[key])) end
    file:write '}\n'
    file:close()
end

-- Prints a figure that has a gate of its own.
function support.show(what, value, reference)
    if mode ~= 'show' then return end
    print(('%-52s %.4g%s'):format(what, value, reference and (' (%.4g)'):format(reference) or ''))
end

local margin = 1.15

-- Fails if an error exceeds the recorded one by more than 15 %.
function support.gate(key, value)
    record = record or (io.open(path) and dofile(path)) or {}
    local known = record[key]
    support.show(key, value, known)
    if mode == 'record' then
        assert(value == value)
        record[key] = value
        write_record()
        return
    end
    assert.is_true(known and value <= margin * known or false,
        ('%s: %.4g, recorded %s'):format(key, value, tostring(known)))
end

function support.at_most(limit, value, what)
    support.show(what, value, limit)
    assert.is_true(value <= limit, ('%s: %.6g, at most %.6g'):format(what, value, limit))
end

function support.at_least(limit, value, what)
    assert.is_true(value >= limit, ('%s: %.6g, at least %.6g'):format(what, value, limit))
end

return support
