-- CLBlast: products of matrices on OpenCL devices. Its first product of a type compiles kernels.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local foreign = require 'bindings.foreign'
local steps = require 'bindings.steps'

local M = {}

-- Called by mare_call_steps, which passes what they take.
ffi.cdef 'int CLBlastSgemm(void); int CLBlastDgemm(void);'

local names = { float = 'CLBlastSgemm', double = 'CLBlastDgemm' }
local ROWS, PLAIN, TRANSPOSED = 101, 111, 112

local C

local function library()
    C = C or foreign.load('CLBlast', { 'libclblast.so.1' }, 'libclblast1')
    return C
end

-- Raises an error that says what to install where the library is not there.
function M.load() library() end

-- Whether null devices count as OpenCL's; tests, whose library computes on the host, set it.
M.is_fake = false

-- Whether it computes on a device, and why not.
function M.is_there(device)
    if not (device.name:find '^opencl:' or M.is_fake and device.is_null) then
        return false, 'CLBlast is for OpenCL devices'
    end
    local ok, reason = pcall(library)
    return ok, not ok and tostring(reason) or nil
end

function M.has_type(name) return names[name] ~= nil end

local memory, offset = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'

-- Queues one product: see M.multiply of cublas.lua. z: which of the products
local function multiply_one(device, type_name, size, a, b, out, z)
    local bytes = tonumber(mare.C.mare_type_size(mare.types[type_name]))
    local list = { ROWS, a.is_t and TRANSPOSED or PLAIN, b.is_t and TRANSPOSED or PLAIN, size.rows,
        size.columns, size.depth }
    local function add(buffer, first, step)
        mare.check(mare.C.mare_buffer_native(buffer.handle, memory, offset))
        list[#list + 1] = memory[0]
        list[#list + 1] = tonumber(offset[0]) / bytes + first
        list[#list + 1] = step
    end
    add(a.buffer, a.offset + z * a.batch, a.step)
    add(b.buffer, b.offset + z * b.batch, b.step)
    add(out, z * size.rows * size.columns, size.columns)
    list[#list + 1], list[#list + 2] = steps.queue_address, 0
    local name = names[type_name]
    steps.run(device, 'product', { { name = name, run = C[name], words = list,
        reals = { type_name, 1, 0 } } }, { a.buffer, b.buffer, out })
end

-- Queues out = a b: see cublas.lua.
function M.multiply(device, type_name, size, a, b, out)
    library()
    for z = 0, size.count - 1 do multiply_one(device, type_name, size, a, b, out, z) end
end

return M
