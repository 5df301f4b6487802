-- uncached.lua - how part files keep large output out of the page cache. Two measurements die
-- without it, both on two cores of a Xeon: the thread that writes takes 27.7 ms of a core for
-- 8.4 MB without recycle() and 5.0 with it; Kelvin-Helmholtz with output every 20 steps costs
-- 5.9 to 6.7 % more than without output where fields go through the page cache and 4.6 % where
-- place() puts them past it (tests/bench/output.lua).
--
-- HDF5 gives each chunk its place, at the start of a page, tells where (hdf5.lua), and writes only
-- its index; place() puts the memory of the device there by O_DIRECT. So it is for chunks of
-- 64 KiB or more of whole pages (nx ny and nx times the rows of a chunk multiples of 1024 in
-- float) without missing values, where the file system can; all else goes through HDF5, to the
-- same data.

local ffi = require 'ffi'
local posix = require 'bindings.posix'

local C, fail, put_at = posix.C, posix.fail, posix.put_at
local O_WRONLY, O_CLOEXEC = 1, 0x80000
local O_DIRECT = ({ x64 = 0x4000, arm64 = 0x10000 })[ffi.arch]
local EIO, DISK_FULL = 5, { [27] = true, [28] = true, [122] = true }        -- FBIG NOSPC DQUOT
local WRITE_OUT, AND_WAIT, DONTNEED = 2, 7, 4   -- of sync_file_range, and posix_fadvise
local page = 65536              -- the largest of any machine
local portion, in_flight = 2 ^ 20, 2 ^ 24

local uncached = {}

-- What the disk refused would be told once, to this descriptor, and not to sync() afterwards.
local function write_out(self, from, bytes, flags)
    if C.sync_file_range(self.fd, from, bytes, flags) == 0 then return end
    local number = ffi.errno()
    if number == EIO or DISK_FULL[number] then fail(self.path, 'cannot be written to the disk') end
end

-- What the file has grown by sets out for the disk, and what was on its way before leaves the
-- page cache once it is there, all but the last `in_flight` bytes. To be called after every few
-- MiB of a file that may become large: it then neither fills the memory nor drives other data
-- out of it, and its new pages are those that have just become free, the cheapest there are.
-- Readers notice nothing, small files stay in memory, and where the system cannot do it the
-- pages stay, too.
function uncached:recycle()
    local leaving, size = self.leaving or { at = 0, bytes = 0 }, posix.length(self.fd)
    self.leaving = leaving
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

-- A descriptor whose whole pages go to the disk past the page cache, or -1.
local function open_direct(name)
    return O_DIRECT and C.open(name, O_WRONLY + O_DIRECT + O_CLOEXEC) or -1
end

-- Whether the file system has a way past the page cache.
function uncached:has_direct()
    local fd = open_direct(self.name)
    if fd >= 0 then C.close(fd) end
    return fd >= 0
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
function uncached:place(pieces)
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

return uncached
