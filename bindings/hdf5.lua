-- Where the chunks of a NetCDF-4 variable lie in its file, which NetCDF-C does not tell but the
-- HDF5 below it does.

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

local unknown = 2 ^ 63      -- above it HDF5's "no address"

local function scan(C, set, origins, extents)
    local start, mask = ffi.new 'uint64_t[3]', ffi.new 'unsigned[1]'
    local address, size = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'
    for _, origin in ipairs(origins) do
        for d = 1, #origin do start[d - 1] = origin[d] end
        if C.H5Dget_chunk_info_by_coord(set, start, mask, address, size) < 0 then return false end
        local offset = tonumber(address[0])
        if offset < unknown then extents[#extents + 1] = { offset, tonumber(size[0]) } end
    end
    return true
end

-- Appends { offset, bytes } to extents for the chunks that start at these origins, of 3 numbers at
-- most.
function M.chunks(path, variables, origins, extents)
    local C = netcdf.library()
    local file = C.H5Fopen(path, 0, 0)
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

return M
