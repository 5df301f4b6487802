-- handle.lua - what every Mare object is in Lua: a table around a C handle that the collector or
-- :release() gives back once. A released object changes its metatable, so that live objects pay
-- nothing for the check; its handle is gone, its label stays for the error message. Finalisers may
-- run in any order: core keeps the parents of a handle alive.

local ffi = require 'ffi'
local errors = require 'bindings.errors'

local M = {}

-- The handles made since scope() was called, in order; nil outside of it.
local made

M.classes = {}              -- by kind: 'buffer', 'device', 'kernel', ...
local kinds = {}            -- by metatable

local function describe(kind, object)
    local label = rawget(object, 'label') or rawget(object, 'name')
    return label and ("%s '%s'"):format(kind, label) or kind
end

-- A class of objects around handles that the C function `release` gives back. class.wrap(out,
-- fields) takes the handle in out[0] over; methods go into class.methods.
function M.class(kind, release)
    local methods = {}
    local class = { kind = kind, methods = methods }
    local live = { __index = methods, __tostring = function(self) return describe(kind, self) end }
    local dead = {
        __tostring = function(self) return describe(kind, self) .. ' (released)' end,
        __index = function(self, key)
            if key == 'release' then return function() end end
            errors.argument('%s is used after its release', describe(kind, self))
        end,
    }

    M.classes[kind], kinds[live], kinds[dead] = class, kind, kind

    function class.wrap(out, fields)
        fields.handle = ffi.gc(out[0], release)
        if made then made[#made + 1] = fields end
        return setmetatable(fields, live)
    end

    -- The handle of `object`, for a C call that wants one of this class.
    function class.handle(object, what)
        local meta = getmetatable(object)
        if meta ~= live and meta ~= dead then
            errors.argument('%s: a %s is wanted, not %s', what, kind, tostring(object))
        end
        return object.handle
    end

    function class.is(object)
        local meta = getmetatable(object)
        return meta == live or meta == dead
    end

    -- Lets an object be called: f(object, ...).
    function class.on_call(f)
        live.__call = f
    end

    -- Lets f(object, name) have a word where a field is assigned that an object does not have.
    function class.on_assign(f)
        live.__newindex = f
    end

    -- Gives the handle back now rather than with its last reference. Using it afterwards is an
    -- error.
    function methods:release()
        release(ffi.gc(self.handle, nil))
        self.handle = nil
        setmetatable(self, dead)
    end

    return class
end

-- "buffer 'rho'" from { label = 'rho' }, for a message before there is an object.
function M.title(kind, options)
    return type(options) == 'table' and describe(kind, options) or kind
end

-- Every handle that can be reached from `value` through tables gets into `found`.
local function reach(value, found)
    if type(value) ~= 'table' or found[value] then return end
    found[value] = true
    for key, field in next, value do
        reach(key, found)
        reach(field, found)
    end
end

local function finish(outer, ok, ...)
    local inner, kept = made, {}
    made = outer
    if ok then reach({ ... }, kept) end
    for i = #inner, 1, -1 do
        local object = inner[i]
        if not kept[object] then
            object:release()
        elseif outer then
            outer[#outer + 1] = object
        end
    end
    if not ok then error((...), 0) end
    return ...
end

-- Calls f(...) and returns what it returns; every handle made meanwhile is released, but for those
-- that the results lead to.
function M.scope(f, ...)
    errors.wanted('scope', 'function', f)
    local outer = made
    made = {}
    return finish(outer, pcall(f, ...))
end

-- The kind of a handle, nil of anything else; and whether it is released.
function M.kind(object)
    local kind = type(object) == 'table' and kinds[getmetatable(object)] or nil
    return kind, kind and rawget(object, 'handle') == nil
end

-- A whole number >= 0 that C can take as uint64_t; `what` and `name` are for the message.
function M.whole(value, what, name)
    if type(value) ~= 'number' or value < 0 or value % 1 ~= 0 or value >= 2^53 then
        errors.argument('%s: a whole number from 0 below 2^53 is wanted, not %s',
                        name and what .. ': ' .. name or what, tostring(value))
    end
    return value
end

return M
