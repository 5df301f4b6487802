-- Operands whose neighbours are along another axis than the results' are read through tiles in
-- local memory: which of them, and that the results are those of a null device.

local device = require 'bindings.device'
local mare = require 'mare'
local part = require 'tests.kernels.part'
local source = require 'mare.base.source'
local tiles = require 'mare.expression.tiles'
local types = require 'mare.expression.types'

local null = device.open 'null'

local function numbers(on, type, ...)
    local sizes, count = { ... }, 1
    for _, size in ipairs(sizes) do count = count * size end
    return (mare.arange(count, { device = on }) * 7 % 101):to(type):reshape(unpack(sizes)):eval()
end

-- Each returns an array.
local expressions = {
    { 'a transposed and a repeated one', function(on)
        local a, b = numbers(on, 'float', 71, 133), numbers(on, 'float', 1, 71)
        return a:transpose() * 2 - b
    end },
    { 'views of three axes into a transposed one', function(on)
        local a, b = numbers(on, 'half', 17, 3, 66), numbers(on, 'double', 40, 3, 20)
        local out = mare.zeros({ 20, 3, 20 }, { type = 'double', device = on }):eval()
        out { { 2, 19 } }:transpose(2, 1, 0):assign(
            a { {}, {}, { 60, 40, -1 } }:transpose(2, 1, 0) - b { { 0, 20 }, {}, { nil, 17 } })
        return out
    end },
    { 'complex numbers where bytes say so', function(on)
        local a, b = numbers(on, 'double', 35, 40), numbers(on, 'int8', 40, 35)
        local z = a:complex(2 - a):eval()
        return mare.where(b:transpose():gt(50), z, 1) * z:transpose():reshape(40, 35):transpose()
    end },
    { 'what depends on the number of an element', function(on)
        local a = numbers(on, 'uint16', 64, 32)
        local random = mare.rand({ 32, 64 }, { seed = 4, device = on })
        local f = mare.fuse(function(x, y) return x:transpose() + y, y * 2 - x:transpose() end)
        local p, q = f(a:float(), random)
        return p * q
    end },
}

describe('tiles are for', function()
    local float, leaf = types.float, { version = true, type = types.float }
    local gpu, cpu = { info = { kind = 'gpu' } }, { info = { kind = 'cpu' } }

    it('operands with neighbours along another axis', function()
        local sizes, out, turned = { 64, 64 }, { 0, 1, 64 }, { 0, 64, 1 }
        local tile = tiles.of(gpu, sizes, { out, out, turned }, { leaf, leaf })
        assert.same({ 2, 64, { [2] = true } }, { tile.axis, tile.side, tile.leaves })
        assert.is_nil(tiles.of(cpu, sizes, { out, turned }, { leaf }))
        for _, layout in ipairs { out, { 0, 0, 1 }, { 0, 64, 0 }, { 0, 3, 1 }, { 5, -1, 64 } } do
            assert.is_nil(tiles.of(gpu, sizes, { out, layout }, { leaf }))
        end
        assert.is_nil(tiles.of(gpu, sizes, { out, turned }, { { type = types.int64 } }))
        assert.is_nil(tiles.of(gpu, { 64, 15 }, { out, turned }, { leaf }))
        assert.is_nil(tiles.of(gpu, { 15, 64 }, { out, turned }, { leaf }))
    end)

    it('as many as fit, along one axis', function()
        local function of(type, layouts)
            local leaves = {}
            for k = 2, #layouts do leaves[k - 1] = { version = true, type = types[type] } end
            return tiles.of(gpu, { 64, 64, 64 }, layouts, leaves)
        end
        local out, second, third = { 0, 1, 64, 4096 }, { 0, 64, -1, 4096 }, { 0, 64, 4096, 1 }
        local tile = of('float', { out, third, second, third })
        assert.same({ 3, 32, { true, [3] = true } }, { tile.axis, tile.side, tile.leaves })
        local other = of('float', { out, second, third, third })
        assert.same({ 2, 64, { true } }, { other.axis, other.side, other.leaves })
        assert.not_equal(tile.key, other.key)
        assert.same({ true }, of('complex_double', { out, second, second }).leaves)
        assert.equal(float.size * 32 * 33, require('mare.expression.tile_text').bytes(float, 32))
    end)
end)

for _, d in ipairs(part.devices()) do
    for _, entry in ipairs(expressions) do
        local name, f = unpack(entry)
        if not d.is_null and d.info.has_double then
            it(('tiles hold %s on %s'):format(name, d.name), function()
                finally(function() tiles.in_groups = nil end)
                tiles.in_groups = true
                local made, expected = f(d), f(null)
                assert.same({ unpack(expected.shape) }, { unpack(made.shape) })
                assert.equal(tostring(expected.type), tostring(made.type))
                local x, y = made:flatten():totable(), expected:flatten():totable()
                for k = 1, #y do
                    if type(y[k]) == 'cdata' then
                        assert.same({ y[k].re, y[k].im }, { x[k].re, x[k].im })
                    else
                        assert.equal(y[k], x[k])
                    end
                end
            end)
        end
    end
end

it('kernels with tiles compile for CUDA', function()
    finally(function() tiles.in_groups = nil end)
    tiles.in_groups = true
    for _, type in ipairs { 'float', 'half', 'bool', 'complex_double' } do
        local a = numbers(null, type, 50, 40)
        local text = mare.where(a:transpose():eq(0), 1, a:transpose() * 1):source()
        assert.truthy(text:find('MR_LOCAL', 1, true))
        local ok, message = pcall(device.check, 'cuda:sm_90',
            source.text(text, type, { math = 'strict' }))
        if not ok and message.status == 'MARE_ERROR_UNAVAILABLE' then pending 'no NVRTC' end
        assert.truthy(ok, tostring(message))
    end
end)
