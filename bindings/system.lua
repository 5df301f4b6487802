-- system.lua - what a run asks the operating system: a steady clock, how many cores there are, and
-- whether anyone watches.

local bit = require 'bit'
local ffi = require 'ffi'
local posix = require 'bindings.posix'
local read = require 'bindings.read'

ffi.cdef [[
    struct mare_timespec { long seconds, nanoseconds; };
    int clock_gettime(int id, struct mare_timespec *out);
    int nanosleep(const struct mare_timespec *wanted, struct mare_timespec *left);
    int sched_getaffinity(int process, size_t size, void *mask);
    int getppid(void);
]]

local C = posix.C
local CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, SIGPIPE = 1, 2, 13
local SIG_IGN = ffi.cast('void *', 1)
local time = ffi.new 'struct mare_timespec'

local M = {}

-- What the environment sets; nothing where it is empty.
function M.setting(name)
    local value = os.getenv(name)
    return value ~= '' and value or nil
end

-- Seconds from an arbitrary moment, never going back.
function M.now()
    C.clock_gettime(CLOCK_MONOTONIC, time)
    return tonumber(time.seconds) + 1e-9 * tonumber(time.nanoseconds)
end

-- Seconds of cores that this process has used, in all its threads, with what the system did for it.
function M.core_seconds()
    C.clock_gettime(CLOCK_PROCESS_CPUTIME_ID, time)
    return tonumber(time.seconds) + 1e-9 * tonumber(time.nanoseconds)
end

-- Does nothing for so many seconds, or until a signal comes.
function M.sleep(seconds)
    local wanted = ffi.new 'struct mare_timespec'
    wanted.seconds = math.floor(seconds)
    wanted.nanoseconds = (seconds - math.floor(seconds)) * 1e9
    C.nanosleep(wanted, nil)
end

-- Cores that this process may use; 1 if the system does not tell.
function M.cores()
    local mask, count = ffi.new 'uint8_t[1024]', 0
    if C.sched_getaffinity(0, ffi.sizeof(mask), mask) < 0 then return 1 end
    for k = 0, 8 * ffi.sizeof(mask) - 1 do
        count = count + bit.band(bit.rshift(mask[math.floor(k / 8)], k % 8), 1)
    end
    return math.max(1, count)
end

-- The number of this process.
function M.process()
    return C.getpid()
end

local signals = { INT = 2, TERM = 15 }

-- Sends this process a signal, as a key or another program does.
function M.signal(name)
    C.kill(C.getpid(), signals[name])
end

-- The number of the process that started this one; it changes when that one ends.
function M.parent()
    return C.getppid()
end

-- Whether a process, by its number, started this one, or one that did, and still runs.
function M.descends_from(process)
    local one = C.getppid()
    while one and one ~= process do
        local status = read(('/proc/%d/stat'):format(one))
        one = status and tonumber(status:match '^.*%) %a (%d+)')
    end
    return one ~= nil
end

-- Ends this process at once, with nothing released: where a library may wait for ever in that.
function M.leave(status)
    io.stdout:flush()
    io.stderr:flush()
    C._exit(status)
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
