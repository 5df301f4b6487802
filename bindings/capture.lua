-- capture.lua - what this process prints, in Lua, in C or in a driver, and what its children print,
-- goes through pipes to who reads them:
--
--     local pipes = capture.start()       -- { out =, err = what to read; log = standard error }
--     capture.read(pipes.out)             -- what has come, or nil; any thread may do so
--     capture.stop(pipes)                 -- all as before

local ffi = require 'ffi'
local posix = require 'bindings.posix'

ffi.cdef 'int pipe2(int *fds, int flags);'

local C = posix.C
local CLOEXEC, F_DUPFD_CLOEXEC, F_SETFL, NONBLOCK, SETPIPE_SZ = 0x80000, 1030, 4, 0x800, 1031
local room_of_pipe = 2 ^ 20     -- bytes that may wait there, where the system allows that

local capture = {}

local function flag(number) return ffi.cast('int', number) end

-- Puts the end of a new pipe in the place of a descriptor; returns the end to read.
local function redirect(fd)
    local ends = ffi.new 'int[2]'
    if C.pipe2(ends, CLOEXEC) ~= 0 then error('no pipe: ' .. posix.reason(), 0) end
    C.fcntl(ends[0], F_SETFL, flag(NONBLOCK))
    C.fcntl(ends[0], SETPIPE_SZ, flag(room_of_pipe))
    C.dup2(ends[1], fd)
    C.close(ends[1])
    return ends[0]
end

function capture.start()
    io.stdout:flush()
    local pipes = { own = C.fcntl(1, F_DUPFD_CLOEXEC, flag(3)),
        log = C.fcntl(2, F_DUPFD_CLOEXEC, flag(3)) }
    pipes.out, pipes.err = redirect(1), redirect(2)
    io.stdout:setvbuf 'line'
    return pipes
end

-- Sends what Lua and C have printed and not sent yet.
function capture.flush() io.stdout:flush() end

local most = 65536
local room = ffi.new('char[?]', most)

-- Returns at most 64 KiB of what has come; nil where nothing has, or never will.
function capture.read(fd)
    local n = tonumber(C.read(fd, room, most))
    return n > 0 and ffi.string(room, n) or nil
end

-- Writes a line to standard error as it was, from any thread.
function capture.log(fd, text)
    C.write(fd, text .. '\n', #text + 1)
end

function capture.stop(pipes)
    io.stdout:flush()
    C.dup2(pipes.own, 1)
    C.dup2(pipes.log, 2)
    for _, fd in pairs(pipes) do C.close(fd) end
end

return capture
