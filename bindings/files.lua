-- files.lua - questions about files, and what is done with them as a whole. Files that are
-- written appear whole or not at all: see part_file.lua.

local ffi = require 'ffi'
local folders = require 'bindings.folders'
local part_file = require 'bindings.part_file'
local posix = require 'bindings.posix'

local C, fail, status = posix.C, posix.fail, posix.status
local O_RDONLY, O_CLOEXEC = 0, 0x80000
local O_LOCK, O_CLAIM = 0x41, 0x42      -- WRONLY CREAT, RDWR CREAT
local PROT_READ, MAP_PRIVATE, MFD_CLOEXEC, X_OK = 1, 2, 1, 1

local files = {
    temporary = part_file.create, writer = part_file.writer, sweep = part_file.sweep,
    remove_abandoned = part_file.remove, follow = posix.follow, sync = posix.sync,
}

-- Whether it is the address of data that a server has, which NetCDF-C reads by OPeNDAP.
function files.is_remote(path) return path:find '^https?://' ~= nil end

-- Why a path is no file that could be read, in words; nil if it is one, or the address of data that
-- a server has.
function files.unreadable(path)
    if files.is_remote(path) then return nil end
    local found = status(path)
    if not found then return 'there is no such file' end
    if found.is_folder then return 'is a folder, a file is needed' end
    if not found.is_file then return 'is not an ordinary file' end
end

-- Opens an ordinary file: whoever read a pipe, a socket or a device might wait, or read, for ever.
-- Nil and a reason, which names it, if it cannot be read.
function files.ordinary(path)
    local reason = status(path) and files.unreadable(path)
    if reason then return nil, path .. ': ' .. reason end
    return io.open(path, 'rb')
end

-- All that is in an ordinary file; nil and a reason, as for files.ordinary.
function files.read(path)
    local file, reason = files.ordinary(path)
    if not file then return nil, reason end
    local text, why = file:read '*a'
    file:close()
    return text, why and path .. ': ' .. why
end

-- A path of a file in memory, which other programs can open until close(), the second result, is
-- called or this process ends.
function files.in_memory(name)
    local fd = C.memfd_create(name, MFD_CLOEXEC)
    if fd < 0 then fail(name, 'cannot be made in memory') end
    return ('/proc/%d/fd/%d'):format(C.getpid(), fd), function() C.close(fd) end
end

-- A second name for a file, in place of whatever had it.
function files.link(old, new)
    os.remove(new)
    if C.link(old, new) ~= 0 then fail(new, 'cannot be made a link') end
end

-- The bytes of a file, read as they are touched; nil and a reason if it cannot be read. The
-- memory lasts as long as the first result.
function files.map(path)
    local reason = status(path) and files.unreadable(path)
    if reason then return nil, reason end
    local fd = C.open(path, O_RDONLY + O_CLOEXEC)
    if fd < 0 then return nil, posix.reason() end
    local size = status(path).size
    local data = ffi.cast('char *', C.mmap(nil, math.max(size, 1), PROT_READ, MAP_PRIVATE, fd, 0))
    local failed = data == ffi.cast('char *', -1) and 'cannot be mapped: ' .. posix.reason()
    C.close(fd)
    if failed then return nil, failed end
    return ffi.gc(data, function(p) C.munmap(p, math.max(size, 1)) end), size
end

-- `size` bytes of a mapped file.
function files.text(data, size)
    return ffi.string(data, size)
end

-- Nil where there is no file.
function files.size(path)
    local found = status(path)
    return found and found.is_file and found.size or nil
end

-- The one name of a file, there or not: absolute, without links. Nil where its folder is
-- missing.
function files.resolve(path)
    path = files.follow(path)
    local resolved = ffi.new 'char[4096]'
    if C.realpath(path, resolved) ~= nil then return ffi.string(resolved) end
    local folder, base = path:match '^(.*/)([^/]*)$'
    if C.realpath(folder or '.', resolved) == nil then return nil end
    return ffi.string(resolved) .. '/' .. (base or path)
