-- Tests planted faults: of vendors (fake drivers that fail on demand), of the
-- system, of the user. Each must reach the script as an error with the right
-- status and a message that names the object, the value and the line. Nothing
-- may leak; the fakes check this when the process ends.

local home = require 'bindings.home'
local devices = require 'tests.devices'

local libraries = require 'tests.fakes' .. '/'

local prelude = [[
local mare = require 'mare'
local function attempt(f)
    local ok, e = pcall(f)
    print(ok and 'OK' or e.status .. ' ' .. tostring(e))
end
]]

local opencl = [[
local d = mare.device.open 'opencl:0'
local rho = d:buffer { type = 'float', count = 1024, label = 'rho' }
local p = d:program { name = 'saxpy.krn', language = 'opencl', source =
    '__kernel void saxpy(int n, float a, __global const float *x, __global float *y) {}' }
local launch = p:kernel 'saxpy':bind { n = 1024, a = 2, x = rho, y = rho, global = 1024,
    group = 64 }
]]

local cuda = [[
local d = mare.device.open 'cuda:0'
local rho = d:buffer { type = 'float', count = 1000, label = 'rho' }
local p = d:program { name = 'axpy.krn', language = 'cuda', source =
    'extern "C" __global__ void axpy(int n, float a, const float *x, float *y) { }' }
local launch = p:kernel 'axpy':bind { n = 1000, a = 2, x = rho, y = rho, global = 1000,
    group = 256 }
]]

local null = [[
local d = mare.device.open 'null:0'
local rho = d:buffer { type = 'float', count = 100, label = 'rho' }
local text = 'MR_KERNEL void k(int n, float a, MR_GLOBAL float *x) {}'
local p = d:program { name = 'k.krn', source = text }
]]

-- Runs setup and then the line that must fail, in the given environment.
-- Returns the output, the number of the line and the script's path.
local function run(case)
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    local head = prelude .. (case.setup or '') .. 'attempt(function()\n'
    file:write(head, case.line, '\nend)\n', case.after or '')
    file:close()
    local folder = case.library and libraries .. case.library or '/nowhere'
    local fail = case.fail and 'MARE_FAKE_FAIL=' .. case.fail or ''
    local pipe = io.popen(("LD_LIBRARY_PATH='%s' CUDA_HOME= CUDA_PATH= MARE_CACHE=%s %s %s '%s' %s "
        .. "2>&1; echo exit status $?"):format(folder, case.cache or 'off', fail,
        case.environment or '', home.launcher, path))
    local text = pipe:read '*a'
    pipe:close()
    os.remove(path)
    assert.equal('exit status 0\n', text:match 'exit status %d+\n$', text)
    return text, select(2, head:gsub('\n', '')) + 1, path
end

