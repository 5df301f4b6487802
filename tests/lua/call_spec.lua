-- Calls of somebody else's library, peers, plans over several streams, programmatic launches.

local device = require 'bindings.device'
local devices = require 'tests.devices'
local ffi = require 'ffi'

ffi.cdef [[
typedef struct call_spec_semaphore { long words[4]; } call_spec_semaphore;
int sem_init(call_spec_semaphore *, int shared, unsigned value);
int sem_wait(call_spec_semaphore *);            /* counts down, and returns 0 */
int sem_getvalue(call_spec_semaphore *, int *value);
int atoi(const char *);                         /* returns the status that it is given */
]]

local add = [[
MR_KERNEL void add(int a, MR_GLOBAL int *x) { x[mr_gid_x()] += a; }
]]

local function refused(status, words, f, ...)
    local ok, e = pcall(f, ...)
    assert.is_false(ok)
    assert.equal(status, type(e) == 'table' and e.status or e)
    for _, word in ipairs(words) do
        assert.truthy(tostring(e):find(word, 1, true), tostring(e))
    end
end

for _, info in ipairs(devices()) do
    describe('a call on ' .. info.name, function()
        local most = 1000
        local d, counter, count

        before_each(function()
            d, counter = device.open(info.name), ffi.new 'call_spec_semaphore'
            ffi.C.sem_init(counter, 0, most)
            count = d:call { label = 'count', run = ffi.C.sem_wait, data = counter, bytes = 8 }
        end)

        local function called()
            local value = ffi.new 'int[1]'
            ffi.C.sem_getvalue(counter, value)
            return most - value[0]
        end

        it('runs a function of C with its data, on any stream', function()
            count:run()
            count(d.stream)
            count:run(d:stream {})
            assert.equal(3, called())
            assert.equal("call 'count'", tostring(count))
        end)

        it('is part of plans, whose data it keeps', function()
            local plan = d.stream:record(function() count:run(d.stream) end)
            local before = called()
            count:release()
            collectgarbage()
            plan:run(3)
            d:wait()
            assert.is_true(called() > before)
        end)

        it('takes host memory and no data', function()
            local host, value = d:host { type = 'uint8', count = 32 }, ffi.new 'int[1]'
            ffi.C.sem_init(ffi.cast('call_spec_semaphore *', host:pointer()), 0, most)
            d:call { label = 'host', run = ffi.C.sem_wait, data = host }:run()
            ffi.C.sem_getvalue(ffi.cast('call_spec_semaphore *', host:pointer()), value)
            assert.equal(most - 1, value[0])
        end)

        it('raises the status of its function', function()
            local text = ffi.new('char[2]', '3')
            local fails = d:call { label = 'fails', run = ffi.C.atoi, data = text }
            refused('MARE_ERROR_UNAVAILABLE', { "'fails'" }, fails.run, fails)
            text[0] = 48
            fails:run()
        end)

        it('refuses what no library can call', function()
            local function try(change)
                local desc = { label = 'c', run = ffi.C.sem_wait, data = counter }
                for name, value in pairs(change) do
                    desc[name] = value ~= 'none' and value or nil
                end
                return function() d:call(desc) end
            end
            local x = d:buffer { type = 'float', count = 4 }
            local wrong = 'MARE_ERROR_ARGUMENT'
            refused(wrong, { "call 'c'", 'a Lua function' }, try { run = function() end })
            refused(wrong, { "call 'c'", 'a function of C', 'not string' }, try { run = 'wait' })
            refused(wrong, { 'not ctype<int *>' }, try { run = ffi.new 'int[1]' + 0 })
            refused(wrong, { 'run is missing' }, try { run = ffi.cast('mare_call_function', nil) })
            refused(wrong, { 'run is missing' }, try { run = 'none' })
            refused(wrong, { 'label is missing' }, try { label = 'none' })
            refused(wrong, { 'data must be', 'not table' }, try { data = {} })
            refused(wrong, { 'data must be', 'not number' }, try { data = 5 })
            refused(wrong, { 'data must be', 'int64' }, try { data = 5LL })
            refused(wrong, { 'buffers', 'a buffer is wanted' }, try { buffers = { x, 5 } })
            refused(wrong, { 'bytes', 'whole number' }, try { bytes = -1 })
            refused(wrong, { "unknown field 'dat'", "'data'" }, try { dat = counter })
            refused(wrong, { 'a stream is wanted' }, count.run, count, d)
            assert.equal(0, called())
        end)
    end)

    describe('a plan of joined streams on ' .. info.name, function()
        it('runs its branches in the order of their events', function()
            local d = device.open(info.name)
            local x = d:buffer { type = 'int32', count = 4 }
            local kernel = d:program { source = add, name = 'add.krn' }:kernel 'add'
            local one = kernel:bind { a = 1, x = x, global = 4 }
            local other, begun, done = d:stream { label = 'other' }, d:event(), d:event()
            x:fill(0)
            local plan = d.stream:record(function()
                d.stream:join(other)
                one:run(d.stream)
                begun:record(d.stream)
                other:wait_event(begun)
                one:run(other)
                done:record(other)
                d.stream:wait_event(done)
                one:run(d.stream)
            end, 'joined')
            plan:run(2)
            d:wait()
            if info.runs_kernels then assert.same({ 6, 6, 6, 6 }, x:totable()) end
            local host = d:host { type = 'int32', count = 4 }
            local copy = d.stream:record(function()
                d.stream:join(other)
                x:download { into = host, stream = other }
            end)
            copy:run()
            d:wait()
            if info.runs_kernels then assert.equal(6, host.data[3]) end
        end)

        it('is refused where nothing records, and of no stream', function()
            local d = device.open(info.name)
            local other, wrong = d:stream {}, 'MARE_ERROR_ARGUMENT'
            refused(wrong, { 'record' }, function() d.stream:join(other) end)
            refused(wrong, { 'a stream is wanted' }, function() d.stream:join(d) end)
            refused(wrong, { 'a stream is wanted' }, function() d.stream:join() end)
        end)
    end)

    describe('memory of others on ' .. info.name, function()
        local d = device.open(info.name)

        it('is reached by two handles of one device where these are peers', function()
            local peer = device.open(info.name)
            assert.is_true(d:can_reach(d))
            if not d:can_reach(peer) then
                return refused('MARE_ERROR_UNAVAILABLE', { 'no peers' }, d.reach, d, peer)
            end
            local x = peer:buffer { type = 'int32', count = 4 }
            local kernel = d:program { source = add, name = 'add.krn' }:kernel 'add'
            local values = { a = 1, x = x, global = 4 }
            refused('MARE_ERROR_ARGUMENT', { 'another device' }, kernel.bind, kernel, values)
            d:reach(peer)
            kernel:bind(values):run()
            d:wait()
        end)

        it('is shared as text where the device shares', function()
            local x = d:buffer { type = 'float', count = 4, label = 'x' }
            if d.info.has_sharing then return assert.equal(128, #x:share()) end
            refused('MARE_ERROR_UNAVAILABLE', { "'x'", 'share' }, x.share, x)
            refused('MARE_ERROR_UNAVAILABLE', { "'y'" }, d.open_buffer, d, ('x'):rep(128), 'y')
        end)

        it('refuses what is none', function()
            local wrong = 'MARE_ERROR_ARGUMENT'
            refused(wrong, { 'device:reach', 'a device is wanted' }, d.reach, d, 'null')
            refused(wrong, { 'device:can_reach' }, d.can_reach, d)
            refused(wrong, { 'device:open_buffer', 'string' }, d.open_buffer, d, 5)
            refused(wrong, { '128 bytes', 'not 3' }, d.open_buffer, d, 'abc')
            refused(wrong, { 'label' }, d.open_buffer, d, ('x'):rep(128), 5)
        end)
    end)

    describe('a programmatic launch on ' .. info.name, function()
        it('is bound where the device has it, else refused', function()
            local d = device.open(info.name)
            local x = d:buffer { type = 'int32', count = 4 }
            local kernel = d:program { source = add, name = 'add.krn' }:kernel 'add'
            local values = { a = 1, x = x, global = 4, programmatic = true }
            if d.info.has_programmatic then return kernel:bind(values):run() end
            refused('MARE_ERROR_UNAVAILABLE', { "kernel 'add'", 'programmatic' }, kernel.bind,
                kernel, values)
            values.programmatic = false
            kernel:bind(values):run()
            d:wait()
        end)
    end)
end
