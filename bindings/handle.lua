-- handle.lua - what every Mare object is in Lua: a table around a C handle that the garbage
-- collector or :release() gives back once. A released object changes its metatable, so that
-- live objects pay nothing for the check; its handle is gone, its label stays for the error
-- message. Handles may be given back in any order: core keeps the parents of a handle alive.
--
-- A handle belongs to a cell of C memory with a finalizer. The cell exists before C writes the
-- handle into it, so that neither Ctrl-C nor a lack of memory on the way to the finished object
-- loses one. The object refers to the cell: copies of the pointer do not keep the handle alive.

local ffi = require 'ffi'
local errors = require 'bindings.errors'

local M = {}

-- The handles made since scope() was called, in order; nil outside of it.
local made

-- ---- classes ----

M.classes = {}              -- by kind: 'buffer', 'device', 'kernel', ...
local kinds = {}            -- by metatable

local function describe(kind, object)
    local label = rawget(object, 'label') or rawget(object, 'name')
    return label and ("%s '%s'"):format(kind, label) or kind
end

-- Makes cells for handles of a C type, each with a finalizer.
local function cells(c_type, release)
    local cell = ffi.typeof(c_type .. ' *[1]')
    -- To read the handle takes memory. Where there is none the finalizer fails, and has to be
    -- set again for the next cycle of the collector.
    local function finalize(owner)
        ffi.gc(owner, finalize)
        local pointer = owner[0]
        ffi.gc(owner, nil)
        if pointer ~= nil then release(pointer) end
    end
    return function() return ffi.gc(cell(), finalize) end
end

-- The metatables of objects that have their handle, and of those that are released.
local function metatables(kind, methods)
    local live = { __index = methods, __tostring = function(self) return describe(kind, self) end }
    local dead = {
        __tostring = function(self) return describe(kind, self) .. ' (released)' end,
        __index = function(self, key)
            if key == 'release' then return function() end end
            errors.argument('%s is used after its release', describe(kind, self))
        end,
    }
    return live, dead
end

-- Elements are read and written by other means than a number in brackets, which would be a key of
-- the table that nobody reads.
local function refuse_elements(kind, live, methods)
    setmetatable(methods, { __index = function(_, key)
        if type(key) == 'number' then errors.argument('%s: there is no [%s]', kind, key) end
    end })

    function live.__newindex(object, key, value)
        if type(key) == 'number' then
            errors.argument('%s: [%s] cannot be assigned', describe(kind, object), key)
        end
        rawset(object, key, value)
    end
end

local function add_makers(class, live)
    function class.wrap(owner, fields)
        fields.handle, fields.owner = owner[0], owner
        setmetatable(fields, live)
        if made then made[#made + 1] = fields end
        return fields
    end

    -- The object of a handle that others hold, too.
    function class.share(pointer, retain, fields)
        local owner = class.own()
        retain(pointer)
        owner[0] = pointer
        return class.wrap(owner, fields)
    end
end

local function add_questions(class, live, dead)
    function class.is(object)
        local meta = getmetatable(object)
        return meta == live or meta == dead
    end

    -- The handle of `object`, for a C call that wants one of this class.
    function class.handle(object, what)
        if not class.is(object) then
            errors.argument('%s: a %s is wanted, not %s', what, class.kind, tostring(object))
        end
        return object.handle
    end
end

-- A class of objects around handles of a C type that the C function `release` gives back.
-- class.own() is a cell for C to write a handle to, class.wrap(owner, fields) makes `fields` the
-- object of the handle in it. Methods go into class.methods.
function M.class(kind, c_type, release)
    local methods = {}
    local live, dead = metatables(kind, methods)
    local class = { kind = kind, methods = methods, own = cells(c_type, release),
        path = debug.getinfo(2, 'S').source:match '^@(.*)' }    -- of the file that describes it
    M.classes[kind], kinds[live], kinds[dead] = class, kind, kind
    refuse_elements(kind, live, methods)
    add_makers(class, live)
    add_questions(class, live, dead)

    -- Lets an object be called: f(object, ...).
    function class.on_call(f) live.__call = f end

    -- Lets f(object, name) have a word where a field is assigned that an object does not have.
    function class.on_assign(f) live.__newindex = f end

    -- Gives the handle back now rather than with its last reference. Using it afterwards is an
    -- error.
    function methods:release()
        local pointer, owner = self.handle, self.owner
        setmetatable(self, dead)
        self.handle, self.owner = nil, nil
        ffi.gc(owner, nil)
        release(pointer)
    end

    return class
end

-- "buffer 'rho'" from { label = 'rho' }, for a message before there is an object.
function M.title(kind, options)
    return type(options) == 'table' and describe(kind, options) or kind
end

-- Every handle that can be reached from `value` through tables, as the keys of a table.
local function reach(value)
    local found, waiting = {}, { value }
    local function add(one)
        if type(one) == 'table' and not found[one] then waiting[#waiting + 1] = one end
    end
    while waiting[1] do
        local next_one = table.remove(waiting)
        found[next_one] = true
        for key, field in next, next_one do
            add(key)
            add(field)
        end
    end
    return found
end

local function finish(inner, ok, ...)
    local kept = ok and reach { ... } or {}
    for i = #inner, 1, -1 do
        local object = inner[i]
        if not kept[object] then
            object:release()
        elseif made then
            made[#made + 1] = object
        end
    end
    if not ok then error((...), 0) end
    return ...
end

-- Between a yield out of a scope and the resume what is made is not the scope's, so that the
-- thread goes on in one of its own.
local enter
local depth, deepest = 0, 1000      -- of coroutines within each other, each on the stack of C

local function leave(thread, inner, outer, ok, ...)
    made, depth = outer, depth - 1
    if coroutine.status(thread) ~= 'suspended' then return finish(inner, ok, ...) end
    if coroutine.isyieldable() then return enter(thread, inner, coroutine.yield(...)) end
    return finish(inner, false, 'scope: a yield in it, and no coroutine around it')
end

function enter(thread, inner, ...)
    if depth == deepest then
        return finish(inner, false, ('scope: more than %d within each other'):format(deepest))
    end
    local outer = made
    made, depth = inner, depth + 1
    return leave(thread, inner, outer, coroutine.resume(thread, ...))
end

-- Calls f(...) and returns what it returns; every handle made meanwhile is released, but for
-- those that the results lead to.
function M.scope(f, ...)
    errors.wanted('scope', 'function', f)
    return enter(coroutine.create(f), {}, ...)
end

-- For the end of all that runs, where Ctrl-C or a lack of memory may have cut a scope short:
-- what is made from now on is of no scope.
function M.recover()
    made, depth = nil, 0
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
