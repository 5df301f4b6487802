local device = require 'bindings.device'
local devices = require 'tests.devices'
local fails = require 'tests.fails'
local garbage = require 'tests.lua.garbage'

local add = [[
MR_KERNEL void add(int n, int a, MR_GLOBAL int *x) {
    int i = mr_gid_x();
    if (i < n) x[i] += a;
}
]]

local function failure(f, ...)
    local ok, result = pcall(f, ...)
    assert.is_false(ok)
    return tostring(result)
end

for _, info in ipairs(devices()) do
    local runs_kernels = info.runs_kernels

    describe('plan on ' .. info.name, function()
        local d, x, launch

        before_each(function()
            d = device.open(info.name)
            x = d:buffer{ type = 'int32', count = 100, label = 'x' }
            x:fill(0)
            launch = d:program{ source = add, name = 'add.krn' }:kernel 'add':bind {
                n = 100, a = 1, x = x, global = 100,
            }
        end)

        local function check_sum(expected)
            local values = x:totable { offset = 98, count = 2 }
            expected = runs_kernels and expected or 0
            assert.same({ expected, expected }, values)
        end

        it('replays launches with the arguments they have then', function()
            local plan = d.stream:record(function()
                launch:run()
                launch()
            end, 'twice')
            assert.equal("plan 'twice'", tostring(plan))
            check_sum(0)
            plan:run()
            check_sum(2)
            launch:set('a', 10)
            plan(2)
            check_sum(42)
            local y = d:buffer{ type = 'int32', count = 100, label = 'y' }
            y:fill(0)
            launch:set('x', y)
            plan:run(1, d.stream)
            check_sum(42)
            assert.equal(runs_kernels and 20 or 0, y:totable()[100])
        end)

        it('follows scalars written in place', function()
            local plan = d.stream:record(function() launch:run() end)
            local a = launch:scalar 'a'
            assert.equal(1, a[0])
            for value = 1, 4 do
                a[0] = value
                plan:run()
            end
            check_sum(10)
            assert.truthy((failure(launch.scalar, launch, 'x')):find("argument 2 'x'", 1, true))
            assert.truthy((failure(launch.scalar, launch, 'b')):find("no argument 'b'", 1, true))
        end)

        it('nests, and keeps what it needs', function()
            local clear = d.stream:record(function() x:fill(0) end)
            local function build()
                local one = d:program{ source = add }:kernel 'add':bind {
                    n = 100, a = 3, x = x, global = 100 }
                local inner = d.stream:record(function() one:run() end)
                return d.stream:record(function()
                    clear:run()
                    inner:run(5)
                end)
            end
            local plan = build()
            collectgarbage()
            collectgarbage()
            plan:run(3)
            check_sum(15)
        end)

        it('keeps the host memory of its transfers', function()
            local s = d:stream { label = 'copies' }
            local function build()
                local host = d:host { type = 'int32', count = 100, label = 'pinned' }
                for i = 0, 99 do host.data[i] = 7 end
                return s:record(function() x:upload(host, { stream = s }) end)
            end
            local plan = build()
            collectgarbage()
            collectgarbage()
            plan:run(1, s)
            plan = nil -- luacheck: ignore
            collectgarbage()
            collectgarbage()
            s:wait()
            assert.same({ 7, 7 }, x:totable { offset = 98 })
        end)

        it('keeps pinned memory that is released, as long as it lives', function()
            collectgarbage()
            collectgarbage()
            local live = device.live_objects()
            local host = d:host { type = 'int32', count = 100, label = 'pinned' }
            local data = host:pointer()
            local plan = d.stream:record(function()
                for _ = 1, 2 do x:download { into = host, stream = d.stream } end
            end)
            local outer = d.stream:record(function() plan:run() end)
            host:release()
            plan:release()
            x:fill(7)
            outer:run()
            d:wait()
            assert.equal(7, data[99])
            outer:release()
            collectgarbage()
            collectgarbage()
            assert.equal(live, device.live_objects())
        end)

        it('throws away what fails, and leaves the stream as it was', function()
            local message = failure(d.stream.record, d.stream, function()
                launch:run()
                error('my own', 0)
            end)
            assert.equal('my own', message)
            launch:run()
            d:wait()
            check_sum(1)
            fails.says((failure(d.stream.record, d.stream)), 'function')
        end)

        it('refuses what the host would wait for', function()
            local s = d:stream { label = 'own' }
            local into = d:host { type = 'int32', count = 100 }
            for text, f in pairs {
                ["stream 'own': wait while it is recording"] = function() s:wait() end,
                ["stream 'own': flush while"] = function() s:flush() end,
                ["is recording already"] = function() s:record(function() end) end,
                ["upload: stream 'own' is recording a plan, for which cdata"] = function()
                    x:upload({ 1, 2 }, { stream = s })
                end,
                ["download: stream 'own' is recording a plan, for which cdata"] = function()
                    x:download { stream = s }
                end,
            } do
                local message = failure(s.record, s, f)
                assert.truthy(message:find(text, 1, true), message)
            end
            local message = failure(d.stream.record, d.stream, function()
                x:download { into = into }
            end)
            fails.says(message, 'give', 'stream')
            local plan = s:record(function() x:fill(3, { stream = s }) end)
            plan:release()
            message = failure(function() plan:run() end)
            assert.truthy(message:find('after its release', 1, true), message)
        end)

        it('records no transfer of what is gone by its replay', function()
            x:fill(5)
            local plan = d.stream:record(function()
                pcall(x.upload, x, { 1, 2, 3 }, { stream = d.stream })
                pcall(x.download, x, { stream = d.stream })
            end)
            plan:run()
            assert.same({ 5, 5 }, x:totable { count = 2 })
        end)

        it('makes no garbage', function()
            local plan = d.stream:record(function() launch:run() end)
            local function loop()
                for i = 1, 1000 do
                    launch:set('a', i)
                    plan:run(2)
                end
                d:wait()
            end
            assert.equal(0, garbage(loop))
        end)

        it('records nothing under a label that is none', function()
            for given, message in pairs {
                [5] = 'stream:record: label: a string is wanted, not number',
                [{ label = 'step' }] = 'stream:record: label: a string is wanted, not table',
            } do
                assert.error_matches(function() d.stream:record(function() end, given) end, message)
            end
            launch:run()
            check_sum(1)
        end)

        it('replays a whole number of times', function()
            local plan = d.stream:record(function() launch:run() end)
            for _, count in ipairs { -1, 2^32 + 2, 0 / 0, math.huge, 1.5, true, '2', d.stream } do
                local message = failure(plan.run, plan, count)
                assert.equal(message:match 'plan:run: .*',
                    'plan:run: count: a whole number from 0 below 2^32 is wanted, not ' ..
                    tostring(count))
            end
            plan:run(0)
            check_sum(0)
            plan:run(nil, d.stream)
            check_sum(1)
        end)
    end)
end
