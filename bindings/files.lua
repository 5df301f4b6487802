-- Files that appear whole or not at all: written under a unique temporary name in the folder of the
-- final one, flushed to the disk and renamed. A temporary that is dropped without commit() or
-- keep() is removed, at the latest by the garbage collector, so that a failing run leaves nothing
-- behind. Its writer holds a lock on it, which ends with the process: what a killed one left is
-- known by that, and goes when the next file of that name is complete. One that may be wanted again
-- carries its owner in its name, and goes with the next file of that owner only.

local ffi = require 'ffi'
local bit = require 'bit'
local lfs = require 'lfs'

ffi.cdef [[
    int open(const char *path, int flags, ...);
    int close(int fd);
    int fsync(int fd);
    int fchmod(int fd, unsigned mode);
    int fcntl(int fd, int command, ...);
    long write(int fd, const void *data, size_t size);
    long pwrite(int fd, const void *data, size_t size, int64_t offset);
    int memfd_create(const char *name, unsigned flags);
    int link(const char *old, const char *new_name);
    void *mmap(void *wanted, size_t size, int protection, int flags, int fd, int64_t offset);
    int munmap(void *address, size_t size);
    int access(const char *path, int mode);
    int fallocate(int fd, int mode, int64_t offset, int64_t length);
    int truncate(const char *path, int64_t length);
    int ftruncate(int fd, int64_t length);
    int sync_file_range(int fd, int64_t offset, int64_t length, unsigned flags);
    int posix_fadvise(int fd, int64_t offset, int64_t length, int advice);
    int getpid(void);
    char *strerror(int number);
    char *realpath(const char *path, char *resolved);
    int statx(int folder, const char *path, int flags, unsigned mask, void *out);
]]

local C = ffi.C
local statx = ffi.typeof [[struct {     /* the kernel's; the same on every machine */
    uint32_t mask, block_size;
    uint64_t attributes;
    uint32_t links, uid, gid;
    uint16_t mode, unused;
    uint64_t inode, size;
    uint8_t rest[208];
}]]
local lock_range = ffi.typeof 'struct { short type, whence; int64_t start, length; int pid; }'
local files = {}

local O_RDONLY, O_WRONLY, O_NEW, O_CLOEXEC = 0, 1, 0xC1, 0x80000   -- NEW: WRONLY CREAT EXCL
local O_LOCK, O_CLAIM = 0x41, 0x42     -- WRONLY CREAT, RDWR CREAT
local O_DIRECT = ({ x64 = 0x4000, arm64 = 0x10000 })[ffi.arch]
local F_OFD_SETLK, F_OFD_SETLKW, F_WRLCK, PROT_READ, MAP_PRIVATE = 37, 38, 1, 1, 2
local MFD_CLOEXEC = 1
local KEEP_SIZE, DISK_FULL = 1, { [27] = true, [28] = true, [122] = true }   -- FBIG NOSPC DQUOT
local EINTR, EIO, EAGAIN, EEXIST, X_OK, W_OK = 4, 5, 11, 17, 1, 2
local AT_FDCWD, AT_EMPTY_PATH, STATX_TYPE_SIZE, STATX_INO = -100, 0x1000, 0x201, 0x100
local WRITE_OUT, AND_WAIT, DONTNEED = 2, 7, 4   -- of sync_file_range, and posix_fadvise
local S_IFMT, S_IFDIR, S_IFREG = 0xF000, 0x4000, 0x8000
local page = 65536              -- the largest of any machine
local slice, portion, in_flight = 2 ^ 22, 2 ^ 20, 2 ^ 24
local counter = 0

local function fail(path, what)
    error(string.format('%s: %s: %s', path, what, ffi.string(C.strerror(ffi.errno()))), 0)
end

local function status(path)
    local out = statx()
    if C.statx(AT_FDCWD, path, 0, STATX_TYPE_SIZE, out) ~= 0 then return nil end
    return { kind = bit.band(out.mode, S_IFMT), size = tonumber(out.size) }
end

-- Bytes of an open file, whatever has become of its name.
local function length(fd)
    local out = statx()
    return C.statx(fd, '', AT_EMPTY_PATH, STATX_TYPE_SIZE, out) == 0 and tonumber(out.size) or 0
end

local function check_replaceable(path)
    local found = status(path)
    if not found then return end
    if found.kind == S_IFDIR then error(path .. ': is a folder, a file name is needed', 0) end
    if found.kind ~= S_IFREG then error(path .. ': exists and is not an ordinary file', 0) end
    if C.access(path, W_OK) ~= 0 then fail(path, 'the existing file cannot be replaced') end
