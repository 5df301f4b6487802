-- Products of matrices on devices: by OpenBLAS and by Mare's kernel, as a processor and as a GPU
-- would run it, beside those that Lua computes on a null device.

local device = require 'bindings.device'
local fails = require 'tests.fails'
local kernels = require 'mare.ordering.kernels'
local launches = require 'mare.expression.launches'
local mare = require 'mare'
local multiply = require 'mare.products.multiply'
local openblas = require 'bindings.openblas'
local part = require 'tests.kernels.part'
local sample = require 'tests.sample'
local source = require 'mare.base.source'
local types = require 'mare.expression.types'

local null = device.open 'null'

-- Returns the products of matrices of a type: plain, transposed, parts, and several at once.
local function products(on, type, library)
    local function random(sizes, seed)
        return (mare.randint(-40, 40, sizes, { seed = seed, device = on }) / 8):to(type):eval()
    end
    local a, b, c = random({ 21, 150 }, 1), random({ 150, 19 }, 2), random({ 3, 1, 9, 21 }, 3)
    local option = { library = library }
    return {
        a:matmul(b, option), b:transpose():matmul(a:transpose(), option),
        a { { 1, 20 }, { 3, 60 } }:matmul(b { { 100, 43, -1 }, { 0, 18, 2 } }, option),
        c:matmul(a, option),
        c { {}, {}, {}, { nil, nil, -1 } }:matmul(random({ 2, 21, 5 }, 4), option),
        a { 0 }:matmul(b, option), a:matmul(b { {}, 3 }, option), a { 2 }:matmul(a { 3 }, option),
        a:transpose():matmul(a { {}, 3 }, option), random({ 2, 300, 41 }, 5):transpose(0, 2, 1)
            :matmul(random({ 300 }, 6), option), random({ 140, 36 }, 7):matmul(
            random({ 36, 132 }, 8), option),
        -- These are long enough for the loops that read several rows, or runs of one, ahead.
        random({ 5, 1100 }, 9):matmul(random({ 1100 }, 10), option),
        random({ 300 }, 11):matmul(random({ 300, 44 }, 12), option),
    }
end

local expected = {}

local function compare(made, type, allowed)
    expected[type] = expected[type] or products(null, type)
    for k, e in ipairs(expected[type]) do
        assert.equal(e.type, made[k].type)
        assert.same(e.shape, made[k].shape)
        local x, y = made[k]:flatten():totable(), e:flatten():totable()
        if e.rank == 0 then x, y = { made[k]:item() }, { e:item() } end
        for i = 1, #y do
            assert.truthy(math.abs(tonumber(x[i] - y[i])) <= allowed,
                ('product %d, element %d: %s, not %s'):format(k, i - 1, tostring(x[i]),
                    tostring(y[i])))
        end
    end
end

-- The elements are multiples of 1/8, so that sums are exact in float, too.
for _, d in ipairs(part.devices()) do
    local is_cpu = d.info.kind == 'cpu'
    for _, in_groups in ipairs(is_cpu and { false, true } or { true }) do
        if not d.is_null then
            it(('products by the own kernel on %s by %s'):format(d.name,
                in_groups and 'groups' or 'work-items'), function()
                finally(function() kernels.in_groups = nil end)
                kernels.in_groups = in_groups
                local names = in_groups and sample({ 'float', 'double' }, 1) or { 'int32' }
                for _, type in ipairs(names) do
                    compare(products(d, type, 'own'), type, 0)
                end
            end)
        end
    end
    if is_cpu and not d.is_null then
        it('products by OpenBLAS on ' .. d.name, function()
            if not openblas.is_there() then return pending 'needs OpenBLAS' end
            assert.equal('openblas', mare.blas.library(d))
            compare(products(d, 'float'), 'float', 0)
            local z = mare.arange(6, { device = d }):float():complex(1):reshape(2, 3)
            local made = z:matmul(z:transpose())
            assert.same({ { { 2, 6 }, { 11, 15 } } },
                { { { made:at(0, 0).re, made:at(0, 0).im },
                    { made:at(0, 1).re, made:at(0, 1).im } } })
            made = z { {}, { nil, nil, -1 } }:matmul(z:transpose(),
                { epilogue = function(c) return c * 1 end })
            assert.same({ -2, 6 }, { made:at(0, 0).re, made:at(0, 0).im })
        end)
        it('products with vectors by OpenBLAS on ' .. d.name, function()
            if not openblas.is_there() then return pending 'needs OpenBLAS' end
            local a = mare.arange(24, { device = d }):float():reshape(2, 3, 4):eval()
            local x = a { 0, {}, 1 }                        -- every fourth element: 1, 5, 9
            assert.same({ { 92, 107, 122, 137 }, { 272, 287, 302, 317 } },
                x:matmul(a):totable())
            assert.same({ { 14, 38, 62 }, { 86, 110, 134 } },
                a:matmul(mare.arange(4, { device = d }):float()):totable())
            assert.same({ 92, 107, 122, 137 }, a { 0 }:transpose():matmul(x):totable())
            assert.equal(107, x:matmul(x):item())
            local square
            local plan = d.stream:record(function()
                square = a { 0 }:matmul(a { 0 }:transpose())    -- by the kernel
            end)
            plan:run()
            assert.same({ { 14, 38, 62 }, { 38, 126, 214 }, { 62, 214, 366 } }, square:totable())
        end)
    end
