-- What a shape tells the compiler, with a device that gives back the options.

local registers = require 'mare.dialect.registers'
local shapes = require 'mare.shapes'

local function options_on(name, shape)
    local device = { info = { name = name, vendor = 'NVIDIA Corporation', model = 'one' } }
    function device.program(_, program) return program.options or 'none' end
    return shapes.program(device, shape, {})
end

describe('a shape', function()
    it('names its resident groups where each work-item has many registers', function()
        local few, many = { GROUP = 64, resident = 4 }, { GROUP = 64, resident = 8 }
        assert.equal('--define-macro=MR_GROUPS_PER_UNIT=4', options_on('cuda:0', few))
        assert.equal('none', options_on('cuda:0', many))
        assert.equal('none', options_on('cuda:0', { GROUP = 64, rows = 8 }))
        assert.equal('none', options_on('opencl:0', few))
    end)

    it('bounds registers instead where it says how many', function()
        local bound = options_on('cuda:0', { GROUP = 64, resident = 4, max_registers = 96 })
        assert.truthy(bound:find('MR_REGISTERS=96', 1, true))
        assert.falsy(bound:find 'MR_GROUPS_PER_UNIT')
    end)
end)

describe('a group that the source fixes', function()
    local function bound(name, vendor, group)
        return registers.for_group({ name = name, vendor = vendor, model = 'one' }, group)
    end

    it("bounds registers for NVIDIA's OpenCL where not every kernel fits it", function()
        for group, count in pairs { [512] = 128, [1024] = 64, [300] = 200, [257] = 224 } do
            assert.equal(('-cl-nv-maxrregcount=%d -D MR_REGISTERS=%d'):format(count, count),
                bound('opencl:0', 'NVIDIA Corporation', group))
            assert.is_true(math.ceil(group / 32) * 32 * count <= 65536)
        end
        assert.is_nil(bound('opencl:0', 'NVIDIA Corporation', 256))
        assert.is_nil(bound('opencl:1', 'GenuineIntel', 512))
        assert.is_nil(bound('cuda:0', 'NVIDIA Corporation', 512))
    end)

    it('of a transform is bounded', function()
        local kernels, seen = require 'mare.fft.kernels', nil
        local device = { info = { name = 'opencl:0', vendor = 'NVIDIA Corporation', model = 'one',
            kind = 'gpu', local_memory = 49152, has_double = true } }
        function device.program(_, program)
            seen = program
            error 'seen'
        end
        local type = require 'mare.expression.types'.complex_float
        local part = { kind = 'plain', unit = 'inner', type = type }
        local d = { n = 512, points = 512, radices = { 8, 4, 4, 4 }, radices_back = { 4, 4, 4, 8 },
            items = 128, width = 4, is_column = true, real = 'float', index = 'int', load = part,
            store = part }
        assert.error_matches(function() kernels.of(d, device) end, 'seen')
        assert.truthy(seen.source:find('MR_GROUP_SIZE(512, 1, 1)', 1, true))
        assert.matches('maxrregcount=128', seen.options)
    end)
end)
