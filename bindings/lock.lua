-- One lock for libraries that stand no two threads, shared by all states of the process: the
-- launcher and the engine have it, for a stock LuaJIT the first state makes it; workers get its
-- address with the rest of `home`. Nothing interrupts a worker or a stock LuaJIT; where something
-- does, `home.locked` is a call under the lock that no error can leave locked.

local ffi = require 'ffi'
local home = require 'bindings.home'

ffi.cdef [[
    void *calloc(size_t count, size_t size);
    int pthread_mutex_lock(void *mutex);
    int pthread_mutex_unlock(void *mutex);
]]

local C = ffi.C
local mutex_bytes = 128         -- at least; all zero is an unlocked mutex on Linux

-- Never freed: it lives as long as the process.
home.lock = home.lock or tonumber(ffi.cast('intptr_t', C.calloc(1, mutex_bytes)))
local mutex = ffi.cast('void *', ffi.cast('intptr_t', home.lock))

local M = {}

local depth = 0     -- of calls inside calls, by finalisers, in this state

local function finish(errno, ok, result)
    depth = depth - 1
    if depth == 0 then C.pthread_mutex_unlock(mutex) end
    if not ok then error(result, 0) end
    ffi.errno(errno)
    return result
end

local call = home.locked or function(f, ...)
    if depth == 0 then C.pthread_mutex_lock(mutex) end
    depth = depth + 1
    local ok, result = pcall(f, ...)
    return finish(ffi.errno(), ok, result)
end

-- The functions of a library, each under the lock for the time of its call.
function M.guard(library)
    return setmetatable({}, { __index = function(functions, name)
        local f = library[name]
        local function guarded(...) return call(f, ...) end
        functions[name] = guarded
        return guarded
    end })
end

return M
