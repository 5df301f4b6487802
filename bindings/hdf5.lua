-- Where the chunks of a NetCDF-4 variable lie in its file, which NetCDF-C does not tell but the
-- HDF5 below it does: M.chunks of a closed file, M.index of one that NetCDF-C has open to
-- write. Both count in bytes from the start of the file. The index is for output past the page
-- cache; the head of uncached.lua says what that is worth. The chunks are for checkpoints,
-- which keep all of an output file but its data.

local ffi = require 'ffi'
local netcdf = require 'bindings.netcdf'

ffi.cdef [[
    int64_t H5Fopen(const char *path, unsigned flags, int64_t access);
    int64_t H5Dopen2(int64_t file, const char *name, int64_t access);
    int H5Dclose(int64_t set);
    int H5Dget_chunk_info_by_coord(int64_t set, const uint64_t *start, unsigned *mask,
                                   uint64_t *address, uint64_t *size);
]]

local M = {}

local H5F_ACC_RDONLY, H5F_ACC_RDWR = 0, 1
local unknown = 2 ^ 63      -- above it HDF5's "no address"

local function scan(C, set, origins, extents)
    local start, mask = ffi.new 'uint64_t[4]', ffi.new 'unsigned[1]'
    local address, size = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'
    for _, origin in ipairs(origins) do
        for d = 1, #origin do start[d - 1] = origin[d] end
        if C.H5Dget_chunk_info_by_coord(set, start, mask, address, size) < 0 then return false end
        local offset = tonumber(address[0])
        if offset < unknown then extents[#extents + 1] = { offset, tonumber(size[0]) } end
    end
    return true
end

-- Appends { offset, bytes } to extents for the chunks that start at these origins, of 4 numbers
-- at most.
function M.chunks(path, variables, origins, extents)
    local C = netcdf.library()
    local file = C.H5Fopen(path, H5F_ACC_RDONLY, 0)
    if file < 0 then error(path .. ': HDF5 cannot open it', 0) end
    local ok = true
    for _, name in ipairs(variables) do
        local set = C.H5Dopen2(file, name, 0)
        ok = ok and set >= 0 and scan(C, set, origins, extents)
        if set >= 0 then C.H5Dclose(set) end
    end
    C.H5Fclose(file)
    if not ok then error(path .. ': HDF5 cannot find its chunks', 0) end
end

local Index = {}
Index.__index = Index

-- Of these variables, by their names. It is HDF5's own second look at a file that it has open:
-- the chunks are there as soon as something is put into them. To be closed before the file. Nil
-- where HDF5 refuses.
function M.index(path, names)
    local C = netcdf.library()
    local self = setmetatable({ path = path, sets = {} }, Index)
    self.file = C.H5Fopen(path, H5F_ACC_RDWR, 0)
    if self.file < 0 then return nil end
    for _, name in ipairs(names) do
        local set = C.H5Dopen2(self.file, '/' .. name, 0)
        if set < 0 then
            self:close()
            return nil
        end
        self.sets[name] = set
    end
    return self
end

-- Offset of the chunk that starts at this origin.
function Index:offset(name, origin)
    local found = {}
    if not scan(netcdf.library(), self.sets[name], { origin }, found) or not found[1] then
        error(self.path .. ': HDF5 cannot find a chunk of ' .. name, 0)
    end
    return found[1][1]
end

function Index:close()
    local C = netcdf.library()
    for _, set in pairs(self.sets) do C.H5Dclose(set) end
    C.H5Fclose(self.file)
end

return M
