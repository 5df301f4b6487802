-- Tests that the lock around libraries that are not thread-safe is released
-- after every error.

local ffi = require 'ffi'
local home = require 'bindings.home'
local lock = require 'bindings.lock'

ffi.cdef 'int pthread_mutex_trylock(void *mutex);'

local mutex = ffi.cast('void *', ffi.cast('intptr_t', home.lock))

local function is_free()
    if ffi.C.pthread_mutex_trylock(mutex) ~= 0 then return false end
    ffi.C.pthread_mutex_unlock(mutex)
    return true
end

describe('a call under the lock', function()
    local library = lock.guard {
        held = function() return not is_free() end,
        fail = function(what) error(what, 0) end,
        set = function(number) ffi.errno(number) end,
    }

    it('is locked, and gives back what the library gives', function()
        assert.is_true(library.held())
        assert.same({ false, 'broken' }, { pcall(library.fail, 'broken') })
        library.set(7)
        assert.equal(7, ffi.errno())
        assert.is_true(is_free())
    end)

    it('may come inside another one, of a finaliser', function()
        local was_held
        local collecting = lock.guard {
            collect = function()
                ffi.gc(ffi.new 'char[1]', function() was_held = library.held() end)
                collectgarbage()
            end,
        }
        collecting.collect()
        assert.is_true(was_held)
        assert.is_true(is_free())
    end)

    it('leaves it free when it is interrupted at any instruction', function()
        local interrupted, hook, raise = 0, debug.sethook, error
        for count = 1, 60 do
            local ok = pcall(function()
                hook(function() hook() raise 'interrupted' end, '', count)
                library.set(count)
                hook()
            end)
            hook()
            interrupted = interrupted + (ok and 0 or 1)
            assert.is_true(is_free(), 'after ' .. count)
        end
        assert.is_true(interrupted > 3 and interrupted < 60, interrupted)
    end)
end)
