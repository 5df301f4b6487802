-- Data of the host as arguments of a kernel that is called: bindings/carried.lua.

local device = require 'bindings.device'
local devices = require 'tests.devices'
local fails = require 'tests.fails'
local ffi = require 'ffi'
local mare = require 'mare'

local source = 'MR_KERNEL void add(MR_GLOBAL const float *x, MR_GLOBAL float *y, float a, '
    .. 'int n) { int i = mr_gid_x(); if (i < n) y[i] += a * x[i]; }'

-- Listing 1 of Holm, Brodtkorb and Saetra (2020), less its output.
local listing = [[
local fill = require('mare').device.open(...):program { source = [=[
    MR_KERNEL void fill(MR_GLOBAL float *dest) {
        int i = mr_gid_x();
        dest[i] = i + 1;
    }]=] }:kernel 'fill'
local data = {}
fill { dest = mare.out(data, 200), global = 200 }
return data
]]

for _, info in ipairs(devices()) do
    describe('mare.inp, out and inout on ' .. info.name, function()
        local d = device.open(info.name)
        local add = d:program { source = source, name = 'add.krn' }:kernel 'add'
        local runs = d.info.runs_kernels

        it('carry arrays of Lua, C arrays, host and pinned memory', function()
            local host = d:host { type = 'float', count = 3 }
            local frozen = d:buffer { type = 'float', count = 3 }
            frozen:upload { 1, 2, 3 }
            for k = 0, 2 do host.data[k] = 10 end
            local y, c = { 1, 1, 1 }, ffi.new('float[3]', 5)
            add { x = mare.inp { 1, 2, 3 }, y = mare.inout(y), a = 2, n = 3, global = 3 }
            assert.same(runs and { 3, 5, 7 } or { 1, 1, 1 }, y)
            add { x = mare.inp(frozen:download()), y = mare.inout(c, 2), a = 1, n = 2, global = 2 }
            assert.same(runs and { 6, 7, 5 } or { 5, 5, 5 }, { c[0], c[1], c[2] })
            add { x = mare.inp(c), y = mare.inout(host), a = 1, n = 3, global = 3 }
            assert.equal(runs and 16 or 10, host.data[0])
        end)

        it('make listing 1 eight lines', function()
            local _, lines = listing:gsub('\n', '')
            assert.equal(8, lines)
            local data = setfenv(assert(loadstring(listing)), setmetatable({ mare = mare },
                { __index = _G }))(info.name)
            assert.equal(200, #data)
            if runs then assert.same({ 1, 200 }, { data[1], data[200] }) end
        end)

        it('leave no memory behind where a call fails', function()
            local before = d:pool()
            collectgarbage 'stop'
            finally(function() collectgarbage 'restart' end)
            fails(function() add { x = mare.inp { 1, 2 }, y = mare.inout { 'a', 2 }, a = 1, n = 2,
                global = 2 } end, nil, 'element 1 is string')
            fails(function() add { x = mare.inp { 1 }, y = mare.inout { 1 }, global = 1 } end,
                'MARE_ERROR_ARGUMENT', 'is missing')
            assert.equal(before, (d:pool()))
        end)

        it('refuse what is no data', function()
            local x = d:buffer { type = 'float', count = 3 }
            fails(function() mare.out {} end, 'MARE_ERROR_ARGUMENT', 'mare.out', 'how many')
            fails(function() mare.inp({ 1 }, 2) end, 'MARE_ERROR_ARGUMENT', '2', 'there are 1')
            fails(function() add { x = mare.inp { 1, nil, 3 }, y = mare.inout { 1, 2, 3 }, a = 1,
                n = 3, global = 3 } end, 'MARE_ERROR_ARGUMENT', 'element 2 is nil')
            fails(function() mare.out(3) end, 'MARE_ERROR_ARGUMENT', 'mare.out', 'not number')
            fails(function() mare.inp(x) end, 'MARE_ERROR_ARGUMENT', 'buffer as it is')
            fails(function() mare.out(mare.zeros({ 3 }, { device = d }), 3) end,
                'MARE_ERROR_ARGUMENT', 'array as it is', 'mare.out')
            fails(function() add:bind { x = mare.inp { 1 }, y = x, a = 1, n = 1, global = 1 } end,
                'MARE_ERROR_ARGUMENT', "'x'", 'kernel { ... }', 'a launch wants')
            fails(function() mare.out(x:download()) end, 'MARE_ERROR_ARGUMENT', 'frozen')
            fails(function() mare.out(ffi.new 'const float[3]') end, 'MARE_ERROR_ARGUMENT',
                'const float [3]')
            fails(function() add { x = x, y = x, a = mare.inp { 1 }, n = 1, global = 1 } end,
                'MARE_ERROR_ARGUMENT', "'a' is mare.inp", 'no buffer')
            fails(function() add { x = x, y = x, a = 1, global = 1 } end, 'MARE_ERROR_ARGUMENT',
                "'n' is missing")
        end)
    end)
end
