-- attempt.lua - fault(f) calls f() in a copy of this process, where it may crash or never end: what
-- libhdf5 does with some damaged files, and a server that takes a call and never answers. A copy
-- costs 9 to 12 ms of processor time, a launcher of its own 30. None is made where that is not
-- Mare's to do, as in a program that embeds it, or not safe, as under MPI.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local home = require 'bindings.home'
local launch = require 'bindings.mpi_launch'
local lock = require 'bindings.lock'
local posix = require 'bindings.posix'
local signal = require 'bindings.signal'

ffi.cdef [[
    struct mare_rlimit { unsigned long now, most; };
    int fork(void);
    int waitpid(int process, int *status, int flags);
    int setrlimit(int what, const struct mare_rlimit *limit);
    unsigned alarm(unsigned seconds);
]]

local M = {}

-- In the copy nothing compiled runs: where that ends, LuaJIT goes on with a collection that has
-- come to its finalizers, whether the collector rests or not.
local function fork()
    local process = ffi.C.fork()
    if process == 0 then
        jit.off()
        jit.flush()
    end
    return process
end
jit.off(fork)

-- No other thread is inside a library when the copy is made.
local C = lock.guard { fork = fork }
local EINTR, RLIMIT_CPU, RLIMIT_CORE = 4, 0, 4
local SIGHUP, SIGINT, SIGKILL, SIGALRM, SIGTERM, SIGXCPU = 1, 2, 9, 14, 15, 24

-- Seconds of processor time that f may take, and of any time: a slow disk costs none of the first,
-- and is no fault of a file.
M.limit, M.patience = 5, 30
M.patience_with_servers = 30        -- seconds

local function limit(what, value)
    ffi.C.setrlimit(what, ffi.new('struct mare_rlimit', value, value + 1))
end

-- Returns what C's fork() does. The collector rests from before it until, in this process, after
-- it: in the copy it would release what a driver frees by its threads only, of which the copy has
-- none, and wait for ever (seen: memory that PoCL maps).
local function fork_at_rest()
    local was_running = collectgarbage 'isrunning'
    collectgarbage 'stop'
    local process = C.fork()
    if process ~= 0 and was_running then collectgarbage 'restart' end
    return process
end

-- Never returns, and frees nothing: it owns nothing.
local function run_copy(f, patience, most)
    for _, number in ipairs { SIGHUP, SIGINT, SIGALRM, SIGTERM } do posix.C.signal(number, nil) end
    ffi.C.alarm(patience)
    limit(RLIMIT_CORE, 0)
    limit(RLIMIT_CPU, most)
    pcall(f)
    posix.C._exit(0)
end

-- Returns the number of the signal that ended it, 0 if none did.
local function wait_for(process)
    local status = ffi.new 'int[1]'
    repeat
        if signal.came[0] ~= 0 then posix.C.kill(process, SIGKILL) end    -- or before the wait
        local ended = ffi.C.waitpid(process, status, 0)
        if ended ~= process and ffi.errno() ~= EINTR then return 0 end
    until ended == process
    return status[0] % 128
end

local function can_copy()
    return home.launcher and home.hold and not home.embedded and not launch.find()
end

local not_its_fault = { [0] = true, [SIGHUP] = true, [SIGINT] = true, [SIGALRM] = true,
    [SIGTERM] = true }

-- Returns in words how f() went wrong, nil if it came to an end, with an error or without, or if
-- that is not known. answer_in: seconds after which it is at fault; without it slowness is none.
function M.fault(f, answer_in)
    if not can_copy() then return nil end
    local held = home.hold(true)        -- no hook may raise in the copy
    local process = fork_at_rest()
    if process == 0 then run_copy(f, answer_in or M.patience, answer_in or M.limit) end
    local number = process > 0 and wait_for(process) or 0
    home.hold(held)
    if number > 0 and home.interrupted() then errors.interrupt() end
    if number == SIGALRM and answer_in then
        return ('does not answer within %d s'):format(answer_in)
    end
    if not_its_fault[number] then return nil end
    if number == SIGXCPU then return ('takes more than %d s'):format(M.limit) end
    return ('crashes (signal %d)'):format(number)
end

return M
