-- Tests where memory is, when it is released, and that the garbage collector
-- keeps up.

local fails = require 'tests.fails'
local ffi = require 'ffi'
local home = require 'bindings.home'
local interpreted = require('bindings.pairs').is_interpreted
local mare = require 'mare'
local devices = require 'tests.devices'
local util = require 'jit.util'
local device = mare.device

-- Returns whether LuaJIT compiles the only loop in f within a limit of time.
local function compiles_loop(f)
    local began, looped = {}, false
    local function on_trace(what, trace, func)
        if what == 'start' then began[trace] = func end
        if what == 'stop' and began[trace] == f then
            looped = looped or util.traceinfo(trace).linktype == 'loop'
        end
    end
    jit.flush()
    jit.attach(on_trace, 'trace')
    for _ = 1, 20 do f() end
    jit.attach(on_trace)
    return looped
end

describe('memory', function()
    local d

    before_each(function()
        collectgarbage()
        collectgarbage()
        d = device.open 'null'
    end)

    after_each(function()
        d:release()
    end)

    it('of the host is a buffer where it lies, pinned or managed, as long as that is', function()
        for _, managed in ipairs { false, true } do
            local h = d:host { type = 'float', count = 2 ^ 18, managed = managed }
            local b = h:buffer()
            assert.same({ 2 ^ 18, 'float' }, { b.count, b.type })
            b:fill(3)
            d:wait()
            assert.equal(3, h.data[2 ^ 18 - 1])
            h.data[5] = 7
            h:release()
            assert.equal(7, b:download()[5])
            b:release()
        end
        fails(function() d:host { type = 'float', count = 2 ^ 46, managed = true } end,
            'MARE_ERROR_MEMORY', 'the machine and null:0 have')
    end)

    it('is told per device', function()
        local b = d:buffer { size = 7000, label = 'b' }     -- as no other spec has open
        local mine
        for _, row in ipairs(mare.memory()) do
            if row.device == 'null:0' and row.in_use == 7168 then mine = row end
        end
        assert.truthy(mine)
        assert.equal(0, mine.idle)
        b:release()
        assert.same({ 0, 7168 }, { d:pool() })
        assert.truthy(tostring(mare.memory()):find('null:0 +0 B in buffers, +7.0 KiB idle'))
        d:trim()
        assert.same({ 0, 0 }, { d:pool() })
    end)

    it('is told of a device whose driver tells only how much there is', function()
        local row = { device = 'null:0', info = { memory = 3 * 2 ^ 30 } }
        local opened = device.opened
        device.opened = function()
            return { { name = row.device, info = row.info, pool = function() return 0, 0 end,
                memory = function() return 0, 0 end } }
        end
        local text = tostring(mare.memory())
        device.opened = opened
        assert.truthy(text:find(' unknown free of +3.0 GiB'), text)
    end)

    it('is told per object', function()
        local b = d:buffer { size = 3 * 2 ^ 20, label = 'rho' }
        local view = b:view(0, 16)
        local rows = mare.report()
        local last = rows[#rows]
        assert.equal(device.live_objects(), #rows)
        assert.same({ 'view', 'rho', 0, 1 }, { last.kind, last.label, last.bytes, last.refs })
        local root = rows[#rows - 1]
        assert.same({ 'buffer', 'rho', 3 * 2 ^ 20, 2 },
                    { root.kind, root.label, root.bytes, root.refs })
        assert.truthy(tostring(rows):find('buffer +rho +3.0 MiB  2 references\n'))
        view:release()
        b:release()
    end)

    it('is given back when objects are dropped, and once', function()
        local before = device.live_objects()
        local kept = {}
        for round = 1, 3 do
            for i = 1, 300 do
                local b = d:buffer { size = 512, label = 'b' .. i }
                if i % 50 == 0 then d:event() b:view(0, 256) d:stream { label = 's' .. i } end
                if i % 3 == 0 then kept[i] = b end
                if i % 3 == 1 then b:release() end
            end
            collectgarbage()
            collectgarbage()
            assert.equal(before + 100, device.live_objects(), round)
            for i, b in pairs(kept) do assert.equal('b' .. i, b.label) end
            assert.equal(512 * 100, (d:pool()))
        end
        kept = nil -- luacheck: ignore
        collectgarbage()
        collectgarbage()
        assert.equal(before, device.live_objects())
    end)

    -- Handles of a copy of the module: make(i, use), how often each was given back (given[i]), what
    -- is kept (by use 0), and the module.
    local function things()
        local handles = assert(loadfile(home.root .. '/bindings/handle.lua'))()
        local given, kept = {}, {}
        local class = handles.class('thing', 'void', function(pointer)
            local number = tonumber(ffi.cast('intptr_t', pointer))
            given[number] = (given[number] or 0) + 1
        end)
        local function make(i, use)
            local owner = class.own()
            owner[0] = ffi.cast('void *', i)
            local thing = class.wrap(owner, {})
            if use == 0 then kept[i] = thing end
            if use == 1 then thing:release() end
        end
        return make, given, kept, handles
    end

    -- As Ctrl-C does: an error after so many instructions of f.
    local function cut_short(f, instructions)
        return not pcall(function()
            debug.sethook(function() debug.sethook() error 'interrupted' end, '', instructions)
            f()
            debug.sethook()
        end)
    end

    it('stands an end after any instruction', function()
        jit.off()
        jit.flush()
        finally(function() jit.on() end)
        local count = 0
        repeat
            local make, given, kept, handles = things()
            local made = { 0 }
            count = count + 37
            local was_cut = cut_short(function()
                for i = 1, 70 do
                    made[1] = i
                    make(i, i % 3)
                end
                collectgarbage()
                handles.scope(function() make(71) end)
            end, count)
            handles.recover()
            for i = 101, 300 do make(i, i % 3) end
            collectgarbage()
            collectgarbage()
            for i, times in pairs(given) do
                assert.equal(kept[i] and 0 or 1, times, ('%d after %d'):format(i, count))
            end
            for i = 101, 300 do
                assert.equal(not kept[i] and 1 or nil, given[i], ('%d after %d'):format(i, count))
            end
            for i, thing in pairs(kept) do assert.equal(ffi.cast('void *', i), thing.handle) end
            local lost = 0
            for i = 1, made[1] do
                if not (given[i] or kept[i]) then lost = lost + 1 end
            end
            assert.is_true(lost <= 1, ('%d after %d'):format(lost, count))
        until not was_cut
    end)

    -- Finalizers run wherever compiled code is left, so that a cycle may end between any two
    -- instructions; here one ends between all.
    it('is given back once, whenever the collector is done', function()
        local make, given, kept = things()
        for i = 1, 60 do make(i, 0) end
        jit.off()
        jit.flush()
        debug.sethook(function() collectgarbage() end, '', 1)
        local ok, problem = pcall(function() for i = 61, 78 do make(i, i % 3) end end)
        debug.sethook()
        jit.on()
        assert.truthy(ok, problem)
        collectgarbage()
        collectgarbage()
        for i = 1, 78 do
            assert.equal(not kept[i] and 1 or nil, given[i], i)
            if kept[i] then assert.equal(ffi.cast('void *', i), kept[i].handle) end
        end
    end)

    it('is had in compiled loops', function()
        if interpreted then pending 'LuaJIT compiles next() wrongly here' end
        assert.truthy(compiles_loop(function()
            for _ = 1, 200 do
                d:buffer { type = 'float', count = 4, label = 'x' }:release()
            end
        end))
    end)

    -- 280 bytes: a table of eight fields and the pointer in it.
    it('leaves little garbage', function()
        local options = { type = 'float', count = 4, label = 'x' }
        local function make(count)
            for _ = 1, count do d:buffer(options):release() end
        end
        make(1000)
        collectgarbage 'stop'
        local before = collectgarbage 'count'
        make(1000)
        local bytes = 1.024 * (collectgarbage 'count' - before)
        collectgarbage 'restart'
        assert.truthy(bytes < 360, bytes)
    end)

    describe('scope', function()
        it('is left and entered again with its coroutine', function()
            local mine, late
            local step = coroutine.wrap(function()
                local given = mare.scope(function()
                    mine = d:buffer { size = 64, label = 'mine' }
                    local got = coroutine.yield 'out'
                    late = d:buffer { size = 64, label = 'late' }
                    return got
                end)
                coroutine.yield(given)
            end)
            assert.equal('out', step())
            local other = d:buffer { size = 64, label = 'other' }
            assert.equal('in', step 'in')
            assert.same({ "buffer 'mine' (released)", "buffer 'late' (released)",
                "buffer 'other'" }, { tostring(mine), tostring(late), tostring(other) })
            other:release()
        end)

        it('says what it cannot do', function()
            local function nest(n) return n == 0 and 'done' or mare.scope(nest, n - 1) end
            assert.equal('done', nest(1000))
            assert.error_matches(function() nest(1001) end, 'scope: more than 1000 within each')
        end)

        it('looks through results however deep they are', function()
            local deep, mine = {}, nil
            for _ = 1, 300000 do deep = { deep } end
            mare.scope(function()
                mine = d:buffer { size = 64, label = 'mine' }
                return deep
            end)
            assert.equal("buffer 'mine' (released)", tostring(mine))
        end)

        it('releases what was made and is not returned', function()
            local before = device.live_objects()
            local kept, other, text = mare.scope(function(label)
                local temporary = d:buffer { size = 4, label = label }
                d:stream():wait()
                return d:buffer { size = 8, label = 'kept' }, { of = { temporary:view(0, 4) } }, 'x'
            end, 'temporary')
            assert.equal('x', text)
            assert.equal(8, kept.size)
            assert.equal(4, other.of[1].size)
            kept:release()
            other.of[1]:release()
            assert.equal(before, device.live_objects())
        end)

        it('keeps what the results need', function()
            local launch = mare.scope(function()
                local p = d:program { name = 'k.krn', source = [[
                    MR_KERNEL void k(int n, MR_GLOBAL float *x) { if (n) x[0] = 1; }]] }
                return p:kernel 'k':bind { n = 1, x = d:buffer { type = 'float', count = 4 },
                                           global = 4 }
            end)
            launch:run()
            assert.has_error(function() launch:set('y', 1) end)
            assert.truthy(tostring(launch.kernel):find "kernel 'k'$")
            launch:release()
        end)

        it('releases everything when it fails, and passes the error on', function()
            local before = device.live_objects()
            local ok, problem = pcall(mare.scope, function()
                d:buffer { size = 4 }
                d:buffer { size = 0 }
            end)
            assert.is_false(ok)
            assert.equal('MARE_ERROR_ARGUMENT', problem.status)
            assert.equal(before, device.live_objects())
        end)

        it('nests', function()
            local before = device.live_objects()
            mare.scope(function()
                local inner = mare.scope(function()
                    d:buffer { size = 4 }
                    return d:buffer { size = 4, label = 'inner' }
                end)
                assert.equal('inner', inner.label)
                assert.equal(before + 1, device.live_objects())
            end)
            assert.equal(before, device.live_objects())
            d:buffer { size = 4 }:release()
            assert.equal(before, device.live_objects())
        end)

        it('takes releases by hand', function()
            mare.scope(function()
                d:buffer { size = 4 }:release()
            end)
        end)
    end)
end)

describe('temporaries', function()
    local function run(code, limit, device_name)
        local launcher = require('bindings.home').launcher
        local path = os.tmpname()
        local file = assert(io.open(path, 'w'))
        file:write(code)
        file:close()
        local pipe = io.popen(('MARE_MEMORY_LIMIT=%s MARE_DEVICE=%s "%s" %s 2>&1'):format(limit,
            device_name or 'null', launcher, path))
        local text = pipe:read '*a'
        pipe:close()
        os.remove(path)
        return text
    end

    it('never run out of a small device', function()
        local text = run([[
            local d = require('mare').device.open()
            local keep = d:buffer { size = 2^23 }
            local most = 0
            for i = 1, 20000 do
                d:buffer { size = 2^20 }
                most = math.max(most, (d:pool()))
            end
            print(most > 2^25, most <= 7 / 8 * 2^26 + 2^20)
        ]], '64M')
        assert.equal('true\ttrue\n', text)
    end)

    it('of any size fit after the ones that were dropped', function()
        local text = run([[
            local d = require('mare').device.open()
            for i = 1, 200 do
                d:buffer { size = 3 * 2^20 }
                d:buffer { size = 40 * 2^20 }
                d:buffer { size = 60 * 2^20 }
            end
            print 'done'
        ]], '64M')
        assert.equal('done\n', text)
    end)

    for _, info in ipairs(devices()) do
        if info.kind == 'cpu' then
            -- A collection that takes long for all that a script keeps is not made so often.
            it('stay within the caches of ' .. info.name .. ' if that costs little', function()
                local code = [[
                    local d, most, kept = require('mare').device.open(), 0, {}
                    for i = 1, %d do kept[i] = {} end
                    for _ = 1, 120 do
                        d:buffer { size = 2^20 }
                        most = math.max(most, (d:pool()))
                    end
                    print(most / 2^20)
                ]]
                local few = tonumber(run(code:format(0), '256M', info.name))
                assert.truthy(few > 8 and few <= 17, few)
                local many = tonumber(run(code:format(300000), '256M', info.name))
                assert.truthy(many > 30, many)
            end)
        end
    end

    it('are collected when they are many buffers of an OpenCL driver of a GPU', function()
        local borrow = require('bindings.memory').borrow
        local function is_collected(name, count, each)
            local made = 0
            local stub = { name = name, info = { kind = 'gpu', memory = 2^34 },
                pool = function() return made * each, 2^30 end }
            local garbage = setmetatable({ {} }, { __mode = 'v' })
            for _ = 1, count do
                made = made + 1
                borrow(stub, 64)
            end
            return not garbage[1]
        end
        collectgarbage 'stop'
        finally(function() collectgarbage 'restart' end)
        local many = math.max(4096, collectgarbage 'count')
        assert.is_false(is_collected('opencl:0', 4000, 512))
        assert.is_false(is_collected('cuda:0', many, 512))
        assert.is_false(is_collected('opencl:0', many, 0))      -- none of them is new
        assert.is_true(is_collected('opencl:0', many, 512))
    end)

    it('that are all needed end in a message', function()
        local text = run([[
            local d, all = require('mare').device.open(), {}
            for i = 1, 100 do
                all[i] = d:buffer { size = 2^20, label = 'b' .. i }
            end
        ]], '64M')
        assert.truthy(text:find("buffer 'b65' of 1048576 bytes on null:0: buffers hold 67108864 "
            .. "bytes, 0 are idle: the limit is 67108864 bytes (MARE_MEMORY_LIMIT)", 1, true))
        assert.truthy(text:find(':3: '))
    end)
end)
