-- init.lua - the module table: every part of Mare that a script uses by name, loaded when it is
-- first used. A part with new() is called like a function: mare.grid { nx = 8, ... }.

local parts = {
    basin = 'mare.ocean.basin',
    budget = 'mare.ocean.budget',
    chain = 'mare.ocean.chain',
    cotidal = 'mare.cotidal',
    dam_break = 'mare.exact.dam_break',
    device = 'bindings.device',
    energy = 'mare.energy',
    drifters = 'mare.ocean.drifters',
    euler = 'mare.schemes.euler',
    grid = 'mare.grid',
    gauges = 'mare.gauges',
    gridded = 'mare.ocean.gridded',
    harmonics = 'mare.harmonics',
    image = 'mare.output.image',
    inverse = 'mare.ocean.inverse',
    live = 'mare.live',
    mandelbrot = 'mare.mandelbrot',
    ocean = 'mare.schemes.ocean',
    options = 'mare.options',
    profile = 'mare.profile',
    random = 'mare.random',
    riemann = 'mare.exact.riemann',
    roms = 'mare.ocean.roms',
    run = 'mare.run',
    shallow_water = 'mare.schemes.shallow_water',
    simulation = 'mare.simulation',
    source = 'mare.source',
    tides = 'mare.tides',
    tune = 'mare.tune',
    weather = 'mare.ocean.weather',
}

-- Functions that a script uses by name: the module and its function.
local calls = {
    memory = { 'mare.report', 'memory' },
    plot = { 'mare.draw', 'show' },
    report = { 'mare.report', 'objects' },
    watch = { 'mare.watch', 'new' },
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
    local list = { 'version' }
    for name in pairs(parts) do list[#list + 1] = name end
    for name in pairs(calls) do list[#list + 1] = name end
    return list
end

local function module_of(name)
    return calls[name] and calls[name][1] or parts[name]
end

return setmetatable({ version = require('bindings.device').version }, {
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
