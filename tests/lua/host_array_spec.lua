-- What a download returns and a field holds: numbers that nobody reads past their ends.

local ffi = require 'ffi'
local devices = require 'bindings.device'
local host_array = require 'bindings.host_array'
local mare = require 'mare'
local now = require('bindings.system').now

local function refuses(expected, f)
    local ok, problem = pcall(f)
    assert.is_false(ok)
    assert.equal('MARE_ERROR_ARGUMENT', problem.status)
    assert.truthy(problem.message:find(expected, 1, true), problem.message)
end

describe('a downloaded array', function()
    local d, b

    before_each(function()
        d = devices.open 'null'
        b = d:buffer { type = 'float', count = 4, label = 'rho' }
        b:upload { 1, 2, 3, 4 }
    end)

    after_each(function()
        b:release()
        d:release()
    end)

    it('has bounds', function()
        local x = b:download()
        assert.same({ 1, 4, 4, 4, 'float' }, { x[0], x[3], #x, x.count, x.type })
        for _, index in ipairs { 4, -1, 0.5, 1e7, 2 ^ 40, -2 ^ 40, 0 / 0, math.huge } do
            refuses("array 'rho': element " .. tostring(index) .. ': it has 4, from 0',
                function() return x[index] end)
        end
        assert.equal("array 'rho': 4 of float", tostring(x))
    end)

    it('has those of what was asked for, however short', function()
        local x = b:download { offset = 2, count = 1 }
        assert.equal(3, x[0])
        refuses('it has 1', function() return x[1] end)
        refuses('it has 0', function() return b:download { count = 0 }[0] end)
    end)

    it('is frozen', function()
        local x = b:download()
        refuses("array 'rho' is a frozen copy", function() x[0] = 5 end)
        assert.has_error(function() x.count = 1e9 end)
        refuses("array 'rho': 4 of float is frozen", function() b:download { into = x } end)
        refuses('is frozen', function() b:downloader { into = x, stream = d.stream } end)
        refuses('is frozen', function() b:download_region(x, { width = 4 }) end)
        assert.equal(1, x[0])
    end)

    it('is data for an upload of its type', function()
        local x = b:download()
        local y = d:buffer { type = 'float', count = 4 }
        y:upload(x)
        assert.same({ 1, 2, 3, 4 }, y:totable())
        y:upload(x, { stream = d.stream })
        d.stream:wait()
        refuses('the elements are int32, the data are float', function()
            d:buffer { type = 'int32', count = 4 }:upload(x)
        end)
        y:release()
    end)

    it('gives its C array, which outlives it', function()
        local pointer = b:download():pointer()
        for _ = 1, 3 do collectgarbage() end
        assert.equal(4, pointer[3])
        local copy = ffi.new 'float[4]'
        ffi.copy(copy, b:download():pointer(), 16)
        assert.equal(3, copy[2])
    end)

    it('is a Lua array when asked', function()
        assert.same({ 1, 2, 3, 4 }, b:download():totable())
        assert.same({ 2, 3 }, b:totable { offset = 1, count = 2 })
    end)

    it('has elements of every type', function()
        for _, name in ipairs { 'int8', 'uint8', 'int32', 'int64', 'uint64', 'double' } do
            local of = d:buffer { type = name, count = 2 }
            of:fill(7)
            local x = of:download()
            assert.same({ 7, name }, { tonumber(x[1]), x.type })
            of:release()
        end
    end)

    -- A hash look-up for each element would take 4 times as long, and code that LuaJIT has given up
    -- after refusals 70 times; on a quiet machine it is 1.02.
    it('is read in compiled loops about as fast as a C array', function()
        local n = 10 ^ 6
        local data = ffi.new('float[?]', n)
        local x = host_array.wrap(data, n, 'float', 'float', 'x')
        local function best_of(array)
            local best = math.huge
            for _ = 1, 30 do
                local sum, start = 0, now()
                for i = 0, n - 1 do sum = sum + array[i] end
                best = math.min(best, now() - start)
                assert.equal(0, sum)
            end
            return best
        end
        for i = 1, 10000 do pcall(function() return x[n + i] end) end
        best_of(x)
        local checked, plain = best_of(x), best_of(data)
        assert.truthy(checked < 2 * plain, checked / plain)
    end)
end)

describe('pinned memory', function()
    local d, h

    before_each(function()
        d = devices.open 'null'
        h = d:host { type = 'int16', count = 4, label = 'staging' }
    end)

    after_each(function()
        h:release()
        d:release()
    end)

    it('has bounds, too, and elements that can be assigned', function()
        for k = 0, 3 do h.data[k] = 5 - k end
        assert.same({ 5, 2, 4, 4, 'int16' }, { h.data[0], h.data[3], #h.data, h.data.count,
            h.data.type })
        for _, index in ipairs { 4, -1, 0.5, 1e7, 2 ^ 40, -2 ^ 40, 0 / 0, math.huge } do
            local text = "array 'staging': element " .. tostring(index) .. ': it has 4, from 0'
            refuses(text, function() return h.data[index] end)
            refuses(text, function() h.data[index] = 1 end)
        end
        assert.equal(2, h:pointer()[3])
        local b = d:buffer { type = 'int16', count = 4 }
        b:upload(h.data)
        assert.same({ 5, 4, 3, 2 }, b:totable())
        b:fill(7)
        assert.equal(h.data, b:download { into = h.data })
        assert.same({ 7, 7, 7, 7 }, h.data:totable())
        b:release()
    end)

    it('has no elements after its release', function()
        local data = h.data
        h:release()
        refuses('it has 0', function() return data[0] end)
        refuses('it has 0', function() data[0] = 1 end)
        refuses("'staging': its memory has been released", function() return data:pointer() end)
        assert.same({}, data:totable())
    end)

    it('stays as long as its elements can be reached', function()
        local live = devices.live_objects()
        local data = d:host { type = 'float', count = 2 }.data
        for _ = 1, 3 do collectgarbage() end
        data[1] = 3
        assert.same({ 3, live + 1 }, { data[1], devices.live_objects() })
        data = nil      -- luacheck: ignore
        for _ = 1, 3 do collectgarbage() end
        assert.equal(live, devices.live_objects())
    end)
end)

describe('a field', function()
    it('has the same bounds, and cannot be assigned to', function()
        local sim = mare.simulation 'kelvin_helmholtz' { nx = 32, ny = 16, quiet = true,
            device = os.getenv 'MARE_TEST_DEVICE' or 'auto' }
        local f = sim:field 'rho'
        assert.equal(f:at(5, 3), f[3 * 32 + 5])
        assert.equal(f:at(5, 3), f.data[3 * 32 + 5])
        refuses("array 'rho': element 512: it has 512", function() return f[512] end)
        refuses("array 'rho': element -1", function() return f.data[-1] end)
        refuses("field 'rho' is a frozen copy of one time", function() f[0] = 3 end)
        refuses("array 'rho' is a frozen copy", function() f.data[0] = 3 end)
        assert.equal(512, #f:totable())
        sim:release()
    end)
end)
