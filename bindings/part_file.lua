-- part_file.lua - files that appear whole or not at all. A file is written under a temporary
-- name in the folder of the final one, a part file, flushed to the disk and renamed. A part
-- file that is dropped without commit() or keep() is removed, at the latest by the garbage
-- collector, so that a failing run leaves nothing behind.
--
-- Its writer holds a lock on it, which ends with the process. So a part file that can be locked
-- was abandoned: whoever starts or completes a file of that name removes it. Nobody removes a
-- part file without its lock, and its writer looks whether it still has its name once it has
-- the lock: the file may have been taken for abandoned just before.
--
-- One that a run may go on from carries an owner in its name: RUN, or RUN-MARK where runs that
-- replace each other have a mark in common. It goes with the next complete file of that run, or
-- when sweep() for that mark does not find it wanted any more.

local ffi = require 'ffi'
local folders = require 'bindings.folders'
local posix = require 'bindings.posix'
local uncached = require 'bindings.uncached'

local C, fail = posix.C, posix.fail
local O_WRONLY, O_NEW, O_CLOEXEC = 1, 0xC1, 0x80000     -- NEW: WRONLY CREAT EXCL
local KEEP_SIZE, DISK_FULL = 1, { [27] = true, [28] = true, [122] = true }   -- FBIG NOSPC DQUOT
local EINTR, EEXIST = 4, 17
local slice = 2 ^ 22
local counter = 0
local is_hushed = false

local part_file = {}

-- From now on no file of this process comes to be: another writes them.
function part_file.hush()
    is_hushed = true
end

local function new_name(path, owner)
    counter = counter + 1
    return string.format('%s.%s%d-%d.part', path, owner and owner .. '.' or '', C.getpid(), counter)
end

-- The new file's name and a descriptor that holds its lock.
local function create(path)
    while true do
        local name = new_name(path)
        local fd = C.open(name, O_NEW + O_CLOEXEC, ffi.cast('int', 438))    -- 0666 less umask
        if fd >= 0 then
            posix.wait_for_lock(fd)
            if posix.is_named(fd, name) then return name, fd end
            C.close(fd)
        elseif ffi.errno() ~= EEXIST then
            fail(path, 'cannot write into its folder')
        end
    end
end

