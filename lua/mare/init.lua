-- init.lua - the module table: every part of Mare that a script uses by name, loaded when it is
-- first used. A part with new() is called like a function: mare.grid { nx = 8, ... }.

local device = require 'bindings.device'
local host = require 'bindings.host'

local parts = {
    basin = 'mare.tide.basin',
    budget = 'mare.ocean.budget',
    chain = 'mare.tide.chain',
    cotidal = 'mare.tide.cotidal',
    dam_break = 'mare.schemes.dam_break',
    device = 'bindings.device',
    energy = 'mare.measure.energy',
    drifters = 'mare.ocean.drifters',
    euler = 'mare.schemes.euler',
    grid = 'mare.array.grid',
    gauges = 'mare.tide.gauges',
    gridded = 'mare.forcing.gridded',
    harmonics = 'mare.tide.harmonics',
    image = 'mare.draw.image',
    inverse = 'mare.tide.inverse',
    live = 'mare.run.live',
    mandelbrot = 'mare.mandelbrot',
    ocean = 'mare.ocean',
    options = 'mare.base.options',
    profile = 'mare.measure.profile',
    random = 'mare.base.random',
    riemann = 'mare.schemes.riemann',
    roms = 'mare.ocean.roms',
    run = 'mare.run',
    shallow_water = 'mare.schemes.shallow_water',
    simulation = 'mare.run.simulation',
    source = 'mare.base.source',
    tides = 'mare.forcing.tides',
    tune = 'mare.tune',
    weather = 'mare.forcing.weather',
}

-- Functions that a script uses by name: the module and its function.
local calls = {
    memory = { 'mare.measure.report', 'memory' },
    plot = { 'mare.draw', 'show' },
    report = { 'mare.measure.report', 'objects' },
    watch = { 'mare.session.watch', 'new' },
    scope = { 'bindings.device', 'scope' },
}

local function constructor(name)
    return function(part, ...)
        if (...) == nil then
            require('bindings.errors').argument('%s: an argument is wanted: help(mare.%s) tells',
                name, name)
        end
        return part.new(...)
    end
end

local function find(name)
    local call = calls[name]
    if call then return require(call[1])[call[2]] end
    local part = parts[name] and require(parts[name])
    if part and part.new and not getmetatable(part) then
        setmetatable(part, { __call = constructor(name) })
    end
    return part
end

-- For sessions: all names, the module of one, and how it is shown.
local function names()
    local list = { 'root', 'version' }
    for name in pairs(parts) do list[#list + 1] = name end
    for name in pairs(calls) do list[#list + 1] = name end
    return list
end

local function module_of(name)
    return calls[name] and calls[name][1] or parts[name]
end

-- root: the folder that holds Mare's own files, such as scenarios/data.
return setmetatable({ version = device.version, root = host.root }, {
    __index = function(mare, name)
        local part = find(name)
        if part then rawset(mare, name, part) end
        return part
    end,
    __names = names,
    __module = module_of,
    __tostring = function(mare)
        local list = names()
        table.sort(list)
        return ('Mare %s: %s'):format(mare.version, table.concat(list, ', '))
    end,
})
