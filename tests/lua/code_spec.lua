-- Programs as code: bindings/code.lua. What devices do with it: tests/conformance/code.c.

local device = require 'bindings.device'
local fails = require 'tests.fails'

local d = device.open 'null:0'
local source = 'MR_KERNEL void mark(MR_GLOBAL int *out) { out[mr_gid_x()] = 1; }'

describe('the code of a program', function()
    local p = d:program { source = source, name = 'mark.krn' }

    it('is a string, which makes a program again', function()
        local again = d:program { source = source, code = p:binary(), name = 'again' }
        assert.truthy(p:binary():find('mark', 1, true))
        assert.same({ { name = 'out', type = 'int32', is_buffer = true, is_const = false } },
            again:kernel 'mark'.args)
        fails(function() again:binary() end, 'MARE_ERROR_UNAVAILABLE', "'again'")
    end)

    it('is refused in forms that the device has not', function()
        fails(function() p:ptx() end, 'MARE_ERROR_UNAVAILABLE', 'null has no ptx of it')
        fails(function() p:sass() end, 'MARE_ERROR_UNAVAILABLE', 'null has no cubin of it')
        fails(function() p:variable('table', 'float') end, 'MARE_ERROR_UNAVAILABLE',
            'hand it a buffer')
        fails(function() p:variable() end, 'MARE_ERROR_ARGUMENT', 'the name is missing')
        fails(function() p:variable('table', 'reel') end, 'MARE_ERROR_ARGUMENT', 'type', 'reel')
        fails(function() d:program { source = source, code = '' } end, 'MARE_ERROR_ARGUMENT',
            'code of 0 bytes')
    end)
end)
