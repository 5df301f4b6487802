-- handle.lua - what every Mare object is in Lua: a table around a C handle that the collector or
-- :release() gives back once. A released object changes its metatable, so that live objects pay
-- nothing for the check; its handle is gone, its label stays for the error message. Handles may be
-- given back in any order: core keeps the parents of a handle alive.
--
-- Objects have no finalisers of their own, which cost LuaJIT more than a buffer costs core: each
-- has a slot in a weak table, and when the collector has run, the handles of empty slots go. So a
-- handle lives as long as its object, not as long as a copy of the pointer.

local ffi = require 'ffi'
local errors = require 'bindings.errors'

local M = {}

-- The handles made since scope() was called, in order; nil outside of it.
local made

-- ---- slots ----

-- The collector may end a cycle, and so give back what died, wherever something is made, and where
-- compiled code is left, which is anywhere. While slots change hands it leaves that to the next.
-- Ctrl-C may end a function here after any instruction of it: that may leave a handle to the end of
-- the process, but no slot to two objects, none without an array behind it, and no handle given
-- back that can still be used.
local slots = 0
local objects = setmetatable({}, { __mode = 'v' })      -- false: the slot is free, nil: it died
local releases = {}
local handles = ffi.new('void *[?]', 1)
local free, free_count = nil, 0
local busy = false

local function put_free(slot)
    objects[slot] = false
    free[free_count] = slot
    free_count = free_count + 1
end

local function grow()
    local wanted = math.max(64, 2 * slots)
    local more = ffi.new('void *[?]', wanted + 1)
    ffi.copy(more, handles, (slots + 1) * ffi.sizeof 'void *')
    free = ffi.new('int32_t[?]', wanted)
    handles = more
    for slot = slots + 1, wanted do
        objects[slot], releases[slot] = false, false
        slots = slot
        put_free(slot)
    end
end

-- Room for the next one is made here, where this one has a slot and so is given back if there is no
-- memory.
local function take_slot(object, pointer, release)
    busy = true
    if free_count == 0 then grow() end
    free_count = free_count - 1
    local slot = free[free_count]
    handles[slot], releases[slot] = pointer, release
    objects[slot] = object
    object.slot = slot
    if free_count == 0 then grow() end
    busy = false
end

local function free_slot(slot)
    busy = true
    put_free(slot)
    busy = false
end

-- Holds a piece of garbage until the collector finds what has died: then nil, as objects are.
local witness = setmetatable({}, { __mode = 'v' })

-- Gives back the handles of objects that have died.
local function give_back()
    witness[1] = {}
    busy = true
    for slot = 1, slots do
        if objects[slot] == nil then
            local release, pointer = releases[slot], handles[slot]
            put_free(slot)
            release(pointer)
        end
    end
    busy = false
end

-- Set on a piece of garbage, this tells that the collector has been at work. It is set anew first,
-- and on the same piece, for which there is memory.
local function watch(piece)
    ffi.gc(piece, watch)
    if not (witness[1] or busy) then give_back() end
end
watch(ffi.new 'char[1]')

-- What is left when the Lua state closes, and this with it.
getmetatable(objects).closing = ffi.gc(ffi.new 'char[1]', function()
    for slot = 1, slots do
        if objects[slot] ~= false then
            objects[slot] = false
            releases[slot](handles[slot])
        end
    end
end)

-- Runs the collector until it knows what has died, which is given back here, in compiled code,
-- since LuaJIT compiles nothing in a finaliser. To sweep is left for later: it goes on in small
-- steps, and new objects find the memory of old ones in the caches. Steps (KiB) grow, so that they
-- end whatever the heap does meanwhile.
function M.collect()
    if not witness[1] then give_back() end
    local ends, size = 0, 16
    while witness[1] and ends < 2 do
        if collectgarbage('step', size) then ends = ends + 1 end
        size = 1.25 * size
    end
    give_back()
end
jit.off(M.collect)      -- as a trace the loop may step for ever without the end of a cycle

-- ---- classes ----

M.classes = {}              -- by kind: 'buffer', 'device', 'kernel', ...
local kinds = {}            -- by metatable

local function describe(kind, object)
    local label = rawget(object, 'label') or rawget(object, 'name')
    return label and ("%s '%s'"):format(kind, label) or kind
end

-- Per class: gives back a handle that C has made and nobody has taken over.
local give_back_new = {}

-- A class of objects around handles that the C function `release` gives back. class.wrap(out,
-- fields) takes the handle in out[0] over, `out` always the same; methods go into class.methods.
function M.class(kind, release)
    local methods, cell = {}, nil
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
        cell = cell or out
        local pointer = out[0]
        out[0] = nil
        take_slot(fields, pointer, release)
        fields.handle = pointer
        setmetatable(fields, live)
        if made then made[#made + 1] = fields end
        return fields
    end

    give_back_new[#give_back_new + 1] = function()
        local pointer = cell and cell[0] or nil
        if pointer == nil then return end
        cell[0] = nil
        release(pointer)
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
        local pointer, slot = self.handle, self.slot
        setmetatable(self, dead)
        self.handle, self.slot = nil, nil
        free_slot(slot)
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
    local function add(part)
        if type(part) == 'table' and not found[part] then waiting[#waiting + 1] = part end
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

-- Between a yield out of a scope and the resume what is made is not the scope's, so that the thread
-- goes on in one of its own.
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

-- Calls f(...) and returns what it returns; every handle made meanwhile is released, but for those
-- that the results lead to.
function M.scope(f, ...)
    errors.wanted('scope', 'function', f)
    return enter(coroutine.create(f), {}, ...)
end

-- For the end of all that runs, where Ctrl-C or want of memory may have cut a scope, a change of
-- slots or the making of an object short: what is made from now on is of no scope.
function M.recover()
    made, depth, busy = nil, 0, false
    for _, f in ipairs(give_back_new) do f() end
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
