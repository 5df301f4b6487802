-- cuFFT: Fourier transforms on NVIDIA's GPUs. It is queued like launches and works in memory of
-- Mare, so that plans can hold it.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local foreign = require 'bindings.foreign'
local nvidia = require 'bindings.nvidia'
local steps = require 'bindings.steps'

local M = {}

ffi.cdef [[
int cufftCreate(int *);                     /* all but the last are called by mare_call_steps */
int cufftSetAutoAllocation(void);
int cufftMakePlanMany64(void);
int cufftSetStream(void);
int cufftSetWorkArea(void);
int cufftExecC2C(void);
int cufftExecR2C(void);
int cufftExecC2R(void);
int cufftExecZ2Z(void);
int cufftExecD2Z(void);
int cufftExecZ2D(void);
int cufftGetProperty(int, int *);
]]

-- By what is transformed and the precision: the type of the plan and the function that runs it.
local kinds = {
    complex = { float = { 0x29, 'cufftExecC2C' }, double = { 0x69, 'cufftExecZ2Z' } },
    rfft = { float = { 0x2a, 'cufftExecR2C' }, double = { 0x6a, 'cufftExecD2Z' } },
    irfft = { float = { 0x2c, 'cufftExecC2R' }, double = { 0x6c, 'cufftExecZ2D' } },
}
local forward, inverse = -1, 1

local C

local function library()
    C = C or foreign.load('cuFFT', { 'libcufft.so.12', 'libcufft.so.11', 'libcufft.so.10' },
        'NVIDIA\'s CUDA toolkit')
    return C
end

-- What the library says of itself; raises an error that says what to install where there is none.
function M.version() return nvidia.version(library().cufftGetProperty) end

-- Whether null devices count as NVIDIA's; tests, whose library computes on the host, set it.
M.is_fake = false

-- Whether it computes on a device, and why not.
function M.is_there(device)
    local has, why = nvidia.has(device, 'cuFFT', M.is_fake)
    if not has then return false, why end
    local ok, reason = pcall(library)
    return ok, not ok and tostring(reason) or nil
end

local function longs(list) return ffi.new('long long[?]', #list, list) end

-- Makes a plan. It does so on a stream of its own, because that of the device may be recorded.
local function make(device, desc)
    local own, size, stream = ffi.new 'int[1]', ffi.new 'size_t[1]', device:stream {}
    local function run(name, words)
        steps.run(device, 'plan of cuFFT', { { name = name, run = C[name], words = words } }, {},
            stream)
    end
    run('cufftCreate', { own })
    run('cufftSetAutoAllocation', { own[0], 0 })
    local from, to = desc.from, desc.to
    run('cufftMakePlanMany64', { own[0], #desc.sizes, longs(desc.sizes), longs(from.sizes),
        from.stride, from.apart, longs(to.sizes), to.stride, to.apart,
        kinds[desc.kind][desc.real][1], desc.count, size })
    stream:release()
    local bytes = tonumber(size[0])
    return { handle = own[0], memory = device:buffer { type = 'bytes', size = math.max(bytes, 16),
        label = 'work area of cuFFT' } }
end

-- Returns a plan of a device, which itself keeps it: see cublas.lua. desc: { kind: 'complex',
-- 'rfft' or 'irfft', real: 'float' or 'double', sizes: up to three, count: of transforms; from, to:
-- { sizes: of what lies in memory, stride: from one point to the next, apart: from one transform
-- to the next } }
function M.plan(device, desc)
    if not M.is_there(device) then
        errors.raise('MARE_ERROR_UNAVAILABLE', select(2, M.is_there(device)))
    end
    local list = rawget(device, 'cufft') or {}
    rawset(device, 'cufft', list)
    local key = { desc.kind, desc.real, desc.count, unpack(desc.sizes) }
    for _, side in ipairs { desc.from, desc.to } do
        for _, value in ipairs { side.stride, side.apart, unpack(side.sizes) } do
            key[#key + 1] = value
        end
    end
    key = table.concat(key, ' ')
    list[key] = list[key] or make(device, desc)
    return list[key]
end

-- Queues a transform, which is not scaled, of what is in a buffer, into another or the same one.
-- An inverse one of complex numbers to real ones may overwrite what it reads.
function M.run(device, plan, desc, from, to, is_inverse)
    local name = kinds[desc.kind][desc.real][2]
    local words = { plan.handle, nvidia.pointer(from), nvidia.pointer(to) }
    if desc.kind == 'complex' then words[4] = is_inverse and inverse or forward end
    steps.run(device, 'transform', {
        { name = 'cufftSetStream', run = C.cufftSetStream, words = { plan.handle, steps.queue } },
        { name = 'cufftSetWorkArea', run = C.cufftSetWorkArea,
            words = { plan.handle, nvidia.pointer(plan.memory) } },
        { name = name, run = C[name], words = words },
    }, { from, to, plan.memory })
end

return M
