-- Arrays on devices: numbers of one type in a box of any number of axes.
--
--     local a, b = mare.arange(12):reshape(3, 4):float(), mare.ones { 4 }
--     print((a + 2 * b):totable()[1][1], a { {0, 2}, 1 }, mare.where(a:gt(5), a, -a))
--
-- An expression is pending until it is read or written somewhere; then one kernel computes it.
-- Shapes are repeated to each other as NumPy does it. Indices begin at 0, ends are not included,
-- and both may be counted back from -1.
--
-- Types: bool, int8 to int64, uint8 to uint64, half, float, double, complex_float,
-- complex_double. Of two types the kind decides (truth values, whole numbers, reals,
-- complex numbers), then the width; a number of Lua has the type of the array that
-- it is combined with, but a fraction makes floats of whole numbers. `/` and
-- functions of reals make floats of whole numbers, too.
--
-- An array has shape, rank, count, type and device, and #a is the size of its first
-- axis. It is freed with the last variable that leads to it.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local creation = require 'mare.ndarray.creation'
local elsewhere = require 'bindings.elsewhere'
local errors = require 'bindings.errors'
local files = require 'mare.ndarray.files'
local indices = require 'mare.ndarray.indices'
local functions = require 'mare.ndarray.functions'
local joining = require 'mare.ndarray.joining'
local mapped = require 'mare.ndarray.mapped'
local nodes = require 'mare.expression.nodes'
local printing = require 'mare.ndarray.printing'
local products = require 'mare.ndarray.products'
local random = require 'mare.ndarray.random'
local shapes = require 'mare.expression.shapes'
local suggest = require 'bindings.suggest'
local tables = require 'bindings.tables'
local transfer = require 'mare.ndarray.transfer'
local views = require 'mare.ndarray.views'
require 'mare.ndarray.assign'
require 'mare.ndarray.linear'
require 'mare.ndarray.ordering'
require 'mare.ndarray.plot'
require 'mare.ndarray.reduce'

local ndarray = { new = creation.new, load = files.load }

-- Returns whether a value is an array.
function ndarray.is(value) return array.is(value) end

-- ---- what an array is to Lua ----

local methods = array.methods

local attributes = {
    shape = function(node) return shapes.copy(node.shape) end,
    rank = function(node) return node.shape.rank end,
    count = function(node) return node.shape.count end,
    type = function(node) return node.type.name end,
    device = function(node) return node.device end,
}

local function names() return tables.keys(tables.merged(methods, attributes)) end

local function no_member(key)
    if type(key) == 'number' then
        errors.argument('an array has no [%s]: a{ %s } is a view, a:at(%s) an element',
            tostring(key), tostring(key), tostring(key))
    end
    if array.is(key) then errors.argument 'an array has no [mask]: a { mask } is a copy' end
    errors.argument("an array has no '%s'%s", tostring(key),
        elsewhere.told('methods', key) or suggest(key, names()))
end

local meta = {
    __index = function(self, key)
        local method = methods[key]
        if method then return method end
        local attribute = attributes[key]
        if attribute then return (attribute(array.node(self))) end
        no_member(key)
    end,
    __newindex = function(_, key)
        errors.argument('[%s] of an array cannot be assigned: a{ ... }:assign(value) writes',
            tostring(key))
    end,
    __len = function(self) return array.node(self).shape[1] or 0 end,
    __call = function(self, places)
        if type(places) == 'table' and array.is(places[1]) then
            return indices.chosen(self, places)
        end
        return views.slice(self, places)
    end,
    __tostring = printing.text,
    __names = names,
    __help = function() return 'mare.array' end,
}

for name, metamethod in pairs(functions.meta) do meta[name] = metamethod end

bound.define(meta, nodes.release)

-- ---- what a script calls ----

for _, name in ipairs { 'zeros', 'ones', 'full', 'arange', 'linspace', 'eye' } do
    ndarray[name] = creation[name]
end
for name, f in pairs(random) do ndarray[name] = f end
ndarray.fuse, ndarray.map, ndarray.blas = transfer.fuse, mapped.map, products.blas
ndarray.concatenate, ndarray.stack = joining.concatenate, joining.stack
for name, f in pairs(functions) do
    if type(f) == 'function' then ndarray[name] = f end
end

return ndarray
