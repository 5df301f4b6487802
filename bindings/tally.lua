-- tally.lua - a count that processes of one machine share: each that adds one learns how many there
-- are, and so who was first, even if that one has ended since. It is a file in memory, which is
-- gone with the last process that has it open. A tally is a number, which any thread may use.

local ffi = require 'ffi'
local files = require 'bindings.files'
local posix = require 'bindings.posix'
local system = require 'bindings.system'

local C = posix.C
local O_RDWR, O_APPEND, O_CLOEXEC, SEEK_CUR = 2, 0x400, 0x80000, 1

local M = {}

-- Returns a new tally as what open() wants, { path, name }, and a function that gives it up.
function M.new()
    local name = ('mare %d %.9f'):format(system.process(), system.now())
    local path, close = files.in_memory(name)
    return { path = path, name = name }, close
end

-- Opens a tally that a process of this machine has made; nil if that cannot be reached.
function M.open(made)
    local fd = C.open(made.path, O_RDWR + O_APPEND + O_CLOEXEC)
    if fd < 0 then return nil end
    local found = posix.target('/proc/self/fd/' .. fd)
    if found == '/memfd:' .. made.name .. ' (deleted)' then return fd end
    C.close(fd)         -- what has this number in a container of its own
end

-- Adds one. Returns the count up to it.
function M.add(tally)
    C.write(tally, ffi.cast('const char *', '+'), 1)
    return tonumber(C.lseek(tally, 0, SEEK_CUR))
end

return M
