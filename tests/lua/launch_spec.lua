local device = require 'bindings.device'
local devices = require 'tests.devices'
local fails = require 'tests.fails'
local ffi = require 'ffi'
local garbage = require 'tests.lua.garbage'
local home = require 'bindings.home'
local util = require 'jit.util'

local saxpy = [[
MR_KERNEL void saxpy(int n, real a, MR_GLOBAL const real *x, MR_GLOBAL real *y) {
    int i = mr_gid_x();
    if (i < n) y[i] = a * x[i] + y[i];
}
]]

local function failure(f, ...)
    local ok, result = pcall(f, ...)
    assert.is_false(ok)
    return tostring(result), result
end

-- Leaving a loop, an inner loop, too short a loop to unroll: how the compiler finds where to begin.
local harmless = { [8] = true, [9] = true, [10] = true }
local folders = { '@' .. home.root .. '/bindings/', '@' .. home.root .. '/lua/' }

-- Returns whether a function belongs to this spec or to Mare. LuaJIT counts hot
-- code by a hash of its address, so a function of busted may be compiled while
-- the loop runs.
local function is_ours(func)
    local source = util.funcinfo(func).source or ''
    for _, folder in ipairs(folders) do
        if source:sub(1, #folder) == folder then return true end
    end
    return source:find 'launch_spec%.lua$' ~= nil
end

-- Runs f until LuaJIT has compiled a trace that begins in such a function,
-- which may take a few passes, since it tries again after random waits. Returns
-- how many there are, and where and why LuaJIT aborted others.
local function count_traces(f)
    local compiled, aborted, counts = 0, {}, false
    local function on_trace(what, _, func, pc, reason)
        if what == 'start' then counts = is_ours(func) end
        if what == 'stop' and counts then compiled = compiled + 1 end
        if what == 'abort' and counts and not harmless[reason] then
            local where = util.funcinfo(func, pc)
            aborted[#aborted + 1] = ('%s: %s'):format(where.loc or where.addr, tostring(reason))
        end
    end
    collectgarbage()            -- finalisers end a trace, too
    collectgarbage()
    jit.flush()
    jit.attach(on_trace, 'trace')
    for _ = 1, 5 do
        f()
        if compiled > 0 then break end
    end
    jit.attach(on_trace)
    return compiled, aborted
end

-- Returns a loop of this text that LuaJIT compiles without an abort, in up to
-- five attempts: it gives up on code after some tries, which may begin where
-- they cannot succeed.
local function compiled_loop(text, ...)
    local compiled, aborted
    for _ = 1, 5 do
        local loop = loadstring(text, '@launch_spec.lua')(...)
        compiled, aborted = count_traces(loop)
        if compiled > 0 and not aborted[1] then return loop end
    end
    assert.same({}, aborted)
    assert.is_true(compiled > 0)
end

for _, info in ipairs(devices()) do
    describe('launch on ' .. info.name, function()
        local d, x, y

        setup(function()
            d = device.open(info.name)
            x = d:buffer{ type = 'float', count = 100, label = 'x' }
            y = d:buffer{ type = 'float', count = 100, label = 'y' }
        end)

        it('runs a kernel with arguments by name', function()
            local k = d:program{ source = saxpy, name = 'saxpy.krn' }:kernel 'saxpy'
            local names = {}
            for i, arg in ipairs(k.args) do names[i] = arg.name end
            assert.same({ 'n', 'a', 'x', 'y' }, names)
            assert.same({ name = 'x', type = 'float', is_buffer = true, is_const = true },
                        k.args[3])
            assert.equal(4, k.info.arg_count)
            x:fill(1)
            y:fill(2)
            local launch = k:bind{ n = 99, a = 3, x = x, y = y, global = { 100 }, group = { 10 } }
            launch()
            launch:set('a', 0.5)
            launch:shape(100)
            launch:run(d.stream)
            if info.runs_kernels then
                assert.same({ 5.5, 2 }, y:totable{ offset = 98 })
            end
        end)

        it('names wrong arguments', function()
            local k = d:program{ source = saxpy, name = 'saxpy.krn' }:kernel 'saxpy'
            local z = d:buffer{ type = 'double', count = 100, label = 'z' }
            local function bind(change)
                local values = { n = 100, a = 3, x = x, y = y, global = 100 }
                for name, value in pairs(change) do values[name] = value end
                if change.x == false then values.x = nil end
                return function() k:bind(values) end
            end
            for text, change in pairs{
                ["kernel 'saxpy' has no argument 'b' (it has: n, a, x, y)"] = { b = 1 },
                ["kernel 'saxpy': argument 'x' is missing"] = { x = false },
                ["argument 'x' is string: a number or a buffer is wanted"] = { x = 'x' },
            } do
                assert.truthy((failure(bind(change))):find(text, 1, true), (failure(bind(change))))
            end
            -- the rest is refused by core; the words are its own, the names must be there
            local wrong = { z = { x = z }, n = { n = 1.5 }, a = { a = x }, y = { y = 1 } }
            for text, change in pairs(wrong) do
                local message, e = failure(bind(change))
                assert.equal('MARE_ERROR_ARGUMENT', e.status)
                assert.truthy(message:find("'" .. text .. "'", 1, true), message)
                assert.truthy(message:find('saxpy', 1, true), message)
            end
            assert.truthy((failure(bind{ n = 2^31 })):find('2147483648', 1, true))
            fails.says((failure(bind{ global = { 1, 1, 1, 1 } })), 'three', 'numbers')
            assert.truthy((failure(bind{ global = -1 })):find('whole number', 1, true))
        end)

        it('sets by name and refuses other names', function()
            local k = d:program{ source = saxpy }:kernel 'saxpy'
            local launch = k:bind{ n = 1, a = 3, x = x, y = y, global = 1 }
            launch:set('n', 7LL)
            assert.truthy((failure(launch.set, launch, 'm', 1)):find "has no argument 'm'")
            fails.says((failure(function() launch.a = 5 end)), "'saxpy'", "'a'", 'launch',
                'argument')
            assert.truthy((failure(function() launch.m = 5 end)):find "has no argument 'm'")
            launch:release()
            assert.truthy((failure(function() launch:run() end)):find('after its release', 1, true))
        end)

        it('takes numbers of C as they are', function()
            local k = d:program{ name = 'c.krn', source = [[
                MR_KERNEL void f(int n, real a, double b, MR_GLOBAL ulong *out, uint64_t u) {
                    out[0] = u;
                }]] }:kernel 'f'
            local out = d:buffer{ type = 'uint64', count = 1 }
            local launch = k:bind{ n = ffi.new('int', 7), a = ffi.new('float', 0.5),
                b = ffi.new('double', 0.1), out = out, u = 2^53, global = 1 }
            assert.same({ 7, 0.5, 0.1 }, { launch:scalar 'n'[0], launch:scalar 'a'[0],
                launch:scalar 'b'[0] })
            for _, u in ipairs { 18446744073709551615ULL, 2ULL^63, 2ULL^63 - 1, 5LL } do
                launch:set('u', u)
                assert.equal(0ULL + u, launch:scalar 'u'[0])
            end
            local number = ': a number or a buffer is wanted'
            for text, wrong in pairs {
                ["'n': expects int32, got 2.5, which is"] = { n = ffi.new('double', 2.5) },
                ["'n': expects int32, got a uint64"] = { n = 2ULL^63 },
                ["'n': expects int32, got the integer 4294967296 outside"] = { n = 2LL^32 },
                ["'u': expects uint64, got the integer -1 outside"] = { u = -1LL },
                ["'a' is ctype<int *>" .. number] = { a = ffi.new 'int[1]' + 0 },
                ["'a' is ctype<complex>" .. number] = { a = 2i },
                ["'out': expects a buffer of uint64, got the integer 5"] = { out = 5LL },
            } do
                local message = failure(function() launch:set(next(wrong)) end)
                assert.truthy(message:find(text, 1, true), message)
                assert.truthy(message:find 'launch_spec.lua:%d+:', message)
            end
        end)

        it('takes an argument called group as one', function()
            local k = d:program{ source = 'MR_KERNEL void f(int group) { }' }:kernel 'f'
            local launch = k:bind{ group = 2^20, global = 4 }
            assert.equal(2^20, launch:scalar 'group'[0])
            launch:run()
            d:wait()
        end)

        it('runs on streams only, as events and plans do', function()
            local launch = d:program{ source = saxpy }:kernel 'saxpy':bind {
                n = 100, a = 3, x = x, y = y, global = 100,
            }
            local plan = d.stream:record(function() launch:run() end)
            local calls = {
                ['launch:run'] = function(s) launch:run(s) end,
                ['event:record'] = function(s) d:event():record(s) end,
                ['plan:run'] = function(s) plan:run(1, s) end,
            }
            for what, call in pairs(calls) do
                for _, s in ipairs { d, 'x', 3 } do
                    local wanted = ('%s: a stream is wanted, not %s'):format(what, tostring(s))
                    assert.truthy(failure(call, s):find(wanted, 1, true))
                end
                assert.has_no.errors(function() call(d.stream) end)
            end
        end)

        it('runs with scalars as a function of them, after a release, too', function()
            local launch = d:program{ source = saxpy }:kernel 'saxpy':bind {
                n = 1, a = 3, x = x, y = y, global = 100,
            }
            local function expect(first, last)
                d:wait()
                local values = y:totable()
                if not info.runs_kernels then first, last = 0, 0 end
                assert.same({ first, last }, { values[1], values[100] })
            end
            x:fill(1)
            y:fill(0)
            local run = launch:runner { 'a', 'n' }
            run(2, 100)
            run(5, 1)
            expect(7, 2)
            local s = d:stream()
            local again, plan = launch:runner({}, s), d.stream:record(function() run(1, 100) end)
            launch:release()
            again()
            s:release()
            again()
            expect(9, 4)
            run(10, 1)
            expect(19, 4)
            plan:run()
            expect(29, 4)       -- what the scalars are then
        end)

        it('makes no function of what is no scalar', function()
            local launch = d:program{ source = saxpy }:kernel 'saxpy':bind {
                n = 1, a = 3, x = x, y = y, global = 1,
            }
            assert.truthy((failure(launch.runner, launch, { 'm' })):find "no argument 'm'")
            assert.truthy((failure(launch.runner, launch, { 'x' })):find "argument 2 'x'")
            assert.truthy((failure(launch.runner, launch, 'a')):find 'launch:runner')
            fails.says((failure(launch.runner, launch, {}, d)), 'stream')
        end)

        it('keeps everything alive that a launch needs', function()
            local function make()
                local b = d:buffer{ type = 'float', count = 100, label = 'b' }
                local k = d:program{ source = saxpy }:kernel 'saxpy'
                return k:bind{ n = 100, a = 1, x = b, y = y, global = 100 }
            end
            local launch = make()
            collectgarbage()
            collectgarbage()
            launch()
            d:wait()
        end)

        it('compiles its loop and makes no garbage', function()
            local k = d:program{ source = saxpy }:kernel 'saxpy'
            local launch = k:bind{ n = 1, a = 3, x = x, y = y, global = 1 }
            local loop = compiled_loop([[
                local launch, d = ...
                return function()
                    for i = 1, 2000 do
                        launch:set('a', i)
                        launch:run()
                    end
                    d:wait()
                end]], launch, d)
            assert.equal(0, garbage(loop))
            local runs = compiled_loop([[
                local run, d = ...
                return function()
                    for i = 1, 2000 do run(i) end
                    d:wait()
                end]], launch:runner { 'a' }, d)
            assert.equal(0, garbage(runs))
        end)
    end)

    describe('program on ' .. info.name, function()
        local d

        setup(function() d = device.open(info.name) end)

        it('takes defines in any type', function()
            if not info.runs_kernels then return end    -- it sees "#error" and no more
            local defines = { MARE_REAL = 'double', N = 4, SCALE = 0.5, ON = true, OFF = false }
            local p = d:program{ name = 'd.krn', defines = defines, source = [[
                #if N != 4 || ON != 1 || defined OFF
                #error "defines"
                #endif
                MR_KERNEL void f(MR_GLOBAL real *out) { out[0] = R(SCALE) * N; }]] }
            assert.equal('double', p:kernel 'f'.args[1].type)
        end)

        it('shows where the source is wrong', function()
            if not info.runs_kernels then return end    -- it compiles nothing
            local message, e = failure(d.program, d, { name = 'bad.krn',
                source = 'MR_KERNEL void f(MR_GLOBAL real *out) {\n    out[0] = missing;\n}\n' })
            assert.equal('MARE_ERROR_BUILD', e.status)
            assert.truthy(message:find('bad.krn', 1, true) and message:find('missing', 1, true),
                          message)
            assert.truthy(message:find 'bad%.krn[:(]2', message)
        end)

        it('refuses a wrong table', function()
            for text, options in pairs{
                ['source is missing'] = { name = 'x' },
                ['source: byte 2 is 0'] = { name = 'x', source = 'x\0y' },
                ["unknown field 'sauce'"] = { sauce = '' },
                ["language = 'basic' (allowed: cuda, mare, opencl)"] = { language = 'basic' },
                ["math = 'exact' (allowed: fast, relaxed, strict)"] = { math = 'exact' },
                ['source must be a string, not number'] = { source = 5 },
                ['defines are { NAME = value }; [1] is no name'] = {
                    source = '', defines = { 'A' } },
                ["define 'A' must be a string, a number or a boolean, not table"] = {
                    source = '', defines = { A = {} } },
                ['include_paths[2]: a string is wanted, not number'] = {
                    source = '', include_paths = { 'a', 5 } },
            } do
                local message = failure(d.program, d, options)
                assert.truthy(message:find(text, 1, true), message)
            end
            local p = d:program{ source = saxpy }
            local message = failure(p.kernel, p, 'daxpy')
            assert.truthy(message:find('daxpy', 1, true), message)
        end)
    end)
end
