-- scaling_family.lua - times steps of simulations of one scheme that differ in their parts, in
-- turn: N x N cells on one device alone, as many on each device at once, as many a part (weak) and
-- in all (strong). They all lie on the devices at once. Each rank calls this with the same words.

local cases = require 'tests.bench.cases'
local devices = require 'mare.array.devices'
local grid = require 'mare.array.grid'
local here = require 'mare.ranks.here'
local links = require 'mare.links'
local record = require 'tests.bench.record'
local simulation = require 'mare.run.simulation'
local system = require 'bindings.system'

local block = simulation.block_steps
local rest = record.few(0.07, 0)        -- between bursts, so that a GPU keeps its clocks up

-- States that are made quickly: sharp layers, and a sea with steps.
local initial = {
    euler = function(x, y)
        local inside = math.abs(y - 0.5) < 0.25
        return inside and 2 or 1, inside and -0.5 or 0.5, 0.01 * math.sin(4 * math.pi * x), 2.5
    end,
    ocean = function(x, y) return 0.5 + 0.25 * ((8 * x) % 1 - (8 * y) % 1), 0, 0 end,
}

-- Makes a simulation. on: what simulation.new takes as devices
local function make(name, nx, ny, on, px, py)
    local case = cases[name]
    local desc = cases.make(case, 16, 'float')
    desc.grid = grid.new { nx = nx, ny = ny, x = { 0, 1 }, y = { 0, 1 }, halo = desc.scheme.halo }
    desc.initial = initial[case.equations] or desc.initial
    desc.devices, desc.options.decompose = on, { px, py }
    local sim = simulation.new(desc)
    sim:aim(1e9)
    sim:step(2 * block)
    sim:read()
    return sim
end

-- Calls f(px, py) for a row of so many parts and, where there is one, a square.
local function each_split(count, f)
    f(1, count)
    local side = math.sqrt(count)
    if side % 1 == 0 then f(side, side) end
end

-- Returns the names of the first devices, again and again.
local function some(names, count)
    local list = {}
    for k = 1, count do list[k] = names[(k - 1) % #names + 1] end
    return list
end

-- ---- what is timed: { kind, px, py, nx, ny, burst(steps) -> seconds } ----

local function together(sim)
    return function(steps)
        local start = system.now()
        sim:step(steps)
        sim:read()
        return system.now() - start
    end
end

-- Those of this process, all at once.
local function at_once(list)
    return function(steps)
        local start = system.now()
        for _, sim in ipairs(list) do sim:step(steps) end
        for _, sim in ipairs(list) do sim:read() end
        return system.now() - start
    end
end

-- Adds one alone, and all apart.
local function add_alone(entries, name, n, names)
    local list, one = {}
    if here.size == 1 then
        for k = 1, #names do list[k] = make(name, n, n, { names[k] }, 1, 1) end
        one = together(list[1])
    else
        list[1] = here.alone(make, name, n, n, devices.open(names), 1, 1)
        local burst = together(list[1])
        one = function(steps)
            local seconds = here.rank == 0 and here.alone(burst, steps) or 0
            return here.largest(seconds)
        end
    end
    entries[1] = { kind = 'one', px = 1, py = 1, nx = n, ny = n, burst = one }
    local all = at_once(list)
    entries[2] = { kind = 'apart', px = 1, py = 1, nx = n, ny = n, burst = function(steps)
        here.all(true)
        return here.largest(here.alone(all, steps))
    end }
end

local function way_of(sim)
    local on = sim.fields.devices
    return here.size == 1 and #on == 1 and links.texts.place or links.describe(on)
end

local function add_parts(entries, desc, count)
    local n, on = desc.n, some(desc.names, count)
    for kind in desc.kinds:gmatch '%a+' do
        each_split(count, function(px, py)
            local nx, ny = n, n
            if kind == 'weak' then nx, ny = n * px, n * py end
            local sim = make(desc.case, nx, ny, on, px, py)
            entries[#entries + 1] = { kind = kind, px = px, py = py, nx = nx, ny = ny,
                way = way_of(sim), burst = together(sim) }
        end)
    end
end

-- Times one family. desc: { case = of cases.lua, n, names = of devices, counts = of parts, kinds =
-- 'weak,strong', rounds, seconds = of all bursts of one, settled = called when all lie on the
-- devices }. Returns { { kind, px, py, nx, ny, way, us = median, least_us, most_us } }.
return function(desc)
    local entries = {}
    add_alone(entries, desc.case, desc.n, desc.names)
    for _, count in ipairs(desc.counts) do
        if here.size == 1 or here.size == count then add_parts(entries, desc, count) end
    end
    if desc.settled then desc.settled() end
    for _, e in ipairs(entries) do
        local a_step = here.broadcast(e.burst(block) / block)
        local wanted = record.few(desc.seconds, 0) / desc.rounds / a_step
        e.steps, e.found = here.broadcast(block * math.max(1, math.ceil(wanted / block))), {}
    end
    for k = 1, desc.rounds do
        for _, e in ipairs(entries) do
            system.sleep(rest)
            e.found[k] = 1e6 * e.burst(e.steps) / e.steps
        end
    end
    for _, e in ipairs(entries) do
        e.us = record.median(e.found)
        e.least_us, e.most_us, e.burst, e.found = e.found[1], e.found[desc.rounds], nil, nil
    end
    collectgarbage()
    return entries
end
