-- posix.lua - calls of the system on files, and those that more than one module needs, each
-- declared here and nowhere else.

local ffi = require 'ffi'
local bit = require 'bit'

ffi.cdef [[
    struct mare_poll { int fd; short wanted, found; };
    int open(const char *path, int flags, ...);
    int close(int fd);
    int dup2(int from, int to);
    long read(int fd, void *data, size_t size);
    int isatty(int fd);
    int poll(struct mare_poll *list, unsigned long count, int milliseconds);
    long send(int fd, const void *data, size_t size, int flags);
    long recv(int fd, void *data, size_t size, int flags);
    int fsync(int fd);
    int fchmod(int fd, unsigned mode);
    int fcntl(int fd, int command, ...);
    long write(int fd, const void *data, size_t size);
    int64_t lseek(int fd, int64_t offset, int whence);
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
    int kill(int process, int number);
    void *signal(int number, void *handler);
    void _exit(int status);
    int setenv(const char *name, const char *value, int overwrite);
    char *strerror(int number);
    char *realpath(const char *path, char *resolved);
    long readlink(const char *path, char *out, size_t size);
    int statx(int folder, const char *path, int flags, unsigned mask, void *out);
]]

local C = ffi.C
local statx = ffi.typeof [[struct {     /* the kernel's; the same on every machine */
    uint32_t mask, block_size;
    uint64_t attributes;
    uint32_t links, uid, gid;
    uint16_t mode, unused;
    uint64_t inode, size;
    uint8_t times[88];
    uint32_t device_major, device_minor;
    uint8_t rest[112];
}]]
local lock_range = ffi.typeof 'struct { short type, whence; int64_t start, length; int pid; }'

local posix = { C = C }

local O_RDONLY, O_CLOEXEC, F_OFD_SETLK, F_OFD_SETLKW, F_WRLCK = 0, 0x80000, 37, 38, 1
local EINTR, EAGAIN, W_OK, PATH_MAX = 4, 11, 2, 4096
local AT_FDCWD, AT_EMPTY_PATH, STATX_TYPE_SIZE, STATX_INO = -100, 0x1000, 0x201, 0x100
local S_IFMT, S_IFDIR, S_IFREG = 0xF000, 0x4000, 0x8000

-- What a number of errno says in words: that of the last call, if none is given.
function posix.reason(number)
    return ffi.string(C.strerror(number or ffi.errno()))
end

-- Raises with the reason that the last call of the system gave.
function posix.fail(path, what)
    error(string.format('%s: %s: %s', path, what, posix.reason()), 0)
end

-- { is_folder, is_file, size } of what has this name; nil if nothing has.
function posix.status(path)
    local out = statx()
    if C.statx(AT_FDCWD, path, 0, STATX_TYPE_SIZE, out) ~= 0 then return nil end
    local kind = bit.band(out.mode, S_IFMT)
    return { is_folder = kind == S_IFDIR, is_file = kind == S_IFREG, size = tonumber(out.size) }
end

-- Bytes of an open file, whatever has become of its name.
function posix.length(fd)
    local out = statx()
    return C.statx(fd, '', AT_EMPTY_PATH, STATX_TYPE_SIZE, out) == 0 and tonumber(out.size) or 0
end

local function are_same(a, b)
    return a.inode == b.inode and a.device_major == b.device_major
        and a.device_minor == b.device_minor
end

-- Whether the open file is still the one of that name.
function posix.is_named(fd, path)
    local open, named = statx(), statx()
    return C.statx(fd, '', AT_EMPTY_PATH, STATX_INO, open) == 0
        and C.statx(AT_FDCWD, path, 0, STATX_INO, named) == 0 and are_same(open, named)
end

-- Whether two names are of one file; nil where one of them is of none.
function posix.is_same(a, b)
    local one, other = statx(), statx()
    if C.statx(AT_FDCWD, a, 0, STATX_INO, one) ~= 0 then return nil end
    if C.statx(AT_FDCWD, b, 0, STATX_INO, other) ~= 0 then return nil end
    return are_same(one, other)
end

-- Where a symbolic link leads, as it says; nil if this is none.
function posix.target(path)
    local out = ffi.new('char[?]', PATH_MAX)
    local length = tonumber(C.readlink(path, out, PATH_MAX))
    return length >= 0 and ffi.string(out, length) or nil
end

-- Locks an open file, until its descriptor is closed. Returns whether it did and, if not,
-- whether another descriptor has the lock: some file systems have no locks.
function posix.lock(fd)
    if C.fcntl(fd, F_OFD_SETLK, lock_range { type = F_WRLCK }) == 0 then return true end
    return false, ffi.errno() == EAGAIN
end

-- The same, after waiting for another descriptor.
function posix.wait_for_lock(fd)
    local whole = lock_range { type = F_WRLCK }
    repeat
        local is_held = C.fcntl(fd, F_OFD_SETLKW, whole) == 0
    until is_held or ffi.errno() ~= EINTR
end

-- Makes sure that a file is on the disk for good. Errors call it shown_as.
function posix.sync(path, shown_as)
    local fd = C.open(path, O_RDONLY + O_CLOEXEC)
    if fd < 0 then posix.fail(shown_as or path, 'cannot be opened again') end
    local failed = C.fsync(fd) ~= 0 and ffi.errno()
    C.close(fd)
    if failed then
        ffi.errno(failed)
        posix.fail(shown_as or path, 'cannot be flushed to the disk')
    end
end

-- Puts bytes at `offset`. Returns how many it could; if not all, errno says why.
function posix.put_at(fd, start, size, offset)
    local done = 0
    while done < size do
        local n = tonumber(C.pwrite(fd, start + done, size - done, offset + done))
        if n == 0 or n < 0 and ffi.errno() ~= EINTR then break end
        done = done + math.max(n, 0)
    end
    return done
end

-- What stands at the end of symbolic links, there or not: they stay, their target is replaced.
function posix.follow(path)
    for _ = 1, 40 do
        local target = posix.target(path)
        if not target then return path end
        local folder = target:sub(1, 1) ~= '/' and path:match '^.*/' or ''
        path = folder .. target
    end
    error(path .. ': too many symbolic links', 0)
end

-- Refuses a name where no file can be put, or one that may not be replaced.
function posix.check_replaceable(path)
    local found = posix.status(path)
    if not found then return end
    if found.is_folder then error(path .. ': is a folder, a file name is needed', 0) end
    if not found.is_file then error(path .. ': exists and is not an ordinary file', 0) end
    if C.access(path, W_OK) ~= 0 then posix.fail(path, 'the existing file cannot be replaced') end
end

return posix
