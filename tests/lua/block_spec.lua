-- Parameter blocks: structs as kernel arguments, by the names of their fields.

local bind = require 'mare.array.bind'
local device = require 'bindings.device'
local devices = require 'tests.devices'
local ffi = require 'ffi'
local garbage = require 'tests.lua.garbage'
local inspect = require 'mare.session.inspect'

local source = [[
typedef struct params { int n; real dt; int32_t w[3]; uint64_t u; unsigned char c; } params;

MR_KERNEL void f(const params p, MR_GLOBAL double *out) {
    out[0] = p.n;
    out[1] = p.dt;
    out[2] = p.w[0] + 10 * p.w[1] + 100 * p.w[2];
    out[3] = (double)(p.u >> 1);
    out[4] = p.c;
}
]]

local function failure(f, ...)
    local ok, result = pcall(f, ...)
    assert.is_false(ok)
    return tostring(result), result
end

for _, info in ipairs(devices()) do
    describe('a parameter block on ' .. info.name, function()
        local d, kernel, out, launch

        before_each(function()
            d = device.open(info.name)
            kernel = d:program { source = source, name = 'f.krn' }:kernel 'f'
            out = d:buffer { type = 'double', count = 5 }
            launch = kernel:bind { out = out, global = 1,
                p = { n = 5, dt = 0.5, w = { 1, 2, 3 }, u = 8, c = 255 } }
        end)

        local function expect(...)
            launch:run()
            if info.runs_kernels then assert.same({ ... }, out:totable()) end
        end

        it('arrives as it was bound and set', function()
            expect(5, 0.5, 321, 4, 255)
            launch:set('p.dt', 0.25)
            launch:set('p.w', { -1, 0, 1 })
            launch:set('p.u', 2ULL^63)
            launch:set('p.n', -7LL)
            expect(-7, 0.25, 99, 2^62, 255)
            launch:set('p', { n = 1, dt = 2, w = { 0, 0, 0 }, u = 2, c = 0 })
            expect(1, 2, 0, 1, 0)
        end)

        it('is written in place and by a function of its fields', function()
            local dt, w = launch:scalar 'p.dt', launch:scalar 'p.w'
            dt[0], w[2] = 4, 0
            expect(5, 4, 21, 4, 255)
            launch:runner { 'p.n', 'p.dt' }(3, 0.125)
            if info.runs_kernels then
                assert.same({ 3, 0.125, 21, 4, 255 }, out:totable())
            end
        end)

        it('is shown with its fields', function()
            local names = {}
            for k, field in ipairs(kernel.args[1].fields) do names[k] = field.name end
            assert.same({ 'n', 'dt', 'w', 'u', 'c' }, names)
            assert.equal('struct', kernel.args[1].type)
            assert.truthy(inspect.show(kernel):find(
                'struct { int32 n; float dt; int32 w[3]; uint64 u; uint8 c; } p', 1, true))
        end)

        it('is filled from a flat table of more', function()
            launch = bind(kernel, { n = 2, dt = 1, w = { 0, 0, 1 }, u = 0, c = 3, out = out,
                other = 9 }, { global = 1 })
            expect(2, 1, 100, 0, 3)
        end)

        it('refuses fields that are missing, unknown, of a wrong type or out of range', function()
            local good = { n = 5, dt = 0.5, w = { 1, 2, 3 }, u = 8, c = 255 }
            local function refused(change, ...)
                local values = {}
                for name, value in pairs(good) do values[name] = value end
                for name, value in pairs(change) do
                    values[name] = value ~= 'none' and value or nil
                end
                local message, e = failure(kernel.bind, kernel,
                    { p = values, out = out, global = 1 })
                assert.equal('MARE_ERROR_ARGUMENT', e.status)
                for _, word in ipairs { "kernel 'f'", ... } do
                    assert.truthy(message:find(word, 1, true), message)
                end
            end
            refused({ dt = 'none' }, "argument 'p': field 'dt' is missing")
            refused({ ddt = 1 }, "has no field 'ddt'", "'dt'", 'it has: n, dt, w, u, c')
            refused({ dt = 'x' }, "'p.dt' is string", 'a number is wanted')
            refused({ dt = 2i }, "'p.dt'", 'a number is wanted')
            refused({ n = 1.5 }, "'p.n'", 'not whole')
            refused({ n = 2^31 }, "'p.n'", 'outside -2147483648 .. 2147483647')
            refused({ c = 256 }, "'p.c'", 'outside 0 .. 255')
            refused({ u = -1LL }, "'p.u'", 'outside 0')
            refused({ dt = 1e39 }, "'p.dt'", 'out of its range')
            refused({ w = 1 }, "'p.w' is number", 'a table of 3 numbers')
            refused({ w = { 1, 2 } }, "'p.w' has 2 values", 'a table of 3 numbers')
            refused({ w = { 1, {}, 2 } }, "'p.w[2]' is table", 'a number is wanted')
            refused({ w = { 1, 2, 0.5 } }, "'p.w[2]'", 'not whole')
        end)

        it('is refused where none is wanted, and wanted where there is none', function()
            local function refused(f, ...)
                local message = failure(f)
                for _, word in ipairs { ... } do
                    assert.truthy(message:find(word, 1, true), message)
                end
            end
            refused(function() launch:set('p', 1) end, "'p'", 'a block of 40 bytes')
            refused(function() launch:set('p', 'x') end, "'p' is string", 'a table of its fields')
            refused(function() launch:set('p', out) end, "argument 0 'p'", 'a block')
            refused(function() launch:set('out', {}) end, "'out' is table")
            refused(function() launch:set('p.x', 1) end, "no field 'x'")
            refused(function() launch:set('q.x', 1) end, "no argument 'q.x'")
            refused(function() launch:set('out.x', 1) end, "no argument 'out.x'")
            refused(function() launch:scalar 'p' end, "'p'", 'a request for its value')
            refused(function() launch:runner { 'p' } end, "'p'")
            refused(function() kernel:bind { out = out, global = 1 } end, "'p' is missing")
            assert.equal(5, launch:scalar 'p.n'[0])
        end)

        it('makes no garbage where a field is set in place', function()
            local dt = launch:scalar 'p.dt'
            assert.equal(0, garbage(function()
                for i = 1, 1000 do
                    dt[0] = i
                    launch:run()
                end
                d:wait()
            end))
        end)
    end)
end

describe('the declarations of blocks', function()
    it('are laid out as C does', function()
        local d = device.open 'null'
        local kernel = d:program { name = 'f.krn', source = source,
            defines = { MARE_REAL = 'double' } }:kernel 'f'
        local struct = ffi.typeof(
            'struct { int n; double dt; int32_t w[3]; uint64_t u; uint8_t c; } *')
        local launch = kernel:bind { out = d:buffer { type = 'double', count = 5 }, global = 1,
            p = { n = 5, dt = 0.5, w = { 1, 2, 3 }, u = 8, c = 255 } }
        local block = ffi.cast(struct, launch:scalar 'p.n')
        assert.same({ 5, 0.5, 3, 8, 255 },
            { block.n, block.dt, block.w[2], tonumber(block.u), block.c })
    end)

    it('are refused where a field cannot be passed', function()
        local program = device.open 'null':program { name = 'g.krn',
            source = 'typedef struct p { int n; mr_half h; } p;\nMR_KERNEL void g(p a) { }' }
        local message = failure(program.kernel, program, 'g')
        for _, word in ipairs { "kernel 'g', argument 0 'a'", "field 'h'", 'pass a float' } do
            assert.truthy(message:find(word, 1, true), message)
        end
    end)
end)
