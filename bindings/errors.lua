-- errors.lua - how Mare fails in Lua: error tables { status, message, where } whose tostring()
-- reads "script.lua:12: message". `where` is the innermost stack frame outside Mare's own Lua, so
-- that the position is the user's whatever the depth of the call.

local home = require 'bindings.home'

local M = {}

local Error = {}
function Error.__tostring(self)
    return self.where and self.where .. ': ' .. self.message or self.message
end

local internal = { '@' .. home.root .. '/bindings/', '@' .. home.root .. '/lua/',
                   '@' .. home.root .. '/vendor/' }

local function is_internal(info)
    if info.what == 'C' then return true end
    for _, prefix in ipairs(internal) do
        if info.source:sub(1, #prefix) == prefix then return true end
    end
    return false
end

-- Whether the innermost Lua function from `level` up is Mare's own.
function M.is_inside(level)
    level = level + 1
    local info = debug.getinfo(level, 'S')
    while info and info.what == 'C' do
        level = level + 1
        info = debug.getinfo(level, 'S')
    end
    return info ~= nil and is_internal(info)
end

-- The user's stack frames, innermost first, as { "script.lua:12", ... }; at most `limit`.
function M.stack_frames(level, limit)
    local found = {}
    level = level + 1
    local info = debug.getinfo(level, 'Sl')
    while info and #found < (limit or math.huge) do
        if not is_internal(info) then
            found[#found + 1] = ('%s:%d'):format(info.short_src, info.currentline)
        end
        level = level + 1
        info = debug.getinfo(level, 'Sl')
    end
    return found
end

function M.raise(status, message, ...)
    if select('#', ...) > 0 then message = message:format(...) end
    local where = M.stack_frames(2, 1)[1]
    error(setmetatable({ status = status, message = message, where = where }, Error), 0)
end

-- Calls what works on files. A failure there is no fault of a script's line.
function M.on_disk(f, ...)
    local ok, failure = pcall(f, ...)
    if ok then return failure end
    if M.is(failure) then error(failure, 0) end
    M.raise('MARE_ERROR_IO', '%s', tostring(failure))
end

-- Raises a wrong argument of a Lua call.
function M.argument(message, ...)
    M.raise('MARE_ERROR_ARGUMENT', message, ...)
end

-- Refuses a table that lacks one of these fields. what: the beginning of the message
function M.needs(what, given, names)
    for _, name in ipairs(names) do
        if given[name] == nil then M.argument('%s: %s is missing', what, name) end
    end
end

-- Raises what is wrong in a text, such as that of a function, at its place there.
function M.argument_at(where, message, ...)
    error(setmetatable({ status = 'MARE_ERROR_ARGUMENT', message = message:format(...),
        where = where }, Error), 0)
end

-- A refusal of what the user typed: no position, exit status 2.
function M.usage(message, ...)
    error(setmetatable({ status = 'usage', message = message:format(...) }, Error), 0)
end

local refusals = { MARE_ERROR_ARGUMENT = true, MARE_ERROR_UNAVAILABLE = true }

-- f(...), called with the value of an option: what it refuses, or finds missing, was typed
-- wrong.
function M.option(name, f, ...)
    local ok, result = pcall(f, ...)
    if ok then return result end
    if M.is(result) and not refusals[result.status] then error(result, 0) end
    M.usage('option --%s: %s', name, M.is(result) and result.message or tostring(result))
end

-- Ends the script with success, as after --help.
function M.stop()
    error(setmetatable({ status = 'stop', message = 'stopped' }, Error), 0)
end

-- What LuaJIT calls an exception of a library. The library may hold a lock from then on.
M.foreign = 'C++ exception'

-- In words, whatever error() was called with.
function M.text(failure)
    if failure == M.foreign then
        return 'a library has failed inside, most likely for lack of memory (C++ exception)'
    elseif type(failure) == 'string' or M.is(failure) then
        return tostring(failure)
    end
    return ('error() was called with %s, not with a message'):format(tostring(failure))
end

-- Ends the script because of a signal, once it has put its files in order: exit status 130.
function M.interrupt()
    error(setmetatable({ status = 'interrupted', message = 'interrupted' }, Error), 0)
end

function M.is(value)
    return getmetatable(value) == Error
end

-- Raises an error for a value that says why it cannot be an argument of a kernel: its metatable has
-- a text `no_argument`. who: the beginning of the message
function M.check_argument(who, value)
    local meta = type(value) == 'table' and getmetatable(value)
    if type(meta) == 'table' and meta.no_argument then
        M.argument('%s: %s', who, meta.no_argument)
    end
end

-- The argument of a call, if it is of this type.
function M.wanted(what, type_name, given)
    if type(given) == type_name then return given end
    M.argument('%s: a %s is wanted, not %s', what, type_name, type(given))
end

local function sorted_keys(t)
    local keys = {}
    for key in pairs(t) do keys[#keys + 1] = tostring(key) end
    table.sort(keys)
    return table.concat(keys, ', '), keys
end

local function unknown_field(what, name, allowed)
    local list, keys = sorted_keys(allowed)
    M.argument("%s: unknown field '%s'%s (allowed: %s)", what, tostring(name),
               require 'bindings.suggest'(name, keys), list)
end

local function check_field(what, name, value, allowed)
    local rule = allowed[name]
    if not rule then
        unknown_field(what, name, allowed)
    elseif type(rule) == 'table' and rule[value] == nil then
        M.argument("%s: %s = '%s' (allowed: %s)", what, name, tostring(value),
                   (sorted_keys(rule)))
    elseif type(rule) == 'string' and rule ~= 'any' and type(value) ~= rule then
        M.argument('%s: %s must be a %s, not %s', what, name, rule, type(value))
    end
end

-- Checks the fields after `last`. LuaJIT compiles a loop that makes buffers only if no other
-- loop is in it (the spec 'is had in compiled loops'), so this one is a tail call.
local function check_fields(what, given, allowed, last)
    local name, value = next(given, last)
    if name == nil then return given end
    check_field(what, name, value, allowed)
    return check_fields(what, given, allowed, name)
end

-- Checks a table of named arguments against { name = 'type' | { value = true } | 'any' }: a
-- misspelt name must not be a silent default.
function M.fields(what, given, allowed)
    return check_fields(what, M.wanted(what, 'table', given), allowed)
end

return M