end

-- Epilogues are computed as the product is stored, in one launch, where the kernel multiplies.
for _, d in ipairs(part.devices()) do
    if not d.is_null then
        it('epilogues of products are part of them on ' .. d.name, function()
            finally(function() kernels.in_groups = nil end)
            kernels.in_groups = sample({ false, true }, 1)[1]
            local function random(sizes, seed)
                return (mare.randint(-40, 40, sizes, { seed = seed, device = d }) / 8):eval()
            end
            local a, b, bias, m = random({ 3, 21, 150 }, 1), random({ 150, 19 }, 2),
                random({ 19 }, 3), random({ 19, 21 }, 4):transpose()
            local function f(c) return mare.maximum(c + bias, 0) * 2 + m end
            local wanted = f(a:matmul(b, { library = 'own' })):eval()
            local before = launches.run
            local made = a:matmul(b, { library = 'own', epilogue = f })
            assert.equal(before + 1, launches.run)
            assert.equal(0, (made - wanted):abs():max():item())
            made = a:matmul(b, { epilogue = function(c) return c:gt(0) end })
            assert.same({ 'bool', true }, { made.type,
                made:eq(a:matmul(b):gt(0)):all():item() })
            fails(function()
                a:matmul(b, { library = 'own', epilogue = function(c) return c - c:max() end })
            end, 'MARE_ERROR_ARGUMENT', 'compute')
            fails(function() a:matmul(b, { epilogue = function(c) return c:sum() end }) end, nil,
                '{ 3, 21, 19 }')
        end)
    end
end

-- CUDA's memory may begin anywhere where others made it, and a wide read of it must not.
local reads = [[
#include "products/factors.h"
MR_KERNEL void reads(MR_GLOBAL int *wide, const MR_GLOBAL TYPE *x) {
    for (int k = 0; k < 8; ++k)
        wide[k] = are_wide(x + k, 1, 2 * WIDE) + are_wide(x + k, 1, WIDE + 1)
            + are_wide(x + k, 2, WIDE);
}
]]

for _, d in ipairs(part.devices()) do
    if d.info.kind == 'cpu' and not d.is_null then
        it('products read several elements where these begin at their size, on ' .. d.name,
            function()
                for _, name in ipairs(sample({ 'float', 'double', 'int8', 'half' }, 1)) do
                    local type = types[name]
                    local kernel = d:program(source.text(reads, 'reads', { math = 'strict',
                        defines = multiply.defines(d, type) })):kernel 'reads'
                    local wide = d:buffer { type = 'int32', count = 8 }
                    kernel:bind { wide = wide, x = d:buffer { type = name, count = 16 },
                        global = 1 }:run()
                    local step = name == 'double' and 2 or 4
                    for k, found in ipairs(wide:totable()) do
                        local is_wide = name ~= 'half' and k % step == 1
                        assert.equal(is_wide and 1 or 0, found, name .. k)
                    end
                end
            end)
    end
end
