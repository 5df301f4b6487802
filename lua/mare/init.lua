-- init.lua - the table `mare`: every module that a script uses by name, loaded on
-- first use. A module with new() is called like a function: mare.grid { nx = 8, ... }.

local device = require 'bindings.device'
local home = require 'bindings.home'
local strict = require 'bindings.strict'

local modules = {
    array = function() return require 'mare.ndarray' end,
    blas = function() return require('mare.ndarray').blas end,
    basin = function() return require 'mare.tide.basin' end,
    budget = function() return require 'mare.ocean.budget' end,
    chain = function() return require 'mare.tide.chain' end,
    cotidal = function() return require 'mare.tide.cotidal' end,
    dam_break = function() return require 'mare.ocean.dam_break' end,
    descent = function() return require 'mare.algebra.descent' end,
    device = function() return require 'bindings.device' end,
    energy = function() return require 'mare.measure.energy' end,
    drifters = function() return require 'mare.ocean.drifters' end,
    equation = function() return require 'mare.schemes.equation' end,
    equations = function() return require 'mare.schemes.equations' end,
    euler = function() return require 'mare.schemes.euler' end,
    euler_tracer = function() return require 'mare.schemes.euler_tracer' end,
    fft = function() return require 'mare.spectra.transforms' end,
    film = function() return require 'mare.draw.film' end,
    gradient = function() return require 'mare.algebra.gradient' end,
    grid = function() return require 'mare.array.grid' end,
    gauges = function() return require 'mare.tide.gauges' end,
    gridded = function() return require 'mare.forcing.gridded' end,
    harmonics = function() return require 'mare.tide.harmonics' end,
    image = function() return require 'mare.draw.image' end,
    inverse = function() return require 'mare.tide.inverse' end,
    kernel = function() return require 'mare.translate.kernel' end,
    live = function() return require 'mare.live' end,
    mandelbrot = function() return require 'mare.mandelbrot' end,
    mhd = function() return require 'mare.schemes.mhd' end,
    netcdf = function() return require 'mare.files.netcdf' end,
    ocean = function() return require 'mare.ocean' end,
    options = function()
        require 'mare.files.formats'        -- adds to the help of --out
        return require 'mare.base.options'
    end,
    profile = function() return require 'mare.measure.profile' end,
    progress = function() return require 'mare.measure.progress' end,
    random = function() return require 'mare.base.random' end,
    ranks = function() return require 'mare.ranks' end,
    riemann = function() return require 'mare.schemes.riemann' end,
    roms = function() return require 'mare.forcing.roms' end,
    run = function() return require 'mare.run' end,
    shallow_water = function() return require 'mare.schemes.shallow_water' end,
    simulation = function() return require 'mare.run.simulation' end,
    source = function() return require 'mare.base.source' end,
    spectrum = function() return require 'mare.spectra' end,
    stencil = function() return require 'mare.schemes.stencil' end,
    study = function() return require 'mare.live.study' end,
    tides = function() return require 'mare.forcing.tides' end,
    tune = function() return require 'mare.tune' end,
    volume = function() return require 'mare.volume' end,
    weather = function() return require 'mare.forcing.weather' end,
    work = function() return require 'mare.translate.work' end,
    worker = function() return require 'mare.live.worker' end,
}

-- Functions that a script uses by name.
local calls = {
    divide = function() return require('mare.divided').new end,
    memory = function() return require('mare.measure.report').memory end,
    check = function() return require('mare.schemes.oracle').check end,
    plot = function() return require('mare.draw').show end,
    report = function() return require('mare.measure.report').objects end,
    vector = function() return require('mare.schemes.equations').vector end,
    watch = function() return require('mare.session.watch').new end,
    time = function() return require('mare.measure.stopwatch').time end,
    scope = function() return require('bindings.device').scope end,
    inp = function() return require('bindings.carried').inp end,
    inout = function() return require('bindings.carried').inout end,
    out = function() return require('bindings.carried').out end,
}

-- Functions of arrays that a script uses by name.
for name in ([[zeros ones full arange linspace eye rand randn randint permutation fuse map
    concatenate stack where minimum maximum atan2 hypot copysign nextafter complex logical_and
    logical_or logical_not bit_and bit_or bit_xor shift_left shift_right sqrt
    cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2
    expm1 log log2 log10 log1p erf erfc lgamma tgamma floor ceil trunc rint abs
    sign isnan isinf isfinite real imag conj angle]]):gmatch '%S+' do
    calls[name] = function() return require('mare.ndarray')[name] end
end

-- Modules that take the name of a scenario instead of a description.
local of_scenario = {
    simulation = function(...) return require('mare.live').from(...) end,
}

local function constructor(name)
    return function(class, ...)
        if type((...)) == 'string' and of_scenario[name] then return of_scenario[name](...) end
        if (...) == nil then
            require('bindings.errors').argument('%s: an argument is wanted: help(mare.%s) tells',
                name, name)
        end
        return class.new(...)
    end
end

local function find(name)
    if calls[name] then return calls[name]() end
    local found = modules[name] and modules[name]()
    if not found then return nil end
    if found.new and not getmetatable(found) then
        setmetatable(found, { __call = constructor(name) })
    end
    strict.guard(found, 'mare.' .. name)
    return found
end

-- For sessions: all names.
local function names()
    local list = { 'root', 'version', 'commit' }
    for name in pairs(modules) do list[#list + 1] = name end
    for name in pairs(calls) do list[#list + 1] = name end
    return list
end

-- Returns the full name of the module behind a name, or nil for a function.
local function module_of(name)
    local found = modules[name] and modules[name]()
    for full_name, value in pairs(package.loaded) do
        if value == found and found and full_name:find '%.' then return full_name end
    end
end

-- root: the folder that holds Mare's own files, such as scenarios/data.
local mare = setmetatable({ version = device.version, commit = device.commit, root = home.root }, {
    __index = function(self, name)
        local found = find(name)
        if found then
            rawset(self, name, found)
        elseif type(name) == 'string' and not name:find '^_' then
            strict.refuse('mare', name, names())
        end
        return found
    end,
    __names = names,
    __module = module_of,
    __tostring = function(self)
        local list = names()
        table.sort(list)
        return ('Mare %s: %s'):format(self.version, table.concat(list, ', '))
    end,
})

require('mare.base.public').mare = mare
return mare
