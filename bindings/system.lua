-- system.lua - what a run asks the operating system: a steady clock, and whether anyone watches.

local ffi = require 'ffi'

ffi.cdef [[
    struct mare_timespec { long seconds, nanoseconds; };
    int clock_gettime(int id, struct mare_timespec *out);
    int isatty(int fd);
    void *signal(int number, void *handler);
]]

local C = ffi.C
local CLOCK_MONOTONIC, SIGPIPE = 1, 13
local SIG_IGN = ffi.cast('void *', 1)
local time = ffi.new 'struct mare_timespec'

local M = {}

-- Seconds from an arbitrary moment, never going back.
function M.now()
    C.clock_gettime(CLOCK_MONOTONIC, time)
    return tonumber(time.seconds) + 1e-9 * tonumber(time.nanoseconds)
end

-- From here on writing to a program that has ended is an error, not the end.
function M.ignore_pipes()
    C.signal(SIGPIPE, SIG_IGN)
end

-- Whether standard error is a terminal.
function M.is_terminal()
    return C.isatty(2) == 1
end

return M