-- Names, owners ('' for none) and processes of the part files of this name.
local function part_files(path)
    local folder, base = path:match '^(.-)([^/]*)$'
    local found = {}
    for _, entry in ipairs(folders.names(folder == '' and '.' or folder)) do
        local rest = entry:sub(1, #base) == base and entry:sub(#base + 1)
        local owner, pid = (rest or ''):match '^%.([^.]-)%.?(%d+)%-%d+%.part$'
        if owner then found[#found + 1] = { name = folder .. entry, owner = owner, pid = pid } end
    end
    return found
end

-- Removes a part file that no living process writes, unless it is wanted: a function, nil if not.
function part_file.remove(name, is_wanted)
    local fd = C.open(name, O_WRONLY + O_CLOEXEC)
    if fd < 0 then return end
    if posix.lock(fd) and posix.is_named(fd, name) and not (is_wanted and is_wanted()) then
        os.remove(name)
    end
    C.close(fd)
end

local function run_of(owner)
    return owner and owner:match '^[^-]*'
end

-- Removes the abandoned part files of this name that have no owner, or are of this one's run, if
-- the folder can be read: no file is lost for those of others.
local function remove_abandoned(path, owner)
    local _, list = pcall(part_files, path)
    for _, found in ipairs(type(list) == 'table' and list or {}) do
        local is_ours = found.owner == '' or run_of(found.owner) == run_of(owner)
        if is_ours then part_file.remove(found.name) end
    end
end

-- Removes the abandoned part files beside these paths whose owner has this mark, of letters and
-- digits, and of which is_wanted(name without folder) is false.
function part_file.sweep(paths, mark, is_wanted)
    local places, pattern = {}, '%.%w+%-' .. mark .. '%.%d+%-%d+%.part$'
    for _, path in ipairs(paths) do places[posix.follow(path):match '^.*/' or './'] = true end
    for folder in pairs(places) do
        for _, entry in ipairs(folders.names(folder)) do
            if entry:find(pattern) then
                part_file.remove(folder .. entry, function() return is_wanted(entry) end)
            end
        end
    end
end

-- The part file that another process is writing for this file, or nil. Where there are no locks
-- nobody can tell.
function part_file.writer(path)
    if is_hushed then return nil end
    local own = tostring(C.getpid())
    for _, found in ipairs(part_files(posix.follow(path))) do
        local fd = found.pid ~= own and C.open(found.name, O_WRONLY + O_CLOEXEC) or -1
        if fd >= 0 then
            local _, is_taken = posix.lock(fd)
            C.close(fd)
            if is_taken then return found.name end
        end
    end
end

local Temporary = {}
Temporary.__index = Temporary
Temporary.recycle, Temporary.place = uncached.recycle, uncached.place
Temporary.has_direct = uncached.has_direct

-- What removes the file when it is collected.
local function guard(name, fd)
    return ffi.gc(ffi.new 'char[1]', function()
        os.remove(name)
        C.close(fd)
    end)
end

-- A path that no other process has.
local function own_path()
    local path = os.tmpname()
    os.remove(path)
    return path
end

-- Creates the empty part file; .name is its name.
function part_file.create(path)
    if type(path) ~= 'string' or path == '' then error('a file name is needed', 0) end
    if is_hushed then path = own_path() end
    posix.check_replaceable(path)
    path = posix.follow(path)
    local name, fd = create(path)
    local self = setmetatable({ path = path, name = name, fd = fd, guard = guard(name, fd) },
        Temporary)
    remove_abandoned(path)
    return self
end

-- Gives the file an owner, RUN or RUN-MARK, in its name: a run may go on from it. Returns
-- the new name; without an owner it is the old one.
function Temporary:own(owner)
    if not owner or self.owner then return self.name end
    local name = new_name(self.path, owner)
    if not os.rename(self.name, name) then fail(self.path, 'its part file cannot be renamed') end
    ffi.gc(self.guard, nil)
    self.name, self.owner, self.guard = name, owner, guard(name, self.fd)
    return name
end

-- Leaves the file under its temporary name.
function Temporary:keep()
    if not self.guard then return end
    ffi.gc(self.guard, nil)
    self.guard = nil
    C.close(self.fd)
end

-- Adds to its end: a text, or `size` bytes at a pointer.
function Temporary:append(data, size)
    local start = ffi.cast('const char *', data)
    local done = 0
    size = size or #data
    while done < size do
        local n = tonumber(C.write(self.fd, start + done, math.min(size - done, slice)))
        if n < 0 and ffi.errno() ~= EINTR then fail(self.path, 'cannot be written') end
        done = done + math.max(n, 0)
        self:recycle()
    end
end

local function size_of(self)
    local found = posix.status(self.name)
    if not found then error(self.path .. ': the file being written has gone: ' .. self.name, 0) end
    return found.size
end

-- After this the final name holds the new file, or an error was raised and nothing has changed.
function Temporary:commit()
    if is_hushed then return self:discard() end
    C.truncate(self.name, size_of(self))        -- gives back what was reserved and not used
    posix.sync(self.name, self.path)
    posix.check_replaceable(self.path)
    if not os.rename(self.name, self.path) then fail(self.path, 'cannot be put in its place') end
    self:keep()
    remove_abandoned(self.path, self.owner)
    -- Some file systems cannot sync a folder; the file itself is safe by then.
    pcall(posix.sync, self.path:match '^(.*/)' or '.')
end

-- Makes sure that the file can grow by so many bytes, where the file system can tell. HDF5 does
-- not survive a full disk (it crashes when it closes the file), so it must not meet one.
function Temporary:reserve(bytes)
    local fd = C.open(self.name, O_WRONLY + O_CLOEXEC)
    if fd < 0 then fail(self.path, 'the file being written has gone') end
    local size = size_of(self)
    local failed = C.fallocate(fd, KEEP_SIZE, size, bytes) ~= 0 and ffi.errno()
    C.close(fd)
    if DISK_FULL[failed] then
        ffi.errno(failed)
        fail(self.path, string.format('no room for %.1f MiB more', bytes / 2 ^ 20))
    end
end

function Temporary:discard()
    if not self.guard then return end
    C.truncate(self.name, 0)    -- gives the space back even while the file is still open somewhere
    os.remove(self.name)
    self:keep()
end

return part_file
