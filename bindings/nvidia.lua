-- What Mare's modules for libraries of NVIDIA's CUDA toolkit have in common.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'

local nvidia = {}

-- Returns the version that a library's get(which, int *) tells, such as '12.0.4'.
function nvidia.version(get)
    local numbers, one = {}, ffi.new 'int[1]'
    for k = 0, 2 do
        mare.check(get(k, one))
        numbers[k + 1] = one[0]
    end
    return table.concat(numbers, '.')
end

-- Returns false and why where a device is none of NVIDIA's. is_fake: null devices count, for tests
-- whose library computes on the host
function nvidia.has(device, name, is_fake)
    if device.name:find '^cuda:' or is_fake and device.is_null then return true end
    return false, name .. ' is for CUDA devices'
end

local address, offset = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'

-- Returns the address of a buffer, or of the byte `at` of it, as the libraries take it.
function nvidia.pointer(buffer, at)
    mare.check(mare.C.mare_buffer_native(buffer.handle, address, offset))
    return ffi.cast('uintptr_t', address[0] + offset[0] + (at or 0))
end

return nvidia
