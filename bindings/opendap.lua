-- opendap.lua - fetch{} reads what a server gives by OPeNDAP, in a copy of this process with a
-- connection of its own. Of data that end too early NetCDF-C (4.9.0 to 4.9.3) says so on standard
-- error alone, and gives zeros as if it had read them; where a server stops in their midst, libcurl
-- waits for half an hour, and signals wait with it. What the copy prints is looked at, and it can
-- be ended. Where no copy may be made (attempt.lua) the same is done here, and waits.

local ffi = require 'ffi'
local attempt = require 'bindings.attempt'
local posix = require 'bindings.posix'

ffi.cdef 'struct mare_fetched { int state, size; char text[504]; };'

local M = {}

local C = posix.C
local DONE, FAILED = 1, 2
local F_DUPFD_CLOEXEC, MFD_CLOEXEC, READ_WRITE, SHARED_ANONYMOUS = 1030, 1, 3, 0x21

M.least_rate = 65536        -- bytes a second that a server has to send, beside its time to answer

-- Returns what f() prints on standard error, beside what pcall(f) returns.
local function listen(f)
    local text = ffi.new 'char[504]'
    local file, usual = C.memfd_create('errors', MFD_CLOEXEC), C.fcntl(2, F_DUPFD_CLOEXEC, 3)
    C.dup2(file, 2)
    local ok, reason = pcall(f)
    C.dup2(usual, 2)
    C.lseek(file, 0, 0)
    local size = C.read(file, text, 504)
    C.close(file)
    C.close(usual)
    return size > 0 and ffi.string(text, size) or '', ok, reason
end

local function read_into(fetched, memory, what)
    local said, ok, reason = listen(function() what.read(memory) end)
    said = said:match 'Error:%s*([^\n]+)' or said:match 'ERR:%s*([^\n]+)'
    local wrong = not ok and tostring(reason) or said and what.name .. ': ' .. said
    local text = (wrong or ''):sub(1, 504)
    ffi.copy(fetched.text, text, #text)
    fetched.size, fetched.state = #text, wrong and FAILED or DONE
end

-- what: read(memory), which puts `bytes` bytes there or raises; name, for errors. Copies the bytes
-- to data, or raises what went wrong.
function M.fetch(what, data)
    local size = ffi.sizeof 'struct mare_fetched' + what.bytes
    local shared = C.mmap(nil, size, READ_WRITE, SHARED_ANONYMOUS, -1, 0)
    if ffi.cast('intptr_t', shared) == -1 then error(what.name .. ': there is no memory', 0) end
    local fetched = ffi.cast('struct mare_fetched *', shared)
    local memory = fetched + 1
    local patience = math.floor(attempt.patience_with_servers + what.bytes / M.least_rate)
    local fault = attempt.fault(function() read_into(fetched, memory, what) end, patience)
    if not fault and fetched.state == 0 then read_into(fetched, memory, what) end
    local state, text = fetched.state, ffi.string(fetched.text, fetched.size)
    if state == DONE then ffi.copy(data, memory, what.bytes) end
    C.munmap(shared, size)
    if fault then error(what.name .. ': the server ' .. fault, 0) end
    if state ~= DONE then error(text, 0) end
end

return M