local function expect(case)
    local text, line, path = run(case)
    local status, message = text:match 'MARE_(%S+) (/.*)'
    assert.equal('ERROR_' .. case.status, status, text)
    assert.equal(('%s:%d: '):format(path, line), message:sub(1, #path + #tostring(line) + 3))
    for _, part in ipairs(case) do
        assert.truthy(text:find(part, 1, true), ('lacks "%s":\n%s'):format(part, text))
    end
end

local function exists(library)
    local file = io.open(libraries .. library)
    if file then file:close() end
    return file ~= nil
end

local provoked, count = {}, 0

local function cases(what, common, list)
    describe(what, function()
        for _, case in ipairs(list) do
            for key, value in pairs(common) do case[key] = case[key] or value end
            provoked[case.status], count = true, count + 1
            it(('%s: %s'):format(case.fail or case.line, case.status), function()
                if case.library and not exists(case.library) then pending 'no fake library' end
                expect(case)
            end)
        end
    end)
end

cases('a fault of the user', { setup = null }, {
    { line = "mare.device.open 'metal'", status = 'UNAVAILABLE', "'metal'",
      'have: cuda, opencl' },
    { line = "d:buffer { size = 0, label = 'E' }", status = 'ARGUMENT', "'E': size is 0" },
    { line = "rho:upload({ 1, 2, 3 }, { offset = 98 })", status = 'ARGUMENT',
      "'rho': upload of 12 bytes at offset 392, but it has 400 bytes" },
    { line = "d:program { name = 'b.krn', source = '#error no way' }", status = 'BUILD',
      "program 'b.krn'", '#error no way' },
    { line = "p:kernel 'sweep'", status = 'ARGUMENT', "program 'k.krn'", "'sweep'" },
    { line = "p:kernel 'k':bind { n = 1.5, a = 1, x = rho, global = 1 }", status = 'ARGUMENT',
      "kernel 'k', argument 0 'n': expects int32, got 1.5, which is not whole" },
    { line = "p:kernel 'k':bind { n = 1, a = 1, x = 3, global = 1 }", status = 'ARGUMENT',
      "argument 2 'x': expects a buffer of float, got the number 3" },
    { line = "p:kernel 'k':bind { n = 1, a = 1, x = rho }:run()", status = 'ARGUMENT',
      "kernel 'k': its shape is not set" },
    { line = "p:kernel 'k':bind { n = 1, a = 1, x = rho, global = 64, group = 4096 }",
      status = 'ARGUMENT', "kernel 'k': group size 4096 along x (allowed on null:0: 1 to 1024)" },
    { line = "rho:release() rho:fill(1)", status = 'ARGUMENT',
      "buffer 'rho' is used after its release" },
})

local cache = os.tmpname()
os.remove(cache)

cases('a fault of the system', { setup = null }, {
    { line = "d:buffer { size = 2^20, label = 'E' }", environment = 'MARE_MEMORY_LIMIT=1000K',
      status = 'MEMORY', "'E': 1048576 bytes, null:0 allows at most 1024000" },
    { line = "d:buffer { size = 1024000, label = 'E' }", environment = 'MARE_MEMORY_LIMIT=1000K',
      status = 'MEMORY', "'E' of 1024000 bytes on null:0", 'buffers hold 512 bytes, 0 are idle',
      'limit is 1024000 bytes' },
    { setup = "os.execute 'mkdir -p \"$MARE_CACHE/.mare-1-1\"'\n",
      line = 'mare.device.cache.clear()', cache = cache, status = 'IO',
      cache .. '/.mare-1-1', 'directory',
      after = "os.execute 'rm -r \"$MARE_CACHE\"'\n" },
    { line = "mare.device.open 'null'", setup = '\n', environment = 'MARE_MEMORY_LIMIT=lots',
      status = 'ARGUMENT', "device 'null:0'", "MARE_MEMORY_LIMIT='lots' is no size" },
})

cases('a fault of OpenCL', { library = 'fake_opencl', setup = opencl }, {
    { fail = 'clGetPlatformIDs:1:-1001', setup = '\n', line = "mare.device.open 'opencl'",
      status = 'UNAVAILABLE', 'clGetPlatformIDs', '(-1001)' },
    { fail = 'clCreateContext:1+:-6', setup = '\n', line = "mare.device.open 'opencl'",
      status = 'MEMORY', "device 'opencl:0'", 'clCreateContext(Fake GPU)',
      'CL_OUT_OF_HOST_MEMORY (-6)' },
    { fail = 'clCreateBuffer:2+:-4', line = "d:buffer { size = 4096, label = 'E' }",
      status = 'MEMORY', "'E' of 4096 bytes on opencl:0: buffers hold 4096 bytes, 0 are idle",
      'clCreateBuffer(4096 bytes): CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)' },
    { fail = 'clEnqueueWriteBuffer:1:-30', line = 'rho:upload { 1, 2 }', status = 'DEVICE',
      "buffer 'rho': upload of 8 bytes", 'clEnqueueWriteBuffer', 'CL_INVALID_VALUE (-30)' },
    { fail = 'clBuildProgram:1:-11', setup = opencl:match '^.-\n',
      line = "d:program { name = 'bad.krn', source = '__kernel void b() {}', language = 'opencl' }",
      status = 'BUILD', "program 'bad.krn'", 'CL_BUILD_PROGRAM_FAILURE (-11)' },
    { fail = 'clEnqueueNDRangeKernel:1:-54', line = 'launch()', status = 'ARGUMENT',
      "kernel 'saxpy' (16 x 1 x 1 groups of 64 x 1 x 1)", 'CL_INVALID_WORK_GROUP_SIZE (-54)' },
    { fail = 'clEnqueueNDRangeKernel:1:-36', line = 'launch()', status = 'LOST',
      "kernel 'saxpy' (16 x 1 x 1 groups of 64 x 1 x 1)", 'CL_INVALID_COMMAND_QUEUE (-36)' },
    { fail = 'clFinish:1:-9999', line = 'd.stream:wait()', status = 'LOST',
      "stream 'default': wait: clFinish", '-9999',
      "mare: error: device 'opencl:0' is lost: stream 'default': wait: clFinish" },
})

cases('a fault of CUDA', { library = 'fake_cuda', setup = cuda }, {
    { fail = 'cuInit:1:999', setup = '\n', line = "mare.device.open 'cuda'",
      status = 'UNAVAILABLE', "device 'cuda'", 'cuInit', '(999)' },
    { fail = 'cuMemAlloc_v2:2+:2', line = "d:buffer { size = 131072, label = 'E' }",
      status = 'MEMORY', "'E' of 131072 bytes on cuda:0: buffers hold 4096 bytes, 0 are idle",
      'cuMemAlloc(131072 bytes)', '(2)' },
    { fail = 'cuModuleLoadDataEx:1:1', setup = cuda:match '^.-\n',
      line = 'local a = mare.zeros({ 4 }, { device = d }); (a + 1):eval()', status = 'DEVICE',
      'cuModuleLoadDataEx' },
    { fail = 'cuMemHostAlloc:1+:2', line = "d:host { size = 64, label = 'stage' }",
      status = 'MEMORY', "host memory 'stage' of 64 bytes", 'cuMemHostAlloc(64 bytes)' },
    { fail = 'cuModuleLoadDataEx:1:209', setup = cuda:match '^.-\n',
      line = "d:program { name = 'b.krn', language = 'cuda', source = 'int b;' }",
      status = 'BUILD', "program 'b.krn'", 'cuModuleLoadDataEx', '(209)' },
    { fail = 'nvrtcCompileProgram:1:6', setup = cuda:match '^.-\n',
      line = "d:program { name = 'b.krn', language = 'cuda', source = 'int b;' }",
      status = 'BUILD', "program 'b.krn'", 'nvrtcCompileProgram' },
    { fail = 'cuLaunchKernel:1:701', line = 'launch()', status = 'DEVICE',
      "kernel 'axpy' (4 x 1 x 1 groups of 256 x 1 x 1)", 'cuLaunchKernel', '(701)' },
    { fail = 'cuLaunchCooperativeKernel:1:720', line = 'launch()', status = 'DEVICE',
      setup = cuda:gsub('global =', 'together = true, %0'),
      "kernel 'axpy' (4 x 1 x 1 groups of 256 x 1 x 1)", 'cuLaunchCooperativeKernel', '(720)' },
    { fail = 'cuLaunchKernel:1:700', line = 'launch()', status = 'LOST',
      "kernel 'axpy' (4 x 1 x 1 groups of 256 x 1 x 1)", 'cuLaunchKernel', '(700)' },
    { fail = 'cuStreamSynchronize:1:719', line = 'd.stream:wait()', status = 'LOST',
      "stream 'default': wait: cuStreamSynchronize", '(719)' },
})

-- On whatever device runs kernels here.
local simulation = [[
local grid = mare.grid { nx = 16, ny = 8, x = { 0, 2 }, y = { 0, 1 } }
local function falling(x) return 1, 0, 0, x < 1 and 1 or -3 end
]]

local able = devices()[1].kind ~= 'other' and devices()[1].name

cases('a fault of the numbers', { setup = simulation }, able and {
    { line = ("mare.simulation { grid = grid, scheme = mare.euler { gamma = 1.4 }, "
          .. "devices = { '%s' }, boundaries = 'outflow', initial = falling }"):format(able),
      status = 'STATE',
      'initial state is invalid: pressure -3 in cell (8, 0)' },
} or {})

describe('the statuses of mare.h', function()
    it('are all provoked', function()
        local elsewhere = { SCRIPT = true, INTERRUPTED = true,      -- by engines: tests/embed
                            STATE = not able }
        local file = assert(io.open(home.header))
        for status in file:read '*a':match 'MARE_OK = 0,(.-)}':gmatch 'MARE_ERROR_(%u+)' do
            assert.truthy(provoked[status] or elsewhere[status], status)
        end
        file:close()
        assert.is_true(count >= 20)
    end)
end)

-- Every later call answers with the first fault, also one of a new kind; releases work; a new
-- device is sound.
describe('a lost device', function()
    local after = [[
local first = true
for _, f in ipairs {
    function() launch() end, function() rho:fill(0) end, function() rho:upload { 1 } end,
    function() rho:download() end, function() d:wait() end, function() d.stream:wait() end,
    function() d:buffer { size = 8, label = 'E' } end, function() d:host { size = 8 } end,
    function() d:stream() end, function() d:event() end, function() d:memory() end,
    function() d:event() end, function() p:kernel '%s' end,
    function() d:program { source = 'x' } end,
} do
    local ok, e = pcall(f)
    if ok or e.status ~= 'MARE_ERROR_LOST' or not e.message:find("was lost: kernel '%s' (", 1, true)
    then
        print('not lost:', ok, e)
    end
end
launch:release() p:release() rho:release() d:release()
local again = mare.device.open '%s:0'
local b = again:buffer { type = 'float', count = 4 }
b:fill(7)
print(b:download()[3])
]]

    local function recovers(library, setup, fail, kernel, backend)
        if not exists(library) then pending 'no fake library' end
        local text = run { library = library, setup = setup, fail = fail, line = 'launch()',
                           after = after:format(kernel, kernel, backend) }
        assert.truthy(text:find('MARE_ERROR_LOST', 1, true), text)
        assert.equal('7', text:match '\n(%d+)\nexit', text)
        assert.is_nil(text:find 'not lost', text)
    end

    it('says so until it is released, on CUDA', function()
        recovers('fake_cuda', cuda, 'cuLaunchKernel:1:700', 'axpy', 'cuda')
    end)

    it('leaves the profile, its release and the report of memory to work, on CUDA', function()
        if not exists 'fake_cuda' then pending 'no fake library' end
        local text = run { library = 'fake_cuda', setup = cuda .. [[
local other = mare.device.open 'null'
mare.profile(function() rho:fill(0) end)
]], fail = 'cuStreamSynchronize:1+:700', line = [[
    mare.profile(function() rho:fill(0) d.stream:wait() end)]], after = [[
print(#mare.memory(), mare.memory())
attempt(function() mare.profile(function() end) end)
mare.profile(function() d:release() end)
print(#mare.memory())
]] }
        assert.truthy(text:find '\nMARE_ERROR_LOST [^\n]*cuStreamSynchronize', text)
        assert.truthy(text:find '\n2%s+cuda:0 +lost\nnull:0 .-\nOK\n1\n', text)
    end)

    it('says so until it is released, on OpenCL', function()
        recovers('fake_opencl', opencl, 'clEnqueueNDRangeKernel:1:-36', 'saxpy', 'opencl')
    end)
end)
