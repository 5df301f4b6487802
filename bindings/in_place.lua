-- in_place.lua - memory of processors as it is to the host, without a copy: for libraries that
-- compute there.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local errors = require 'bindings.errors'
local foreign = require 'bindings.foreign'

local M = {}

ffi.cdef [[
void *clEnqueueMapBuffer(void *queue, void *buffer, uint32_t is_blocking, uint64_t flags,
    size_t offset, size_t size, uint32_t count, void *waits, void *event, int32_t *code);
int32_t clEnqueueUnmapMemObject(void *queue, void *buffer, void *at, uint32_t count, void *waits,
    void *event);
]]

local READ, OVERWRITE = 1, 4        -- CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION

local C

local function library()
    C = C or foreign.load('OpenCL', { 'libOpenCL.so.1' }, 'ocl-icd-libopencl1')
    return C
end

local memory, offset = ffi.new 'uint64_t[1]', ffi.new 'uint64_t[1]'
local queue, code = ffi.new 'void *[1]', ffi.new 'int32_t[1]'

local function queue_of(device)
    mare.check(mare.C.mare_stream_native(device.stream.handle, queue))
    return queue[0]
end

-- Returns { at: a pointer, buffer: of OpenCL, nil where nothing is mapped }. is_last: waits for all
-- that was mapped before, too
local function map(device, given, is_last)
    local size = tonumber(mare.C.mare_type_size(mare.types[given.type]))
    mare.check(mare.C.mare_buffer_native(given.cell.buffer, memory, offset))
    local first = tonumber(offset[0]) + given.offset * size
    if not device.name:find '^opencl:' then
        return { at = ffi.cast('char *', memory[0]) + first }
    end
    local buffer = ffi.cast('void *', memory[0])
    local at = library().clEnqueueMapBuffer(queue_of(device), buffer, is_last and 1 or 0,
        given.is_written and OVERWRITE or READ, first, given.count * size, 0, nil, nil, code)
    if code[0] ~= 0 then
        errors.raise('MARE_ERROR_MEMORY', ('clEnqueueMapBuffer(%d bytes): error %d'):format(
            given.count * size, code[0]))
    end
    return { at = at, buffer = buffer }
end

local function unmap(device, found)
    for _, one in ipairs(found) do
        if one.buffer then
            library().clEnqueueUnmapMemObject(queue_of(device), one.buffer, one.at, 0, nil, nil)
        end
    end
end

-- Calls use(pointer, ...) with one for each part of memory, when what is queued on the device's
-- default stream has ended; what is queued next sees what was written. given: { cell, type, offset,
-- count, is_written } each: of bindings/array.lua, in elements; what is_written is not read
function M.with(device, given, use)
    local found, pointers = {}, {}
    local is_done, reason = pcall(function()
        for k, part in ipairs(given) do
            found[k] = map(device, part, k == #given)
            pointers[k] = ffi.cast(mare.ctypes[part.type] .. ' *', found[k].at)
        end
        use(unpack(pointers))
    end)
    unmap(device, found)
    if not is_done then error(reason, 0) end
end

return M
