-- cuBLAS: products of matrices on NVIDIA's GPUs. It is queued like launches, takes memory of Mare
-- for its own needs, so that plans can hold it, and rounds floats to TF32 only when that is asked.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local errors = require 'bindings.errors'
local foreign = require 'bindings.foreign'
local nvidia = require 'bindings.nvidia'
local steps = require 'bindings.steps'

local M = {}

ffi.cdef [[
int cublasCreate_v2(void **);
int cublasSetStream_v2(void *, void *);
int cublasSetWorkspace_v2(void *, void *, size_t);
int cublasGemmEx(void);                     /* these two are called by mare_call_steps */
int cublasGemmStridedBatchedEx(void);
int cublasGetProperty(int, int *);
]]

-- Types of elements, those of the scalars, and those that products are computed in, in cuBLAS: as a
-- rule, and where TF32 is asked for, which it knows of floats alone.
local types = {
    half = { 2, 'float', 68, 68 }, float = { 0, 'float', 68, 77 }, double = { 1, 'double', 70, 70 },
    complex_float = { 4, 'float', 68, 77 }, complex_double = { 5, 'double', 70, 70 },
}
local any_algorithm = -1
local workspace = 2^25      -- bytes, which NVIDIA recommends for its fastest kernels since Hopper

local C

local function library()
    C = C or foreign.load('cuBLAS', { 'libcublas.so.13', 'libcublas.so.12', 'libcublas.so.11' },
        'NVIDIA\'s CUDA toolkit')
    return C
end

-- What the library says of itself; raises an error that says what to install where there is none.
function M.version() return nvidia.version(library().cublasGetProperty) end

-- On a stream of its own, because that of the device may be recorded.
local function open(device)
    local handle, stream = ffi.new 'void *[1]', device:stream {}
    steps.run(device, 'cuBLAS', { { name = 'cublasCreate_v2', run = library().cublasCreate_v2,
        words = { handle } } }, {}, stream)
    stream:release()
    local memory = device:buffer { type = 'bytes', size = workspace, label = 'workspace of cuBLAS' }
    return { handle = handle[0], memory = memory }
end

-- Returns { handle, memory } of a device, or the reason why there is none. The device itself keeps
-- them: in a table by device the memory, which holds its device, would keep both for ever. The
-- handle goes with the process.
local function of(device)
    local found = rawget(device, 'cublas')
    if found == nil then
        local ok, made = pcall(open, device)
        found = ok and made or { reason = tostring(made) }
        rawset(device, 'cublas', found)
    end
    return found
end

-- Whether null devices count as NVIDIA's; tests, whose library computes on the host, set it.
M.is_fake = false

-- Whether it computes on a device, and why not.
function M.is_there(device)
    local has, why = nvidia.has(device, 'cuBLAS', M.is_fake)
    if not has then return false, why end
    local reason = of(device).reason
    return not reason, reason
end

function M.has_type(name) return types[name] ~= nil end

-- The words of a product of row-major matrices, which to cuBLAS is one of their transposes.
local function words_of(handle, type_name, size, a, b, out, is_tf32)
    local code, scalar, compute, in_tf32 = unpack(types[type_name])
    local bytes = tonumber(mare.C.mare_type_size(mare.types[type_name]))
    local many = size.count > 1
    local list = { handle, b.is_t and 1 or 0, a.is_t and 1 or 0, size.columns, size.rows,
        size.depth, { scalar, 1, 0 } }
    local function add(...)
        for k = 1, select('#', ...) do list[#list + 1] = (select(k, ...)) end
    end
    for _, x in ipairs { b, a } do
        add(nvidia.pointer(x.buffer, x.offset * bytes), code, x.step)
        if many then add(x.batch) end
    end
    add({ scalar, 0, 0 }, nvidia.pointer(out), code, size.columns)
    if many then add(size.rows * size.columns, size.count) end
    add(is_tf32 and in_tf32 or compute, any_algorithm)
    return list
end

-- Queues out = a b for size.count products of size.rows x size.depth and size.depth x size.columns
-- elements. a, b: { buffer, offset, batch, step, is_t }: elements before the first, from one matrix
-- to the next and from one line to the next, and whether these are columns; is_tf32: whether
-- floats may be rounded to 10 bits
function M.multiply(device, type_name, size, a, b, out, is_tf32)
    local own = of(device)
    if own.reason then errors.raise('MARE_ERROR_UNAVAILABLE', own.reason) end
    local name = size.count > 1 and 'cublasGemmStridedBatchedEx' or 'cublasGemmEx'
    local handle = own.handle
    steps.run(device, 'product', {
        { name = 'cublasSetStream_v2', run = C.cublasSetStream_v2,
            words = { handle, steps.queue } },
        { name = 'cublasSetWorkspace_v2', run = C.cublasSetWorkspace_v2,
            words = { handle, nvidia.pointer(own.memory), workspace } },
        { name = name, run = C[name],
            words = words_of(handle, type_name, size, a, b, out, is_tf32) },
    }, { a.buffer, b.buffer, out, own.memory })
end

return M
