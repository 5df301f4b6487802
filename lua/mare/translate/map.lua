-- A function of numbers as a kernel over arrays of equal length: the kernel calls it for each
-- element, one of each array.
--
--     local f = map.new(function(u, v) return u * u + math.sin(v) end)
--     local made = f:on(device, { buffer, 2.5 }, count)       -- made.results: types in memory
--     made:run(outputs, { buffer, 2.5 }, count)

local errors = require 'bindings.errors'
local resolve = require 'mare.parse.resolve'
local signature = require 'mare.translate.signature'
local source = require 'mare.base.source'
local unit = require 'mare.translate.unit'

local map = {}

local Map, Made = {}, {}
Map.__index, Made.__index = Map, Made

-- f: a function of Lua. options: { name = what messages call it, math = 'strict', 'fast' or
-- 'relaxed' ('strict') }
function map.new(f, options)
    if type(f) ~= 'function' then
        errors.argument('mare.map: a function is wanted, not %s', type(f))
    end
    options = errors.fields('mare.map', options or {}, { name = 'string',
        math = { strict = true, fast = true, relaxed = true } })
    resolve.of(f)                               -- what no kernel can do is told at once
    return setmetatable({ f = f, options = options, compiled = {},
        name = options.name or 'map' }, Map)
end

-- Returns the types of the arguments as kernels take them.
local function types_of(self, given)
    local parameters, list, real = resolve.of(self.f).parameters, {}, signature.real(given)
    if #parameters ~= #given then
        errors.argument('%s: %d arguments are wanted, not %d', self.name, #parameters, #given)
    end
    for k, symbol in ipairs(parameters) do
        list[k] = signature.of(self.name, symbol, given[k], real)
    end
    return list, real
end

local function fits(made, device, given)
    if made.on ~= device or #made.types ~= #given then return false end
    for k, type in ipairs(made.types) do
        if not signature.fits(type, given[k]) then return false end
    end
    return true
end

local function compile(self, device, given)
    local types, real = types_of(self, given)
    local made = setmetatable(unit.map(self.f, types, self.name), Made)
    made.types, made.on = types, device
    for k, type in ipairs(made.results) do
        made.results[k] = type == 'real' and real or type
    end
    made.kernel = device:program(source.text(made.text, self.name, {
        defines = { MARE_REAL = real }, math = self.options.math })):kernel(made.name)
    return made
end

-- Returns what is compiled for these arguments, buffers and numbers. Its `results` are the types of
-- the arrays that it writes, its `source` is the text in the dialect.
function Map:on(device, given)
    for _, made in ipairs(self.compiled) do
        if fits(made, device, given) then return made end
    end
    local made = compile(self, device, given)
    self.compiled[#self.compiled + 1] = made
    return made
end

-- Queues it for `count` elements.
function Made:run(outputs, given, count)
    if count == 0 then return end
    local values = { global = count }
    for _, argument in ipairs(self.arguments) do
        local value = argument.output and outputs[argument.output]
            or argument.parameter and given[argument.parameter]
            or argument.capture and argument.capture.value()
        if argument.is_count then value = count end
        values[argument.name] = value
    end
    local launch = self.kernel:bind(values)
    launch:run()
    launch:release()
end

return map
