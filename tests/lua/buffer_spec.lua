local device = require 'bindings.device'
local fails = require 'tests.fails'
local mare = require 'bindings.ffi'
local values = require 'bindings.values'
local devices = require 'tests.devices'
local ffi = require 'ffi'

local function failure(f, ...)
    local ok, result = pcall(f, ...)
    assert.is_false(ok)
    return tostring(result)
end

local slow_text = [[
MR_KERNEL void slow(int n, MR_GLOBAL float *y) {
    real s = y[0];
    for (int i = 0; i < n; i++) s = mr_sqrt(s + (real)i);
    y[0] = s;
}
]]

for _, info in ipairs(devices()) do
    describe('buffer on ' .. info.name, function()
        local d

        setup(function() d = device.open(info.name) end)
        teardown(function() d:release() end)

        it('brings back what was put in, of every type', function()
            for _, name in ipairs{ 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64',
                                   'uint64', 'float',
                                   'double' } do
                local b = d:buffer{ type = name, count = 5, label = name }
                b:upload{ 1, 2, 3, 4, 100 }
                assert.same({ 1, 2, 3, 4, 100 }, b:totable())
                assert.equal(5, b.count)
                b:release()
            end
        end)

        it('brings back halves, truth values and complex numbers', function()
            local complex = ffi.typeof 'complex'
            local h = d:buffer{ type = 'half', count = 3, label = 'h' }
            h:upload{ 0.1, -2, 65504 }
            local halves = h:download()
            assert.equal(0.0999755859375, mare.C.mare_half_value(halves[0]))
            assert.equal(-2, mare.C.mare_half_value(halves[1]))
            h:fill(0.5)
            assert.same({ 0.5, 0.5, 0.5 }, h:totable())
            local b = d:buffer{ type = 'bool', count = 2, label = 'b' }
            b:upload{ true, false }
            assert.same({ true, false }, b:totable())
            fails.says(failure(b.upload, b, { 1, 0 }), 'element 1', 'number', 'false')
            for _, name in ipairs{ 'complex_float', 'complex_double' } do
                local z = d:buffer{ type = name, count = 2, label = 'z' }
                z:upload{ 3, complex(1, -2) }
                local back = z:download()
                assert.same({ 3, 0, 1, -2 }, { back[0].re, back[0].im, back[1].re, back[1].im })
                z:fill(complex(5, 6))
                assert.same({ 5, 6 }, { z:totable()[2].re, z:totable()[2].im })
                assert.matches('float', failure(z.upload, z, ffi.new('float[4]')))
            end
        end)

        it('counts offsets in elements', function()
            local b = d:buffer{ type = 'float', count = 8, label = 'b' }
            b:fill(1)
            b:fill(2.5, { offset = 2, count = 3 })
            b:upload({ 7, 8 }, { offset = 5 })
            assert.same({ 1, 1, 2.5, 2.5, 2.5, 7, 8, 1 }, b:totable())
            assert.same({ 2.5, 7 }, b:totable{ offset = 4, count = 2 })
            assert.same({ 8, 1 }, b:totable{ offset = 6 })
            b:release()
        end)

        it('takes and fills cdata and pinned memory', function()
            local b = d:buffer{ type = 'double', count = 4, label = 'b' }
            local array = ffi.new('double[4]', { 1, 2, 3, 4 })
            b:upload(array)
            b:upload(array + 2, { count = 1 })
            assert.same({ 3, 2, 3, 4 }, b:totable())
            local h = d:host{ type = 'double', count = 4, label = 'h' }
            b:download{ into = h, stream = d.stream }
            d.stream:wait()
            assert.equal(3, h.data[0])
            h.data[3] = 9
            b:upload(h, { stream = d.stream })
            assert.equal(9, b:download{ offset = 3, count = 1 }[0])
            assert.equal(array, b:download{ into = array })
            assert.equal(9, array[3])
            b:release()
            h:release()
        end)

        it('takes no pointers for numbers', function()
            local b = d:buffer{ type = 'float', count = 8, label = 'b' }
            for _, ctype in ipairs { 'float *[8]', 'float **', 'const float *const *' } do
                fails(function() b:upload(ffi.new(ctype), { count = 1 }) end, nil, 'buffer',
                    'upload', 'elements', 'float')
            end
            fails(function() b:upload(ffi.new 'float (*)[8]') end, nil, 'array', 'pointer')
            b:upload(ffi.new('const float[2][4]', { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }))
            assert.same({ 4, 5 }, b:totable { offset = 3, count = 2 })
        end)

        it('says where a view would begin', function()
            local b = d:buffer{ type = 'float', count = 64, label = 'b' }
            assert.error_matches(function() b:view(65) end,
                "buffer:view: offset: 65, buffer 'b' has 64 elements")
            assert.equal(1, b:view(63).count)
        end)

        it('takes no pinned memory after its release', function()
            local b, s = d:buffer{ type = 'float', count = 4 }, d:stream()
            local h = d:host{ type = 'float', count = 4, label = 'h' }
            h:release()
            h:release()
            local box = { width = 16, height = 1, depth = 1 }
            for _, use in ipairs {
                function() b:upload(h) end, function() b:download { into = h } end,
                function() b:upload(h, { stream = s }) end,
                function() b:downloader { into = h, stream = s } end,
                function() b:upload_region(h, box) end, function() b:download_region(h, box) end,
                function() h.data[5] = 1 end, function() return h.data end,
            } do
                fails(use, nil, "'h'", 'memory', 'release')
            end
            assert.is_nil(values.export(h))
        end)

        it('downloads again and again what was checked once', function()
            local b, s = d:buffer{ type = 'float', count = 4, label = 'rho' }, d:stream()
            local h = d:host{ type = 'float', count = 2 }
            local bring = b:downloader { into = h, stream = s, offset = 1, count = 2 }
            for value = 1, 3 do
                b:fill(value)
                d:wait()
                bring()
                s:wait()
                assert.same({ value, value }, { h.data[0], h.data[1] })
            end
            fails(function() b:downloader { into = h } end, nil, 'buffer', 'downloader', 'into',
                'stream')
            fails(function() b:downloader { into = h, stream = s, offset = 1 } end, nil, "'rho'",
                '12 bytes', 'are 8', 'buffer')
            b:release()
            s:release()
            h.data[0] = 0
            bring()     -- it has kept both
            d:wait()
            assert.equal(3, h.data[0])
        end)

        local function collect()
            for _ = 1, 3 do collectgarbage() end
        end

        it('keeps pinned memory of another device until the transfer is over', function()
            local b, other = d:buffer{ type = 'float', count = 4 }, device.open(info.name)
            local function is_live()
                collect()
                for _, object in ipairs(device.objects()) do
                    if object.label == 'other' then return true end
                end
                return false
            end
            local function queue_by(method)
                local h = other:host{ type = 'float', count = 4, label = 'other' }
                local result = b[method](b, { into = h, stream = d.stream })
                if method == 'downloader' then result() end
                return h
            end
            for _, method in ipairs { 'download', 'downloader' } do
                queue_by(method)
                assert.is_true(is_live())
                d:wait()
                assert.is_false(is_live())
            end
            queue_by 'download':release()
            assert.is_false(is_live())
            other:release()
        end)

        it('keeps the pinned memory of a downloader', function()
            local b = d:buffer{ type = 'float', count = 4 }
            b:fill(5)
            collectgarbage()
            collectgarbage()
            local live = device.live_objects()
            local data
            local function make()
                local h = d:host{ type = 'float', count = 4 }
                data = h:pointer()
                return b:downloader { into = h, stream = d.stream }
            end
            local bring = device.scope(make)
            bring()
            local plan = d.stream:record(function() bring() end)
            bring = nil     -- luacheck: ignore
            collectgarbage()
            collectgarbage()
            d:wait()
            assert.equal(5, data[3])
            data[3] = 0
            plan:run()
            d:wait()
            assert.equal(5, data[3])
            plan:release()
            plan = nil      -- luacheck: ignore
            collectgarbage()
            collectgarbage()
            assert.equal(live, device.live_objects())
        end)

        -- Queues a transfer of data that only this function knows, on a stream of its own or `s`.
        local function queue(b, s)
            local data = ffi.new('float[?]', 1000, 7)
            b:upload(data, { stream = s or d:stream { label = 'dropped' } })
            return setmetatable({ data }, { __mode = 'v' })
        end

        it('keeps the data of a queued transfer until its stream was waited for', function()
            local b, s = d:buffer{ type = 'float', count = 1000 }, d:stream()
            local e = d:event()
            local waits = {
                function() s:wait() end, function() d:wait() end,
                function() e:wait() end, function() repeat until e:done() end,
                function() s:release() end,
            }
            for k, wait in ipairs(waits) do
                local kept = queue(b, s)
                e:record(s)
                collect()
                assert.is_truthy(kept[1], k)
                wait()
                collect()
                assert.is_nil(kept[1], k)
            end
            local kept = queue(b, d.stream)
            b:download()
            collect()
            assert.is_nil(kept[1])
        end)

        it('keeps the memory of a repeated download as long as it may be written', function()
            local b, s = d:buffer{ type = 'float', count = 1000 }, d:stream()
            local function bring(into)
                b:downloader { into = into, stream = s }()
                return setmetatable({ into }, { __mode = 'v' })
            end
            local kept = bring(ffi.new 'float[1000]')
            collect()
            assert.is_truthy(kept[1])
            s:wait()
            local plan = s:record(function()
                bring(d:host { type = 'float', count = 1000, label = 'planned' })
            end)
            collect()
            assert.is_nil(kept[1])
            local objects = device.objects()
            assert.equal('planned', objects[#objects].label)
            plan:run(1, s)
            s:wait()
        end)

        it('frees nothing for an event that came before the transfer', function()
            local b, s, e = d:buffer{ type = 'float', count = 1000 }, d:stream(), d:event()
            e:record(s)
            local kept = queue(b, s)
            e:wait()
            collect()
            assert.is_truthy(kept[1])
        end)

        -- The upload is queued behind a kernel of about 0.1 s when its stream
        -- and data are dropped.
        it('moves the data of a stream that nobody has any more', function()
            local count = 1e5
            local b = d:buffer{ type = 'float', count = count }
            local slow = d:program{ source = slow_text }:kernel 'slow':bind {
                n = 3e7, y = d:buffer{ type = 'float', count = 1 }, global = 1,
            }
            local function drop()
                local s = d:stream()
                slow:run(s)
                b:upload(ffi.new('float[?]', count, 7), { stream = s })
                s:flush()
            end
            slow:run()
            d:wait()
            drop()
            collect()
            for _ = 1, 20 do ffi.fill(ffi.new('float[?]', count), 4 * count, 1) end
            d:wait()
            local data = b:download()
            for i = 0, count - 1 do
                if data[i] ~= 7 then assert.equal(7, data[i]) end
            end
        end)

        it('makes views that share memory and outlive their parent', function()
            local b = d:buffer{ type = 'int32', count = 64, label = 'b' }
            b:fill(1)
            local v = b:view(32, 16)
            assert.equal(16, v.count)
            v:fill(5)
            assert.same({ 1, 5 }, b:totable{ offset = 31, count = 2 })
            b:release()
            assert.equal(5, v:download()[15])
            v:release()
        end)

        it('copies between buffers and boxes of rows', function()
            local a = d:buffer{ type = 'float', count = 12, label = 'a' }
            local b = d:buffer{ type = 'float', count = 12, label = 'b' }
            a:upload{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }
            b:fill(0)
            b:copy(a, { offset = 1, src_offset = 10, count = 2 })
            assert.same({ 0, 11, 12, 0 }, b:totable{ count = 4 })
            b:copy(a)
            assert.same(a:totable(), b:totable())
            b:fill(0)
            local inner = { width = 8, height = 3, src_offset = 4, src_pitch = 16, dst_pitch = 16 }
            b:copy_region(a, inner)
            assert.same({ 2, 3, 0, 0, 6, 7, 0, 0, 10, 11, 0, 0 }, b:totable())
            local rows = ffi.new 'float[6]'
            a:download_region(rows, { width = 8, height = 3, src_pitch = 16 })
            assert.equal(10, rows[5])
            a:upload_region(rows, { width = 8, height = 3, dst_pitch = 16, dst_offset = 8 },
                            d.stream)
            assert.same({ 9, 10, 9, 10 }, a:totable{ offset = 8 })
            a:release()
            b:release()
        end)

        it('refuses what does not fit, naming it', function()
            local b = d:buffer{ type = 'float', count = 4, label = 'rho' }
            local c = d:buffer{ type = 'uint8', count = 4, label = 'mask' }
            for text, f in pairs{
                ["unknown field 'lable'"] = function() d:buffer{ size = 4, lable = 'x' } end,
                ["type = 'flaot'"] = function() d:buffer{ type = 'flaot', count = 4 } end,
                ['count (elements) or size (bytes) is missing'] = function()
                    d:buffer{ type = 'float' }
                end,
                ["buffer 'n': count: a whole number from 0 below 2^53"] = function()
                    d:buffer{ type = 'float', count = 1.5, label = 'n' }
                end,
                ["buffer 'e': size is 0"] = function()
                    d:buffer{ type = 'float', count = 0, label = 'e' }
                end,
                ["buffer 'rho': upload of 20 bytes"] = function() b:upload{ 1, 2, 3, 4, 5 } end,
                ["buffer 'rho': download of 16 bytes at offset 4"] = function()
                    b:download{ offset = 1, count = 4 }
                end,
                ['offset: a whole number from 0 below 2^53 is wanted, not -1'] = function()
                    b:download{ offset = -1 }
                end,
                ['the elements are float, the data are double'] = function()
                    b:upload(ffi.new 'double[4]')
                end,
                ["buffer 'rho': 16 bytes of data are wanted, there are 8"] = function()
                    b:upload(ffi.new 'float[2]', { count = 4 })
                end,
                ["upload: unknown field 'into'"] = function() b:upload({ 1 }, { into = c }) end,
                ["fill: unknown field 'into'"] = function() b:fill(0, { into = c }) end,
                ['buffer:fill: a stream is wanted, not s'] = function()
                    b:fill(0, { stream = 's' })
                end,
                ['element 2 is string'] = function() b:upload{ 1, 'two' } end,
                ['element 1: 300 does not fit uint8'] = function() c:upload{ 300 } end,
                ['element 1: 1.5 does not fit uint8'] = function() c:fill(1.5) end,
                ["'rho' is float, 'mask' is uint8"] = function() c:copy(b) end,
                ["buffer 'rho': 12 bytes of data are wanted, there are 8"] = function()
                    b:download_region(ffi.new 'float[2]', { width = 4, height = 2, dst_pitch = 8 })
                end,
                ["unknown field 'hight'"] = function()
                    b:copy_region(c, { width = 1, hight = 1 })
                end,
                ['a buffer is wanted, not 5'] = function() b:copy(5) end,
                ['a stream is wanted'] = function() b:fill(1, { stream = b }) end,
            } do
                local message = failure(f)
                assert.truthy(message:find(text, 1, true), message)
            end
            b:release()
            for _, use in ipairs{ function() b:fill(1) end, function() c:copy(b) end } do
                fails.says(failure(use), "'rho'", 'buffer', 'release')
            end
        end)
    end)
end