end

-- io.open, but for a raised error.
function files.open(path, mode)
    local file, reason = io.open(path, mode)
    return file or error(reason, 0)
end

-- Exactly so many bytes of an open file. Errors call it shown_as.
function files.exactly(file, bytes, shown_as)
    local text, reason = file:read(bytes)
    if bytes == 0 then return '' end
    if text and #text == bytes then return text end
    error(('%s: cannot be read: %s'):format(shown_as, reason or 'it is shorter than it was'), 0)
end

-- Puts texts into a file in place of what was there: pieces = { { offset, text }, ... }.
function files.patch(path, pieces)
    local file = files.open(path, 'r+b')
    local ok, reason = true, nil
    for _, piece in ipairs(pieces) do
        if ok then ok, reason = file:seek('set', piece[1]) end
        if ok then ok, reason = file:write(piece[2]) end
    end
    local closed, why = file:close()
    if not (ok and closed) then error(string.format('%s: %s', path, reason or why), 0) end
end

-- Where a program is, by the PATH; nil where it is not.
function files.program(name)
    for folder in (os.getenv 'PATH' or ''):gmatch '[^:]+' do
        local path = folder .. '/' .. name
        local found = status(path)
        if found and found.is_file and C.access(path, X_OK) == 0 then return path end
    end
end

-- f(...) while no other process does the like for this file, under a lock on `path`.lock, which
-- stays. Where there are no locks nobody waits. An error of f passes on.
function files.locked(path, f, ...)
    local name = files.follow(path) .. '.lock'
    local fd = C.open(name, O_LOCK + O_CLOEXEC, ffi.cast('int', 438))
    if fd < 0 then fail(path, 'cannot write into its folder') end
    posix.wait_for_lock(fd)
    local ok, result = pcall(f, ...)
    C.close(fd)
    if not ok then error(result, 0) end
    return result
end

local Claim = {}
Claim.__index = Claim

-- Claims a file, which is made where there is none, until release() or remove() or the end of
-- the process. Returns the claim and what is in the file; nil and the same where another has
-- claimed it. Where there are no locks everybody has it.
function files.claim(path)
    while true do
        local fd = C.open(path, O_CLAIM + O_CLOEXEC, ffi.cast('int', 438))
        if fd < 0 then fail(path, 'cannot be written') end
        local _, is_taken = posix.lock(fd)
        local text = files.read(path)
        if not is_taken and posix.is_named(fd, path) then
            local guard = ffi.gc(ffi.new 'char[1]', function() C.close(fd) end)
            return setmetatable({ path = path, fd = fd, guard = guard }, Claim), text
        end
        C.close(fd)
        if is_taken then return nil, text end
    end
end

-- Puts a text in place of what is in the file.
function Claim:write(text)
    if posix.put_at(self.fd, ffi.cast('const char *', text), #text, 0) < #text
        or C.ftruncate(self.fd, #text) ~= 0 then
        fail(self.path, 'cannot be written')
    end
end

-- The file stays.
function Claim:release()
    ffi.gc(self.guard, nil)
    C.close(self.fd)
end

function Claim:remove()
    os.remove(self.path)
    self:release()
end

-- Makes this a file that only its user may read, empty if it is new; where it cannot be made,
-- none.
function files.hide(path)
    local fd = C.open(path, O_LOCK + O_CLOEXEC, ffi.cast('int', 384))       -- 0600
    if fd < 0 then return end
    C.fchmod(fd, 384)
    C.close(fd)
end

-- Makes the folders that a path leads through, as far as they can be made.
function files.make_folders(path)
    for slash in path:gmatch '()/' do
        if slash > 1 then folders.make(path:sub(1, slash - 1)) end
    end
end

-- Raises if a file could not be put there, and leaves no trace. libnetcdf cuts blanks in front of
-- a name off, and would write another file.
function files.check(path)
    if path:find '^%s' then error(path .. ': a name must not begin with a blank', 0) end
    files.temporary(path):discard()
end

return files
