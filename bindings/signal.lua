-- signal.lua - looks whether Ctrl-C came, for launches, waits and downloads: LuaJIT compiles
-- loops of them to code that tests no hooks (see interrupt.c). `if signal.came[0] ~= 0 then
-- signal.heed() end` leaves that code, and the interpreter does what is to be done.

local ffi = require 'ffi'
local home = require 'bindings.home'
local mare = require 'bindings.ffi'
local system = require 'bindings.system'

local C, check = mare.C, mare.check
local M = {}

local function flag(address)
    return address and ffi.cast('volatile int *', address) or ffi.new 'int[1]'
end

-- Of a home without signals: never.
M.came = flag(home.signal)

-- Whether waits go through Lua from the start: a session has to stop in a fraction of a second.
local is_typed = flag(home.typed)

function M.heed() end

local done = ffi.new 'int32_t[1]'

-- Before C waits for an event: waits in Lua, where the hook of interrupt.c can end it, if a signal
-- came or may come at any time. The looks get as rare as every millisecond.
function M.wait_for(event)
    if M.came[0] + is_typed[0] == 0 then return end
    local pause = 0
    repeat
        check(C.mare_event_query(event, done))
        if pause > 0 then system.sleep(pause) end
        pause = math.min(pause + 1e-5, 1e-3)
    until done[0] ~= 0
end

-- The same before C waits for what a stream has to do now.
function M.finish(device, stream)
    if M.came[0] + is_typed[0] == 0 then return end
    check(C.mare_stream_flush(stream))      -- which a stream that records refuses
    local made = ffi.new 'mare_event *[1]'
    check(C.mare_event_create(device, made))
    local event = ffi.gc(made[0], C.mare_event_release)
    check(C.mare_event_record(event, stream))
    check(C.mare_stream_flush(stream))
    M.wait_for(event)
end

return M
