-- Programs that threads compile while Lua goes on, and what comes of a signal meanwhile. Who holds
-- the lock of the cache keeps compilers waiting, so that nothing here depends on time.

local compiler = require 'bindings.compiler'
local compiling = require 'mare.measure.compiling'
local device = require 'bindings.device'
local events = require 'mare.base.events'
local fails = require 'tests.fails'
local home = require 'bindings.home'
local lfs = require 'lfs'

local function desc(name, source)
    return { name = name, source = source or 'MR_KERNEL void f(int n) {}', defines = { N = 4 } }
end

describe('device:prepare', function()
    it('begins what device:program then takes', function()
        local d = device.open 'null'
        local before = device.live_objects()
        for _ = 1, 2 do d:prepare(desc 'a') end
        assert.equal(before + 1, device.live_objects())
        local a = d:program(desc 'a')
        assert.equal(before + 1, device.live_objects())
        local same = d:program(desc 'a')
        assert.equal(before + 1, device.live_objects())
        a:release()
        assert.equal('n', same:kernel('f').args[1].name)
        same:release()
        d:release()
    end)

    it('leaves it to device:program to tell what the compiler says', function()
        local d = device.open 'null'
        d:prepare(desc('bad.krn', '#error no good'))
        fails(function() d:program(desc('bad.krn', '#error no good')) end, 'MARE_ERROR_BUILD',
            'bad.krn', 'no good')
        fails(function() d:prepare { name = 'x' } end, 'MARE_ERROR_ARGUMENT', 'source is missing')
        d:release()
    end)

    it('keeps nothing of a device that is released', function()
        local function count()
            collectgarbage()
            collectgarbage()
            require('bindings.ffi').C.mare_program_settle()
            return device.live_objects()
        end
        local before = count()
        local d = device.open 'null'
        d:prepare(desc 'b')
        d:release()
        assert.equal(before, count())
    end)
end)

describe('compilers that are waited for', function()
    local list, stop, unmute

    before_each(function()
        list, unmute = {}, events.mute()
        stop = events.listen { hear = function(event)
            list[#list + 1] = event.message or event.kind
        end }
    end)

    after_each(function()
        stop()
        unmute()
        compiling.silence = 1
        compiler.hear(nil, nil, true)
    end)

    it('are told of, each program once', function()
        compiling.silence = 0
        for _, done in ipairs { 0, 0, 1, 3 } do compiler.hear(done, 3) end
        compiler.hear(nil, nil, true)
        assert.same({ 'compiling 1 of 3', 'compiling 2 of 3', 'compiling 3 of 3', 'interlude' },
            list)
    end)

    it('are not told of in the first second', function()
        compiling.silence = 1e9
        compiler.hear(0, 3)
        compiler.hear(nil, nil, true)
        assert.same({}, list)
    end)
end)

local function steps_anywhere()
    for _, info in ipairs(device.list()) do
        if info.runs_kernels then return true end
    end
end

describe('a signal while a compiler is waited for', function()
    local folder = os.tmpname()
    os.remove(folder)
    lfs.mkdir(folder)

    teardown(function() os.execute('rm -r ' .. folder) end)

    -- lock(on): compilers of this process wait from now on, or no more; signal(): Ctrl-C
    local prelude = [[
        local ffi, mare = require 'ffi', require 'mare'
        local compiler = require 'bindings.compiler'
        ffi.cdef 'int getpid(void); int kill(int process, int number); int fcntl(int, int, ...);'
        ffi.cdef 'int open(const char *path, int flags, ...);'
        ffi.cdef 'struct range { short type, whence; long start, length; int process; };'
        local fd = ffi.C.open(os.getenv 'MARE_CACHE' .. '/.lock', 66, ffi.new('int', 384))
        local function lock(on)
            local all = ffi.new('struct range', on and 1 or 2)
            assert(ffi.C.fcntl(fd, 37, all) == 0)
        end
        local function signal() ffi.C.kill(ffi.C.getpid(), 2) end
        local function text()
            return { name = 'slow.krn', source = 'MR_KERNEL void f() {} // ' .. ffi.C.getpid() }
        end
    ]]

    local function run(script, arguments)
        local path = folder .. '/script.lua'
        local file = assert(io.open(path, 'w'))
        file:write(prelude, script)
        file:close()
        local pipe = io.popen(('MARE_CACHE=%s "%s" %s %s 2>&1; echo "status $?"')
            :format(folder, home.launcher, path, arguments or ''))
        local output = pipe:read '*a'
        pipe:close()
        return output
    end

    it('ends a script at once', function()
        local output = run [[
            lock(true)
            local d = mare.device.open 'null'
            signal()
            d:program(text())
            print 'still here'
        ]]
        assert.truthy(output:find 'interrupted\nstatus 130', output)
        assert.falsy(output:find('still here', 1, true))
    end)

    it('ends a run with its checkpoint', function()
        if not steps_anywhere() then return pending 'no device runs kernels' end
        local checkpoint = folder .. '/run.ck'
        local output = run([[
            local o = mare.options { title = 'box', mare.options.simulation,
                { name = 't-end', default = 1 } }
            require 'mare.measure.compiling'
            compiler.hear = function(done) if done then lock(false) end end
            mare.run { options = o, grid = mare.grid { nx = 16, ny = 16, x = { 0, 1 },
                y = { 0, 1 } }, scheme = mare.euler { gamma = 1.4 }, boundaries = 'periodic',
                initial = function() return 1, 0, 0, 1 end,
                every_steps = { { 1, function(sim)
                    if sim.now.steps ~= 3 then return end
                    lock(true)
                    signal()
                    mare.device.open 'null':program(text())
                    print 'compiled'
                end } } }
            print 'still here'
        ]], '--checkpoint=' .. checkpoint)
        assert.truthy(output:find('compiled\n', 1, true), output)
        assert.truthy(output:find('step 3; --restart ' .. checkpoint, 1, true), output)
        assert.truthy(output:find('status 130', 1, true), output)
        assert.falsy(output:find('still here', 1, true))
        assert.truthy(lfs.attributes(checkpoint))
    end)
end)
