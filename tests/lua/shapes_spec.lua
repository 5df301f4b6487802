-- What a shape tells the compiler, with a device that gives back the options, and
-- how many groups it makes of a part.

local ocean = require 'mare.ocean'
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

    -- 65 columns have a wider shape than the 64 that the device's kernels were compiled for.
    it('of the first part of a device says how many groups any part has', function()
        local device = { info = { kind = 'cpu', model = 'one', max_group_size = 1 } }
        local few, more = { nx = 64, ny = 64, cells = 64 ^ 2 }, { nx = 65, ny = 64, cells = 64 ^ 2 }
        local scheme = ocean.new { scheme = 'nonlinear', depth = 1 }
        local function groups(...) return shapes.with({}, scheme.maxima, scheme, device, ...) end
        assert.same({ 1, 2 }, { groups(few, few), groups(more, few) })
    end)
end)