end

-- Whether the file could be locked, by this descriptor: nobody writes it.
local function lock(fd)
    local whole = lock_range { type = F_WRLCK }
    return C.fcntl(fd, F_OFD_SETLK, whole) == 0
end

-- The new file's name and a descriptor that holds its lock.
local function create(path, owner)
    owner = owner and owner .. '.' or ''
    while true do
        counter = counter + 1
        local name = string.format('%s.%s%d-%d.part', path, owner, C.getpid(), counter)
        local fd = C.open(name, O_NEW + O_CLOEXEC, ffi.cast('int', 438))    -- 0666 less umask
        if fd >= 0 then
            lock(fd)
            return name, fd
        end
        if ffi.errno() ~= EEXIST then fail(path, 'cannot write into its folder') end
    end
end

-- What writers that are no more left of files of this name, of this owner and of none.
local function abandoned(path, owner)
    local folder, base = path:match '^(.-)([^/]*)$'
    local found = {}
    for entry in lfs.dir(folder == '' and '.' or folder) do
        local rest = entry:sub(1, #base) == base and entry:sub(#base + 1)
        local whose = rest and rest:match '^%.(.-)%.?%d+%-%d+%.part$'
        if whose == '' or whose and whose == owner then
            local name = folder .. entry
            local fd = C.open(name, O_WRONLY + O_CLOEXEC)
            if fd >= 0 then
                if lock(fd) then found[#found + 1] = name end
                C.close(fd)
            end
        end
    end
    return found
end

-- The temporary that another process is writing for this file, or nil.
function files.writer(path)
    local folder, base = files.follow(path):match '^(.-)([^/]*)$'
    local own = tostring(C.getpid())
    for entry in lfs.dir(folder == '' and '.' or folder) do
        local rest = entry:sub(1, #base) == base and entry:sub(#base + 1)
        local pid = rest and rest:match '^%.%x-%.?(%d+)%-%d+%.part$'
        local fd = pid and pid ~= own and C.open(folder .. entry, O_WRONLY + O_CLOEXEC) or -1
        if fd >= 0 then
            -- Where there are no locks nobody can tell.
            local is_taken = not lock(fd) and ffi.errno() == EAGAIN
            C.close(fd)
            if is_taken then return folder .. entry end
        end
    end
end

-- To the disk, for good.
local function sync(path)
    local fd = C.open(path, O_RDONLY + O_CLOEXEC)
    if fd < 0 then fail(path, 'cannot be opened again') end
    local failed = C.fsync(fd) ~= 0 and ffi.errno()
    C.close(fd)
    if failed then
        ffi.errno(failed)
        fail(path, 'cannot be flushed to the disk')
    end
end

-- What stands at the end of symbolic links, there or not: they stay, their target is replaced.
function files.follow(path)
    for _ = 1, 40 do
        local target = lfs.symlinkattributes(path, 'target')
        if not target then return path end
        local folder = target:sub(1, 1) ~= '/' and path:match '^.*/' or ''
        path = folder .. target
    end
    error(path .. ': too many symbolic links', 0)
end

local Temporary = {}
Temporary.__index = Temporary

-- Creates the empty temporary file; .name is its name. owner: letters and digits, or nil for a file
-- that nobody will look for.
function files.temporary(path, owner)
    if type(path) ~= 'string' or path == '' then error('a file name is needed', 0) end
    check_replaceable(path)
    path = files.follow(path)
    local name, fd = create(path, owner)
    local guard = ffi.gc(ffi.new 'char[1]', function()
        os.remove(name)
        C.close(fd)
    end)
    return setmetatable({ path = path, name = name, fd = fd, guard = guard, owner = owner,
        leaving = { at = 0, bytes = 0 } }, Temporary)
end

-- Leaves the file under its temporary name.
function Temporary:keep()
    if not self.guard then return end
    ffi.gc(self.guard, nil)
    self.guard = nil
    C.close(self.fd)
end

-- What the disk refused would be told once, to this descriptor, and not to sync() afterwards.
local function write_out(self, from, bytes, flags)
    if C.sync_file_range(self.fd, from, bytes, flags) == 0 then return end
    local number = ffi.errno()
    if number == EIO or DISK_FULL[number] then fail(self.path, 'cannot be written to the disk') end
end

-- What the file has grown by sets out for the disk, and what was on its way before leaves the page
-- cache once it is there, all but the last `in_flight` bytes. To be called after every few MiB of
-- a file that may become large: it then neither fills the memory nor drives other data out of it,
-- and its new pages are those that have just become free, the cheapest there are. Readers notice
-- nothing, small files stay in memory, and where the system cannot do it the pages stay, too.
function Temporary:recycle()
    local leaving, size = self.leaving, length(self.fd)
    local new = size - size % page - leaving.at
    if new < portion then return end
    write_out(self, leaving.at, new, WRITE_OUT)
    leaving[#leaving + 1] = { leaving.at, new }
    leaving.at, leaving.bytes = leaving.at + new, leaving.bytes + new
    while leaving.bytes > in_flight do
        local from, bytes = unpack(table.remove(leaving, 1))
        write_out(self, from, bytes, AND_WAIT)
        C.posix_fadvise(self.fd, from, bytes, DONTNEED)
        leaving.bytes = leaving.bytes - bytes
    end
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

-- A descriptor whose whole pages go to the disk past the page cache, or -1.
local function open_direct(name)
    return O_DIRECT and C.open(name, O_WRONLY + O_DIRECT + O_CLOEXEC) or -1
end

-- Whether the file system has a way past the page cache.
function Temporary:has_direct()
    local fd = open_direct(self.name)
    if fd >= 0 then C.close(fd) end
    return fd >= 0
end

-- How many bytes could be put there; if not all, errno says why.
local function put_at(fd, start, size, offset)
    local done = 0
    while done < size do
        local n = tonumber(C.pwrite(fd, start + done, size - done, offset + done))
        if n == 0 or n < 0 and ffi.errno() ~= EINTR then break end
        done = done + math.max(n, 0)
    end
    return done
end

-- Those that follow one another, in memory and in the file, as one.
local function joined(pieces)
    local runs = {}
    for _, p in ipairs(pieces) do
        local start, last = ffi.cast('const char *', p.data) + p.from, runs[#runs]
        if last and last.start + last.size == start and last.offset + last.size == p.offset then
            last.size = last.size + p.size
        else
            runs[#runs + 1] = { start = start, size = p.size, offset = p.offset }
        end
    end
    return runs
end

-- Puts pieces, each `size` bytes from byte `from` of data on, at their offsets. Whole pages at
-- multiples of a page, in memory too, go past the page cache, which takes a core a tenth of the
-- time; where that cannot be, they go through it.
function Temporary:place(pieces)
    local direct = open_direct(self.name)
    for _, run in ipairs(joined(pieces)) do
        local start, size, offset = run.start, run.size, run.offset
        local done = direct >= 0 and put_at(direct, start, size, offset) or 0
        done = done + put_at(self.fd, start + done, size - done, offset + done)
        if done < size then
            local number = ffi.errno()
            if direct >= 0 then C.close(direct) end
            ffi.errno(number)
            fail(self.path, 'cannot be written')
        end
    end
    if direct >= 0 then C.close(direct) end
end

-- After this the final name holds the new file, or an error was raised and nothing has changed.
function Temporary:commit()
    C.truncate(self.name, status(self.name).size)      -- gives back what was reserved and not used
    sync(self.name)
    check_replaceable(self.path)
    local ok, reason = os.rename(self.name, self.path)
    if not ok then error(reason, 0) end
    self:keep()
    for _, name in ipairs(abandoned(self.path, self.owner)) do os.remove(name) end
    -- Some file systems cannot sync a folder; the file itself is safe by then.
    pcall(sync, self.path:match '^(.*/)' or '.')
end

-- Makes sure that the file can grow by so many bytes, where the file system can tell. HDF5 does not
-- survive a full disk (it crashes when it closes the file), so it must not meet one.
function Temporary:reserve(bytes)
    local fd = C.open(self.name, O_WRONLY + O_CLOEXEC)
    if fd < 0 then fail(self.path, 'the file being written has gone') end
    local size = status(self.name).size
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

-- The bytes of a file, read as they are touched; nil and a reason if it cannot be read. The memory
-- lasts as long as the first result.
function files.map(path)
    local fd = C.open(path, O_RDONLY + O_CLOEXEC)
    if fd < 0 then return nil, ffi.string(C.strerror(ffi.errno())) end
    local size = status(path).size
    local data = ffi.cast('char *', C.mmap(nil, math.max(size, 1), PROT_READ, MAP_PRIVATE, fd, 0))
    local failed = data == ffi.cast('char *', -1) and ffi.string(C.strerror(ffi.errno()))
    C.close(fd)
    if failed then return nil, failed end
    return ffi.gc(data, function(p) C.munmap(p, math.max(size, 1)) end), size
end

-- `size` bytes of a mapped file.
function files.text(data, size)
    return ffi.string(data, size)
end

files.read = require 'bindings.read'

-- Nil where there is no file.
function files.size(path)
    local found = status(path)
    return found and found.kind == S_IFREG and found.size or nil
end

-- Why a path is no file that could be read, in words; nil if it is one.
function files.unreadable(path)
    local found = status(path)
    if not found then return 'there is no such file' end
    if found.kind == S_IFDIR then return 'is a folder, a file is needed' end
    if found.kind ~= S_IFREG then return 'is not an ordinary file' end
end

-- The one name of a file, there or not: absolute, without links. Nil where its folder is missing.
function files.resolve(path)
    path = files.follow(path)
    local resolved = ffi.new 'char[4096]'
    if C.realpath(path, resolved) ~= nil then return ffi.string(resolved) end
    local folder, base = path:match '^(.*/)([^/]*)$'
    if C.realpath(folder or '.', resolved) == nil then return nil end
    return ffi.string(resolved) .. '/' .. (base or path)
end

files.sync = sync

-- Puts a text in place of as many bytes of a file, from `offset` on.
function files.patch(path, offset, text)
    local file = assert(io.open(path, 'r+b'))
    file:seek('set', offset)
    local ok, reason = file:write(text)
    local closed, why = file:close()
    if not (ok and closed) then error(string.format('%s: %s', path, reason or why), 0) end
end

-- Where a program is, by the PATH; nil where it is not.
function files.program(name)
    for folder in (os.getenv 'PATH' or ''):gmatch '[^:]+' do
        local path = folder .. '/' .. name
        local found = status(path)
        if found and found.kind == S_IFREG and C.access(path, X_OK) == 0 then return path end
    end
end

-- f(...) while no other process does the like for this file, under a lock on `path`.lock, which
-- stays. Where there are no locks nobody waits. An error of f passes on.
function files.locked(path, f, ...)
    local name = files.follow(path) .. '.lock'
    local fd = C.open(name, O_LOCK + O_CLOEXEC, ffi.cast('int', 438))
    if fd < 0 then fail(path, 'cannot write into its folder') end
    local whole = lock_range { type = F_WRLCK }
    repeat
        local is_held = C.fcntl(fd, F_OFD_SETLKW, whole) == 0
    until is_held or ffi.errno() ~= EINTR
    local ok, result = pcall(f, ...)
    C.close(fd)
    if not ok then error(result, 0) end
    return result
end

-- Whether the open file is still the one of that name.
local function is_named(fd, path)
    local open, named = statx(), statx()
    return C.statx(fd, '', AT_EMPTY_PATH, STATX_INO, open) == 0
        and C.statx(AT_FDCWD, path, 0, STATX_INO, named) == 0 and open.inode == named.inode
end

local Claim = {}
Claim.__index = Claim

-- Claims a file, which is made where there is none, until release() or remove() or the end of the
-- process. Returns the claim and what is in the file; nil and the same where another has claimed
-- it. Where there are no locks everybody has it.
function files.claim(path)
    while true do
        local fd = C.open(path, O_CLAIM + O_CLOEXEC, ffi.cast('int', 438))
        if fd < 0 then fail(path, 'cannot be written') end
        local is_taken = not lock(fd) and ffi.errno() == EAGAIN
        local text = files.read(path)
        if not is_taken and is_named(fd, path) then
            local guard = ffi.gc(ffi.new 'char[1]', function() C.close(fd) end)
            return setmetatable({ path = path, fd = fd, guard = guard }, Claim), text
        end
        C.close(fd)
        if is_taken then return nil, text end
    end
end

-- Puts a text in place of what is in the file.
function Claim:write(text)
    if put_at(self.fd, ffi.cast('const char *', text), #text, 0) < #text
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

-- Makes this a file that only its user may read, empty if it is new; where it cannot be made, none.
function files.hide(path)
    local fd = C.open(path, O_LOCK + O_CLOEXEC, ffi.cast('int', 384))       -- 0600
    if fd < 0 then return end
    C.fchmod(fd, 384)
    C.close(fd)
end

-- Makes the folders that a path leads through, as far as they can be made.
function files.make_folders(path)
    for slash in path:gmatch '()/' do
        if slash > 1 then lfs.mkdir(path:sub(1, slash - 1)) end
    end
end

-- Raises if a file could not be put there, and leaves no trace.
function files.check(path)
    files.temporary(path):discard()
end

return files
