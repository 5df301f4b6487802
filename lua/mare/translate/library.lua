-- Lists the functions of Lua's and Mare's libraries that kernels know. A function is
-- found by its value, so that a script may call it by a name of its own.

local maths = require 'mare.dialect.maths'
local operations = require 'mare.dialect.operations'
local work = require 'mare.translate.work'

local library = {}

local known, constants = {}, {}

-- The dialect has some functions of `math` under the same name. floor and ceil are
-- written in a way of their own below.
for name, f in pairs(math) do
    if type(f) == 'function' and operations[name] then known[f] = operations[name] end
end

for name, f in pairs(maths) do known[f] = operations[name] end

constants[math] = true

-- These are typed by calls.lua and written by expressions.lua, each in its own way.
for _, name in ipairs { 'floor', 'ceil', 'abs', 'min', 'max', 'pow', 'fmod' } do
    known[math[name]] = { special = name }
end
for _, name in ipairs { 'band', 'bor', 'bxor', 'bnot', 'lshift', 'rshift', 'arshift' } do
    known[bit[name]] = { special = name, is_bits = true }
end

for _, name in ipairs { 'item', 'group', 'size', 'barrier', 'shared', 'add', 'least', 'most' } do
    known[work[name]] = { special = name }
end

-- Returns the entry that operations.lua has for a function, or { special = its name },
-- or nil for functions that kernels do not know.
function library.entry(f)
    return known[f]
end

-- Returns the names of those of `math` and `bit`, in words.
function library.names()
    local list = {}
    for library_name, functions in pairs { math = math, bit = bit } do
        for name, f in pairs(functions) do
            if known[f] then list[#list + 1] = library_name .. '.' .. name end
        end
    end
    table.sort(list)
    return table.concat(list, ', ')
end

-- Whether the numbers in a table of Lua are constants.
function library.is_constant(t)
    return constants[t] == true
end

return library
