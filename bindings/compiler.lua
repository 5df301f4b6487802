-- compiler.lua - programs that threads of core compile ahead of their use, and waiting for them.
--
-- While Lua waits for a compiler it looks for Ctrl-C, and `M.hear(done, count)` is called now and
-- then: of `count` programs that were begun together, `done` are compiled. When it waits no longer
-- that is called with nil, nil and whether all are compiled. A run may not be left in its midst:
-- `M.patiently(f, ...)` calls f, in which a signal is only noted until the compiler is done, for
-- the run to end in order.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local home = require 'bindings.home'
local mare = require 'bindings.ffi'
local system = require 'bindings.system'

local C = mare.C
local hold = home.hold or function() end        -- of a worker: nothing interrupts it
local M = { hear = function() end, was_left = false }       -- was_left: by an interrupt

local look = 50                     -- milliseconds between two looks
local patience = 0                  -- calls of patiently() within each other
local begun = 0                     -- programs since the last time that none was compiled
local done = ffi.new 'int32_t[1]'
local is_done = ffi.new 'int32_t[1]'

-- ---- which programs ----

local function define_words(defines)
    local words = {}
    for name, value in pairs(defines or {}) do
        words[#words + 1] = tostring(name) .. '=' .. tostring(value)
    end
    table.sort(words)
    return table.concat(words, '\0')
end

-- What tells the table of one program from that of another.
function M.key(desc)
    return table.concat({ desc.name or '', desc.language or '', desc.math or '',
        desc.options or '', desc.source, table.concat(desc.include_paths or {}, '\n'),
        define_words(desc.defines) }, '\0')
end

-- ---- waiting ----

-- To be called before a program is begun.
function M.count()
    if C.mare_program_pending() == 0 then begun = 0 end
    begun = begun + 1
end

local function tell()
    M.hear(math.max(0, begun - tonumber(C.mare_program_pending())), begun)
end

local function heed()
    if not home.interrupted() then return end
    M.was_left = true
    errors.interrupt()
end

-- Until look_once() returns true.
local function wait(look_once)
    if look_once() then return end
    local was_held = hold(true)
    local may_leave = not was_held and patience == 0
    if may_leave then hold(false) end
    local ok, failure = pcall(function()
        repeat
            tell()
            if may_leave then heed() end
        until look_once()
    end)
    pcall(M.hear, nil, nil, C.mare_program_pending() == 0)
    if not was_held then hold(false) end
    if not ok then error(failure, 0) end
end

-- Waits for the compiler of a program, and returns the status of core.
function M.finish(program)
    local status
    wait(function()
        status = C.mare_program_wait(program, look, done)
        return status ~= 0 or done[0] ~= 0
    end)
    return status
end

-- Waits until a device has done what it was given: PoCL compiles at the first launch.
function M.await(device)
    local event, pause = device:event(), 1e-4
    event:record()
    device.stream:flush()
    local since = system.now()
    wait(function()
        repeat
            mare.check(C.mare_event_query(event.handle, is_done))
            if is_done[0] ~= 0 then return true end
            system.sleep(pause)
            pause = math.min(2 * pause, 5e-3)
        until system.now() - since >= look / 1000
        since = system.now()
    end)
    event:release()
end

local function leave_patience(ok, ...)
    patience = patience - 1
    if not ok then error((...), 0) end
    return ...
end

-- Returns what f(...) returns.
function M.patiently(f, ...)
    patience = patience + 1
    return leave_patience(pcall(f, ...))
end

return M
