-- NVIDIA's management library, which comes with the driver: the power and the energy of a GPU. A
-- GPU is found by the uuid that CUDA and OpenCL tell too, because it counts GPUs in another order.

local ffi = require 'ffi'
local foreign = require 'bindings.foreign'

ffi.cdef [[
    int nvmlInit_v2(void);
    int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
    int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
    int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
    int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
    int nvmlDeviceGetUtilizationRates(void *device, unsigned *percent);
    int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *processes);
    const char *nvmlErrorString(int code);
]]

local C         -- once loaded
local INSUFFICIENT_SIZE = 7

local M = {}

local Gpu = {}
Gpu.__index = Gpu

local function load()
    if C then return C end
    local library = foreign.load('NVML', { 'libnvidia-ml.so.1' }, 'the NVIDIA driver')
    local code = library.nvmlInit_v2()
    if code ~= 0 then error('NVML: ' .. ffi.string(library.nvmlErrorString(code)), 0) end
    C = library
    return C
end

-- Raises where there is no NVML, or no such GPU in it.
function M.open(uuid)
    local library, out = load(), ffi.new 'void *[1]'
    local code = library.nvmlDeviceGetHandleByUUID('GPU-' .. uuid, out)
    if code ~= 0 then
        error(string.format('NVML: GPU-%s: %s', uuid, ffi.string(library.nvmlErrorString(code))), 0)
    end
    return setmetatable({ handle = out[0], long = ffi.new 'unsigned long long[1]',
        short = ffi.new 'unsigned[2]' }, Gpu)
end

-- Joules since the driver was loaded; nil where the GPU does not count them.
function Gpu:energy()
    if C.nvmlDeviceGetTotalEnergyConsumption(self.handle, self.long) ~= 0 then return nil end
    return tonumber(self.long[0]) / 1000
end

-- Watts, or nil.
function Gpu:power()
    if C.nvmlDeviceGetPowerUsage(self.handle, self.short) ~= 0 then return nil end
    return self.short[0] / 1000
end

-- Degrees Celsius, or nil.
function Gpu:temperature()
    if C.nvmlDeviceGetTemperature(self.handle, 0, self.short) ~= 0 then return nil end
    return self.short[0]
end

-- The part of the last moment, about a second or less, in which a kernel ran, from 0 to 1; or nil.
function Gpu:load()
    if C.nvmlDeviceGetUtilizationRates(self.handle, self.short) ~= 0 then return nil end
    return self.short[0] / 100
end

-- How many processes compute on it, as far as this one may see, or nil.
function Gpu:processes()
    self.short[0] = 0
    local ok, code = pcall(C.nvmlDeviceGetComputeRunningProcesses_v3, self.handle, self.short, nil)
    if not ok or code ~= 0 and code ~= INSUFFICIENT_SIZE then return nil end
    return self.short[0]
end

return M
