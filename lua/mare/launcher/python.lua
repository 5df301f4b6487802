-- python.lua - the Lua side of the Python package mare (bindings/python): runs texts and
-- calls for it, and keeps the objects that Python has got, each by a number.
--
-- Arguments come as JSON, beside values that JSON cannot hold, which it refers to:
-- { r = 2 } is the second of those, { o = 7 } object 7, { t = list, n = length } and
-- { k = keys, v = values } are tables. Each function returns a text with a letter for each
-- result, `r` for one that C can have, `o` and `a` for the number of an object or an array, and
-- then those.

local arrays = require 'mare.launcher.python_arrays'
local complete = require 'mare.session.complete'
local display = require 'mare.notebook.display'
local draw = require 'mare.draw'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local help = require 'mare.session.help'
local home = require 'bindings.home'
local inspect = require 'mare.session.inspect'
local json = require 'mare.base.json'
local mare = require 'mare'
local values_of_c = require 'bindings.values'
require 'mare.session.repl'     -- whose words help knows

local python = {}

-- Progress comes as events; as lines it would come twice.
local told_twice = { progress = true, compiling = true }
local log = home.listeners[1]
local hear = log.hear
function log.hear(event)
    if not told_twice[event.kind] then hear(event) end
end

-- A notebook of Python shows a picture that a cell returns.
draw.presenter = function() return false end

local objects, last = {}, 0

-- ---- values ----

local function decoded(value, raw)
    if type(value) ~= 'table' then return value end
    if value.r then return raw[value.r] end
    if value.o then return objects[value.o] end
    local table = {}
    for k = 1, value.n or 0 do table[k] = decoded(value.t[k], raw) end
    for k, key in ipairs(value.k or {}) do table[decoded(key, raw)] = decoded(value.v[k], raw) end
    return table
end

-- Returns the arguments behind JSON, and how many there are.
local function arguments(text, ...)
    local list, raw, values = json.decode(text), { ... }, {}
    for k = 1, list.n do values[k] = decoded(list.t[k], raw) end
    return values, list.n
end

local simple = { ['nil'] = true, boolean = true, number = true, string = true }

local function is_list_of_numbers(value)
    local count = #value
    if count == 0 or debug.getmetatable(value) then return false end
    for k = 1, count do
        if type(value[k]) ~= 'number' then return false end
    end
    for _ in next, value do count = count - 1 end
    return count == 0
end

local function is_passable(value)
    local kind = type(value)
    if simple[kind] then return true end
    if kind == 'table' and is_list_of_numbers(value) then return true end
    local is_memory = kind == 'cdata' or kind == 'table' and handle.kind(value) == 'buffer'
    return is_memory and values_of_c.export(value) ~= nil
end

-- Returns the number of an object that Python gets.
local function kept(value)
    last = last + 1
    objects[last] = value
    return last
end

local function results(...)
    local letters, values = {}, { ... }
    for k = 1, select('#', ...) do
        local is_array = arrays.is(values[k])
        letters[k] = is_array and 'a' or is_passable(values[k]) and 'r' or 'o'
        if is_array then arrays.settle(values[k]) end
        if letters[k] ~= 'r' then values[k] = kept(values[k]) end
    end
    return table.concat(letters), unpack(values, 1, select('#', ...))
end

function python.release(id) objects[id] = nil end

-- Returns how many objects Python has.
function python.count()
    local count = 0
    for _ in pairs(objects) do count = count + 1 end
    return count
end

-- ---- calls ----

-- Runs a text, to which the arguments are `...`. What an expression gives is no tail call's, in
-- which an error would have no line.
function python.run(text, name, ...)
    local chunk, problem = loadstring('return nil, ' .. text, name)
    local first = chunk and 2 or 1
    if not chunk then chunk, problem = loadstring(text, name) end
    if not chunk then errors.argument('%s', problem) end
    local values, count = arguments(...)
    return results(select(first, chunk(unpack(values, 1, count))))
end

-- Whether the functions of a table are called without it: those of a module.
local function is_module(value)
    if value == mare or type(value) ~= 'table' then return value == mare end
    for _, module in pairs(package.loaded) do
        if module == value then return true end
    end
    return debug.getmetatable(value) == nil
end

-- Calls an object, or its method of this name.
function python.call(id, method, ...)
    local object, values, count = objects[id], arguments(...)
    if method == '' then return results(object(unpack(values, 1, count))) end
    local f = object[method]
    if is_module(object) then return results(f(unpack(values, 1, count))) end
    return results(f(object, unpack(values, 1, count)))
end

-- Returns whether object[key] is something to be called, and its value if it is not.
function python.get(id, ...)
    local value = objects[id][arguments(...)[1]]
    if type(value) == 'function' then return 'f' end
    return results(value)
end

function python.set(id, ...)
    local values = arguments(...)
    objects[id][values[1]] = values[2]
    return results()
end

-- ---- what an object is ----

-- Returns the object of a name of the table `mare`.
function python.module() return results(mare) end

function python.names(id) return table.concat(complete.names(objects[id]), '\n') end

-- An array that cannot be computed is an error, which inspect makes a part of the text.
function python.text(id)
    if arrays.is(objects[id]) then objects[id]:eval() end
    return inspect.show(objects[id])
end

function python.length(id) return #objects[id] end

function python.help(name) return (help.text(name)) end

function python.help_of(id) return (help.text(objects[id])) end

local most_pairs = 100      -- that are returned at once

-- Returns keys and values of a table, one after the other, behind the first `past` of these pairs;
-- nothing where there are no more.
function python.pairs(id, past)
    local list, count, place = {}, 0, 0
    for key, value in pairs(objects[id]) do
        place = place + 1
        if place > past then
            list[count + 1], list[count + 2] = key, value
            count = count + 2
        end
        if count == 2 * most_pairs then break end
    end
    return results(unpack(list, 1, count))
end

-- Returns the bytes of the picture that a notebook shows of an object; '' if there is none.
function python.picture(id)
    local object = objects[id]
    local meta = debug.getmetatable(object)
    local make = type(meta) == 'table' and rawget(meta, '__mime')
    return make and make(object)['image/png'] or ''
end

-- Returns the object as HTML; '' if it is no table of rows.
function python.html(id) return display.table(objects[id]) or '' end

-- Returns the numbers of a field of a simulation, and its shape, the last axis the fastest.
function python.field(id)
    local object = objects[id]
    if type(object) == 'table' and object.nx and object.ny and object.data then
        return object.data, object.ny, object.nx
    end
    errors.argument('numpy: %s has no numbers: an array or a field is wanted',
        inspect.show(object):match '^[^\n]*')
end

-- ---- arrays ----

-- Does an operation of python_arrays.lua.
function python.operate(name, ...)
    local values, count = arguments(...)
    return results(arrays.operations[name](unpack(values, 1, count)))
end

-- Returns a new array. Arguments: the bytes, the shape, the name of the device
function python.upload(type_name, ...)
    local values = arguments(...)
    return results(arrays.upload(type_name, values[1], values[2], values[3]))
end

-- Returns the number of an array in the memory of a buffer.
function python.adopt(buffer, ...) return kept(arrays.adopt(buffer, { ... })) end

-- Returns a buffer on the device of a name.
function python.place(...) return results(arrays.place(arguments(...)[1])) end

function python.about(id) return arrays.about(objects[id]) end

function python.array(id) return arrays.bytes(objects[id]) end

function python.buffer(id) return arrays.buffer(objects[id]) end

return python
