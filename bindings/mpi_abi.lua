-- mpi_abi.lua - the values behind MPI's names in each family of libraries. Open MPI's handles are
-- addresses of its objects, those of MPICH, Intel MPI and Cray MPI are 32-bit numbers, those of
-- the standard ABI of MPI 5 are small numbers. As uintptr_t all pass alike.

local ffi = require 'ffi'

ffi.cdef [[
    extern char ompi_mpi_comm_world[8], ompi_mpi_byte[8], ompi_mpi_uint64_t[8],
        ompi_mpi_op_max[8], ompi_mpi_errors_return[8];
    int MPI_Abi_get_version(int *major, int *minor);
]]

local M = {}

local mpich = { name = 'MPICH', world = 0x44000000, byte = 0x4c00010d, uint64 = 0x4c00083e,
    max = 0x58000001, errors_return = 0x54000001, any_source = -2, funneled = 1 }

local standard = { name = 'MPI 5', world = 0x101, byte = 0x247, uint64 = 0x259, max = 0x23,
    errors_return = 0x143, any_source = -1, funneled = 1024 }

local function openmpi(library)
    local function address(name)
        return ffi.cast('uintptr_t', ffi.cast('void *', library['ompi_mpi_' .. name]))
    end
    return { name = 'Open MPI', world = address 'comm_world', byte = address 'byte',
        uint64 = address 'uint64_t', max = address 'op_max',
        errors_return = address 'errors_return', any_source = -1, funneled = 1 }
end

local function has(library, name)
    return (pcall(function() return library[name] end))
end

-- A library whose ABI is another one has this call too, and says so by a version below 1.
local function is_standard(library)
    if not has(library, 'MPI_Abi_get_version') then return false end
    local major, minor = ffi.new('int[1]', -1), ffi.new('int[1]', -1)
    library.MPI_Abi_get_version(major, minor)
    return major[0] >= 1
end

-- The table of a loaded library.
function M.of(library)
    if has(library, 'ompi_mpi_comm_world') then return openmpi(library) end
    return is_standard(library) and standard or mpich
end

return M
