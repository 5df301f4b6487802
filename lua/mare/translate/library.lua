-- The functions of Lua's and Mare's libraries that kernels know, by their values,
-- so that a name of the script's own for one of them serves as well.

local maths = require 'mare.dialect.maths'
local operations = require 'mare.dialect.operations'
local work = require 'mare.translate.work'

local library = {}

local known, constants = {}, {}

-- Those of `math` that the dialect has under the same name. floor and ceil are
-- operators of the writer.
for name, f in pairs(math) do
    if type(f) == 'function' and operations[name] then known[f] = operations[name] end
end

for name, f in pairs(maths) do known[f] = operations[name] end

constants[math] = true

-- Functions that are written in a way of their own: see calls.lua.
for _, name in ipairs { 'floor', 'ceil', 'abs', 'min', 'max', 'pow', 'fmod' } do
    known[math[name]] = { special = name }
end
for _, name in ipairs { 'band', 'bor', 'bxor', 'bnot', 'lshift', 'rshift', 'arshift' } do
    known[bit[name]] = { special = name, is_bits = true }
end

for _, name in ipairs { 'item', 'group', 'size', 'barrier', 'shared', 'add' } do
    known[work[name]] = { special = name }
end

-- Returns the entry of operations.lua of a function or { special = its name }, or
-- nil for other functions.
function library.entry(f)
    return known[f]
end

-- Whether the numbers in a table of Lua are constants.
function library.is_constant(t)
    return constants[t] == true
end

return library
