local device = require 'bindings.device'
local fails = require 'tests.fails'
local ffi = require 'ffi'
local home = require 'bindings.home'
local kept = require 'mare.expression.kept'

-- Returns the error of f as a table.
local function failure(f, ...)
    local ok, result = pcall(f, ...)
    assert.is_false(ok)
    assert.is_table(result)
    return result
end

describe('ffi', function()
    it('reads the declarations of the library it loaded', function()
        local mare = require 'bindings.ffi'
        assert.equal(tonumber(mare.C.MARE_API_VERSION), mare.C.mare_api_version())
        assert.equal(home.version, mare.version)
        assert.equal('float', mare.type_names[mare.types.float])
        for name, ctype in pairs(mare.ctypes) do
            assert.equal(tonumber(mare.C.mare_type_size(mare.types[name])), ffi.sizeof(ctype))
        end
    end)

    it('refuses a library of another API version', function()
        local script = [[
            local home = require 'bindings.home'
            local file = io.open(home.header)
            local text = file:read '*a':gsub('MARE_API_VERSION = %d+', 'MARE_API_VERSION = 999')
            file:close()
            home.header = os.tmpname()
            file = io.open(home.header, 'w')
            file:write(text)
            file:close()
            local ok, message = pcall(require, 'bindings.ffi')
            os.remove(home.header)
            io.write(tostring(ok), ' ', message)]]
        local pipe = io.popen(("'%s' -e '%s'"):format(home.launcher, (script:gsub("'", "'\\''"))))
        local text = pipe:read '*a'
        pipe:close()
        assert.truthy(text:find('^false .*API version %d+, .* declares 999'), text)
    end)

    it('is found without a launcher too', function()
        local found = dofile(home.root .. '/bindings/home.lua')
        assert.equal(home.root, found.root)
        assert.equal(home.header, found.header)
        assert.is_false(found.interrupted())
    end)
end)

describe('device', function()
    it('lists back ends and devices, null last', function()
        local names = {}
        for i, backend in ipairs(device.backends()) do
            names[i] = backend.name
            if not backend.available then assert.truthy(#backend.reason > 10) end
        end
        assert.same({ 'cuda', 'opencl' }, { names[1], names[2] })
        assert.equal('null', names[#names])
        local list = device.list()
        assert.equal('null:0', list[#list].name)
    end)

    it('tells what it is in plain Lua values', function()
        local d = device.open 'null'
        assert.equal('null:0', d.name)
        for _, field in ipairs{ 'memory', 'max_buffer', 'local_memory', 'compute_units' } do
            assert.is_number(d.info[field])
        end
        assert.is_boolean(d.info.has_double)
        assert.equal(3, #d.info.max_group)
        d:release()
    end)

    it('names what it has when asked for something else', function()
        local e = failure(device.open, 'metal')
        assert.equal('MARE_ERROR_UNAVAILABLE', e.status)
        assert.truthy(e.message:find('metal', 1, true) and e.message:find('opencl', 1, true),
                      e.message)
        assert.equal('MARE_ERROR_UNAVAILABLE', failure(device.open, 'null:7').status)
        assert.equal('MARE_ERROR_ARGUMENT', failure(device.open, 7).status)
    end)

    it('puts the line of the caller in front of its errors', function()
        local line = debug.getinfo(1, 'l').currentline + 1
        local e = failure(function() return (device.open 'metal') end)
        assert.truthy(tostring(e):find('device_spec.lua:' .. line .. ': ', 1, true), tostring(e))
    end)

    it('refuses use after release, and releases twice in peace', function()
        local d = device.open 'null'
        local b = d:buffer{ size = 16, label = 'b' }
        d:release()
        d:release()
        assert.truthy(failure(function() d:wait() end).message:find 'after its release')
        b:fill(1)           -- the buffer keeps its device alive
        assert.equal(1, b:download()[15])
        b:release()
    end)

    it('frees what is released, in any order', function()
        collectgarbage()
        collectgarbage()
        local before = device.live_objects()
        local d = device.open 'null'
        local objects = { d, d:buffer{ size = 16 }, d:stream{ label = 's' }, d:event(),
                          d:host{ size = 64 } }
        objects[#objects + 1] = objects[2]:view(4, 4)
        assert.is_true(device.live_objects() > before)
        for _, object in ipairs(objects) do object:release() end
        assert.equal(before, device.live_objects())
    end)

    it('has streams that order and events that time', function()
        local d = device.open 'null'
        local s = d:stream{ priority = 1, label = 's' }
        local e1, e2 = d:event(), d:event()
        assert.truthy(failure(e1.wait, e1).message:find 'never recorded')
        e1:record(s)
        e2:record()
        d.stream:wait_event(e1)
        s:flush()
        s:wait()
        d:wait()
        assert.is_true(e1:done())
        assert.is_true(e1:elapsed_ms(e2) >= 0)
        assert.truthy(failure(d.stream, d, { priority = 7 }).message:find 'allowed: %-1, 0, 1')
        assert.truthy(failure(d.stream, { priority = 0 }).message:find 'with a colon')
        fails.says(failure(s.wait_event, s, d).message, 'event')
    end)

    it('lists, names and clears its cache', function()
        assert.is_string(device.cache.path())
        for _, entry in ipairs(device.cache.entries()) do
            assert.is_number(entry.size)
            assert.is_true(entry.used > 1e9)
        end
    end)

    it('keeps texts in its cache, as long as the modules that write them stay', function()
        local key = 'device_spec of ' .. os.time()
        local own, others = kept.of('device_spec', { 'base' }), kept.of('device_spec', { 'stages' })
        assert.is_nil(own.find(key))
        own.keep(key, 'a text')
        assert.is_nil(others.find(key))
        assert.equal(device.cache.path() ~= '' and 'a text' or nil, own.find(key))
        kept.of('device_spec', { 'no such room' }).keep(key, 'a text')
        assert.is_nil(kept.of('device_spec', { 'no such room' }).find(key))
    end)
end)

describe('the collector', function()
    it('keeps temporaries that nobody releases from adding up', function()
        local d = device.open 'null'
        local most = 0
        for i = 1, 10000 do
            d:buffer{ size = 2^20, label = 'temporary' }
            if i % 100 == 0 then most = math.max(most, device.live_objects()) end
        end
        -- those of 1 GiB, if time did not collect them before, and what other specs left
        assert.is_true(most < 1300, 'live objects: ' .. most)
    end)

    it('is asked when memory is short', function()
        local mare = require 'bindings.ffi'
        local calls, collected = 0, newproxy(true)
        local finalised = false
        getmetatable(collected).__gc = function() finalised = true end
        collected = nil     -- luacheck: ignore
        mare.create(function()
            calls = calls + 1
            return calls == 1 and mare.C.MARE_ERROR_MEMORY or 0
        end)
        assert.equal(2, calls)
        assert.is_true(finalised)
    end)
end)
