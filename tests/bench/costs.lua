-- costs.lua - what single calls cost the host by Mare and by libraries of Python: a launch, an
-- allocation, small copies.
--     mare bench costs [DEVICE]
-- PyCUDA, CuPy, Numba and PyOpenCL (costs_peers.py), as far as the Python of $MARE_PYTHON, or
-- python3, has them, each in a process of its own; why one is not there stands below. Copies are
-- from pinned memory with CUDA, from other memory with OpenCL. `mare bench engine` has Mare
-- beside plain C.

local check_kind = require('mare.array.devices').check_kind
local ffi = require 'ffi'
local home = require 'bindings.home'
local json = require 'dkjson'
local now = require('bindings.system').now
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

local rows = { { 'launch', 'launch of an empty kernel' }, { 'wait', 'launch and wait' },
    { 'allocate', 'allocation and release of 1 MiB' }, { 'upload', 'upload of 4 KiB' },
    { 'download', 'download of 4 KiB' } }
local in_python = { cuda = { 'pycuda', 'cupy', 'numba' }, opencl = { 'pyopencl' } }
local calls, batches = record.few(400, 4), record.few(15, 2)

local source = 'MR_KERNEL void empty(MR_GLOBAL float *x, int n) { if (n < 0) x[0] = 0; }'

-- Returns the seconds of one call, the median of batches. finish: after each batch, not timed
local function time(work, finish)
    local seconds = {}
    for k = 0, batches do
        local begin = now()
        for _ = 1, calls do work() end
        seconds[k] = (now() - begin) / calls
        finish()
    end
    return record.median(seconds)       -- from 1 on: batch 0 warms up
end

local function by_mare(device)
    local x = device:buffer { type = 'float', count = 1024, label = 'x' }
    local is_pinned = device.name:find '^cuda'      -- as that of the peers
    local data = is_pinned and device:host { type = 'float', count = 1024 }
        or ffi.new('float[1024]')
    local launch = device:program { source = source, name = 'empty.krn' }:kernel 'empty':bind {
        x = x, n = 0, global = 32, group = 32 }
    local function finish() device:wait() end
    return {
        launch = time(function() launch:run() end, finish),
        wait = time(function()
            launch:run()
            device.stream:wait()
        end, finish),
        allocate = time(function()
            device:buffer { type = 'float', count = 2 ^ 18, label = 'y' }:release()
        end, finish),
        upload = time(function() x:upload(data) end, finish),
        download = time(function() x:download { into = data } end, finish),
    }
end

-- Returns what costs_peers.py prints of a library, or nil and its last words.
local function by_python(name, device)
    local path = os.tmpname()
    local pipe = io.popen(("'%s' '%s/tests/bench/costs_peers.py' %s %s %d %d '%s' 2>%s"):format(
        os.getenv 'MARE_PYTHON' or 'python3', home.root, name, device.name:match '%d+$', calls,
        batches, device.info.model, path))
    local found, last = json.decode(pipe:read '*a'), nil
    pipe:close()
    for line in io.lines(path) do last = line:find '%S' and line or last end
    os.remove(path)
    return found, last or 'it printed nothing'
end

local function report(device)
    local found, list, notes = by_mare(device), { 'mare' }, {}
    local all = { mare = found }
    for _, name in ipairs(in_python[device.name:match '^%a+'] or {}) do
        local theirs, reason = by_python(name, device)
        if theirs then all[name], list[#list + 1] = theirs, name end
        notes[#notes + 1] = ('  %s: %s'):format(name, theirs and theirs.version or
            'not here: ' .. reason)
    end
    print(('%s, %s: us of one call, median'):format(device.name, device.info.model))
    print(('%-34s'):format '' .. (' %9s'):rep(#list):format(unpack(list)))
    local values = { benchmark = 'costs', unit = 'us', python = table.concat(notes, ';') }
    for k, row in ipairs(rows) do
        local text = ('%-34s'):format(row[2])
        for _, name in ipairs(list) do
            values[name .. '_' .. row[1]] = 1e6 * all[name][row[1]]
            text = text .. (' %9.2f'):format(1e6 * all[name][row[1]])
        end
        if k < #rows then print(text) else record.write(device, values, text) end
    end
    for _, note in ipairs(notes) do print(note) end
end

local device = words.device(arg[1])
check_kind(device, 'costs')
report(device)
