local fails = require 'tests.fails'
local ffi = require 'ffi'
local home = require 'bindings.home'
local pseudo_terminal = require 'tests.pseudo_terminal'
local system = require 'bindings.system'

ffi.cdef 'int open(const char *path, int flags, ...); int ioctl(int fd, unsigned long what, ...);'

local FIONREAD = 0x541b

local function quote(word)
    return "'" .. word:gsub("'", "'\\''") .. "'"
end

local function shell(command)
    local pipe = io.popen(command)
    local output = pipe:read '*a'
    pipe:close()
    return output
end

-- Runs the launcher with words in a shell, between `before` and `after`.
-- Returns its output and its exit status.
local function mare(words, after, before)
    local command = { quote(home.launcher) }
    for _, word in ipairs(words) do command[#command + 1] = quote(word) end
    local line = table.concat(command, ' ')
    local output = shell(('{ %s %s %s; } 2>&1; echo "status $?"'):format(before or '', line,
                                                                        after or ''))
    local text, status = output:match '^(.*)status (%d+)\n$'
    return text, tonumber(status)
end

-- Writes a script to a temporary file, which is removed when the test ends.
local function script(text, finally)
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write(text)
    file:close()
    finally(function() os.remove(path) end)
    return path
end

local function check(status, text, words, after, before)
    local output, got = mare(words, after, before)
    assert.truthy(output:find(text, 1, true), output)
    assert.equal(status, got)
    return output
end

describe('mare', function()
    it('runs code, files and standard input with arguments', function()
        check(0, 'a b -e', { '-e', 'print(..., select(2, ...), arg[0])', 'a', 'b' },
              '| tr "\\t" " "')
        check(0, '3', { '-' }, '', 'echo "print(1 + 2)" |')
        local path = script('#!/usr/bin/env mare\nprint(arg[1] .. ...)', finally)
        check(0, 'xx', { path, 'x' })
    end)

    it('loads nothing that a script of kernels does without', function()
        check(0, 'nil nil nil', { '-e', [[
            require('mare').device.open('null'):buffer { size = 4 }:fill(0)
            print(package.loaded['mare.base.options'], package.loaded['bindings.files'],
                package.loaded['mare.live.scenario'])]] }, '| tr "\\t" " "')
    end)

    it('takes a bare name for a scenario, whatever file has it', function()
        local folder = os.tmpname()
        os.execute(('rm %s; mkdir %s; echo this is no Lua > %s/saxpy'):format(folder, folder,
            folder))
        finally(function() os.execute('rm -r ' .. folder) end)
        check(0, 'largest error 0', { 'saxpy', '--n=8' }, '', ('cd %s &&'):format(folder))
        check(1, "'=' expected near 'is'", { './saxpy' }, '', ('cd %s &&'):format(folder))
    end)

    it('tells its version and its usage', function()
        check(0, 'mare ' .. home.version .. ', commit ' .. home.commit .. '\n', { '--version' })
        check(0, 'Usage: mare FILE.lua', { '--help' })
        for _, name in ipairs { 'info', 'rerun', 'doctor', 'cache', 'bench' } do
            check(0, 'Usage: mare ' .. name, { name, '--help' })
        end
        check(0, 'Usage: mare cache ls', { 'cache', '-h' })
    end)

    it('answers bad usage with 2', function()
        check(2, "unknown option '--bogus'", { '--bogus' })
        check(2, 'no_such: there is no such file, and no such scenario (there are: acoustics, ',
            { 'no_such' })
        check(2, '/no/such/file.lua: No such file', { '/no/such/file.lua' })
        check(2, './: Is a directory', { './' })
        check(2, 'CODE is missing', { '-e' })
        check(2, "no shapes of 'nothing' (shipped: ", { 'tune', 'show', 'nothing' })
        local tune = "(allowed: ls, show KERNEL, clear [KERNEL])"
        check(2, "tune: 'ls foo' " .. tune, { 'tune', 'ls', 'foo' })
        check(2, "tune: 'show x y' " .. tune, { 'tune', 'show', 'x', 'y' })
        check(2, 'tune show: KERNEL is missing', { 'tune', 'show' })
        check(2, "cache: 'burn' (allowed: ls, clear, path)", { 'cache', 'burn' })
        check(2, "doctor: '--xml' (allowed: --json)", { 'doctor', '--xml' })
        local path = script([[
            require('mare').options{ { name = 'n', default = 1, range = { 1, 9 } } }]], finally)
        check(2, "option --n: '10' (allowed: a whole number from 1 to 9)", { path, '--n', '10' })
    end)

    it('answers values that options cannot have with 2', function()
        local run = { 'kelvin_helmholtz', '--nx=32', '--ny=16', '--steps=1', '--quiet' }
        for words, text in pairs {
            ['--device=metal'] = "option --device: device 'metal': no such back end",
            ['--device='] = 'option --device: a name such as',
            ['--device=opencl:99'] = "option --device: device 'opencl:99'",
            ['--decompose=40x1'] = 'option --decompose: grid: 40 parts of 32 cells along x',
            ['--out=/no/such/kh.nc'] = 'option --out: /no/such/kh.nc: cannot write into its folder',
            ['--image=/no/such/kh.png'] = 'option --image: /no/such/kh.png: cannot write',
            ['--power-log=/no/p.csv'] = 'option --power-log: /no/p.csv: cannot write',
            ['--checkpoint=/no/kh.ck'] = 'option --checkpoint: /no/kh.ck: cannot write',
        } do
            run[6] = words
            local output = check(2, 'mare: ' .. text, run)
            assert.falsy(output:find '%.lua', output)
        end
        check(2, "option --device: device 'metal'", { 'saxpy', '--device=metal' })
        check(2, 'option --device: ', { 'saxpy', '--device=' })
        check(2, 'option --device: ', { 'saxpy' }, '', 'MARE_DEVICE=metal')
    end)

    it('tells true defaults and uses of options', function()
        check(0, 'has its own default [default 0.2]', { 'sod', '--help' }, '| tr -s " \n" " "')
        check(0, 'several as cuda:0,cuda:1', { 'sod', '--help' }, '| tr -s " \n" " "')
        assert.falsy(mare { 'saxpy', '--help' }:find 'several')
    end)

    it('shows the options of a script', function()
        local path = script([[
            local o = require('mare').options{
                title = 'Title.',
                { name = 'n', default = 7, unit = 'm', help = 'words' },
            }
            print(o.n)]], finally)
        local help = check(0, 'Title.', { path, '--help' })
        assert.truthy(help:find '--n <N>%s+words %[m, default 7%]', help)
        check(0, '8\n', { path, '--n', '8' })
    end)

    it("shows an error's message and the stack frames of the user's code only", function()
        local path = script([[
            local function inner() return (require('mare').device.open 'metal') end
            local function outer() inner() end
            outer()]], finally)
        local output = check(1, ":1: device 'metal': no such back end", { path })
        local name = path:gsub('%p', '%%%0')
        local places = {}
        for place in output:gmatch '    at ([^\n]*)' do
            places[#places + 1] = place:gsub('^' .. name, '')
        end
        assert.same({ ':2', ':3' }, places)      -- the first is in front of the message
        check(1, 'bindings/device.lua', { path }, '', 'MARE_TRACEBACK=1')
    end)

    it('answers a failing script with 1', function()
        check(1, '(command line):1: oops', { '-e', 'error "oops"' })
        check(1, 'nil', { '-e', 'error()' })
        check(1, "'=' expected", { '-e', 'x y' })
        check(1, 'stack overflow', { '-e', 'local function f() return 1 + f() end f()' })
    end)

    it('says when its output went nowhere', function()
        check(1, 'standard output: No space left on device', { '-e', 'print(1)' }, '> /dev/full')
        check(1, 'standard output: Bad file descriptor', { '-e', 'print(1)' }, '>&-')
        check(0, '', { '-e', 'x = 1' }, '>&-')
    end)

    it('takes a limit of size for a full disk', function()
        local path = os.tmpname()
        check(1, 'File too large', { 'kelvin_helmholtz', '--nx=512', '--ny=256', '--quiet',
            '--t-end=0.05', '--every=0.004', '--out=' .. path }, '', 'ulimit -f 16000;')
        os.remove(path)
    end)

    it('tells what keeps it from a file, and from memory', function()
        check(1, 'mare: /dev/null: is not an ordinary file', { 'info', '/dev/null' })
        check(1, 'mare: /: is a folder, a file is needed', { 'info', '/' })
        check(1, 'mare: /no/file: there is no such file', { 'info', '/no/file' })
        check(2, '/: is a folder, a file is needed', { 'plot', '/' })
        check(1, 'has 0.001 GiB (MARE_MEMORY_LIMIT=1M), 0.001 GiB of it free',
            { 'kelvin_helmholtz', '--steps=1', '--quiet' }, '', 'MARE_MEMORY_LIMIT=1M')
    end)

    it('takes an empty variable for none', function()
        check(0, 'auto', { '-e', "print(require('mare').options.device[1].default)" }, '',
            'MARE_DEVICE=')
        check(0, 'device', { '-e', "print(require('mare').device.open())" }, '', 'MARE_DEVICE=')
    end)

    it('tells of a cache that is no folder', function()
        check(0, '/dev/full is no folder: nothing is kept', { 'doctor' }, '',
            'MARE_CACHE=/dev/full')
    end)

    it('blames no line of a script for a disk', function()
        local code = "require('bindings.errors').raise('MARE_ERROR_IO', 'a.nc: it is full')"
        assert.equal('mare: a.nc: it is full\n', (mare { '-e', code }))
        check(1, '(command line):1: a.nc', { '-e', code }, '', 'MARE_TRACEBACK=1')
        code = "require('bindings.cairo').canvas(8, 8, 0):write_png('/dev/full', 'x.png')"
        assert.equal('mare: x.png: cannot write the picture: No space left on device\n',
            (mare { '-e', code }))
    end)

    it('says nothing where nobody reads on', function()
        assert.equal('1\n', (mare({ '-e', 'for i = 1, 1e5 do print(i) end' }, '| head -n 1')))
        local code = quote 'for i = 1, 1e5 do print(i) end'
        assert.equal('141\n', shell(('{ { %s -e %s; echo $? >&2; } | true; } 2>&1'):format(
            quote(home.launcher), code)))
    end)

    it('examines the machine', function()
        local output = check(0, 'Back ends', { 'doctor' })
        assert.truthy(output:find('null:0', 1, true))
        assert.falsy(output:find('$', 1, true))     -- which ends the version that NetCDF tells
        local text = mare { 'doctor', '--json' }
        assert.falsy(text:find('e+18', 1, true))    -- the size of buffers of the null device
        local found = require('dkjson').decode(text)
        assert.same({ home.version, home.commit }, { found.mare.version, found.mare.commit })
        assert.equal('cuda', found.backends[1].name)
        assert.equal('null:0', found.devices[#found.devices].name)
        assert.is_number(found.cache.bytes)
        assert.is_nil(found.devices[#found.devices].step)
        for _, d in ipairs(found.devices) do
            assert.equal(d.step and 'string' or 'nil', type(d.energy or d.no_energy))
            if d.no_energy then
                assert.truthy(output:find('energy cannot be measured: ' .. d.no_energy, 1, true))
            end
        end
        fails.says(output, 'steps', 'takes', 'kernel')
    end)

    it('examines a machine where things are missing', function()
        local output = check(0, 'NetCDF    no (writes --out files): gone', { '-e', [[
            package.preload['bindings.netcdf'] = function()
                return { version = function() error('gone', 0) end }
            end
            local root = require('bindings.home').root
            package.loaded.argparse, package.path = nil, root .. '/lua/?.lua;' .. root .. '/?.lua'
            print(require('mare.launcher.doctor').text())]] })
        assert.truthy(output:find "busted    no .*'busted.runner' not found.* lua%-busted", output)
        check(0, 'opencl    no: ', { 'doctor' }, '', 'OCL_ICD_FILENAMES= OCL_ICD_VENDORS=/nowhere/')
    end)

    it('lists and clears its cache', function()
        local folder = os.tmpname()
        os.remove(folder)
        finally(function() os.execute('rm -r ' .. folder) end)
        local function run(arguments)
            local command = quote(home.launcher) .. ' ' .. arguments
            return shell(('MARE_CACHE=%s %s 2>&1'):format(folder, command))
        end
        assert.equal(folder .. '\n', run 'cache path')
        run [[-e 'require("mare").device.open "null":program{ name = "f.krn",
                                                              source = "MR_KERNEL void f() {}" }']]
        assert.truthy(run 'cache ls':find('f.krn', 1, true))
        assert.equal('1 removed\n', run 'cache clear')
        assert.equal('', run 'cache ls')
    end)

    it('holds a session in a pipe', function()
        local output, status = mare({}, '', [[printf 'x = 20 + 1\nx * 2\n_' |]])
        assert.equal(0, status)
        assert.truthy(output:find '42.*42', output)
        output, status = mare({}, '', [[printf 'error(1)\n6 * 7\n' |]])
        assert.equal(1, status)
        assert.truthy(output:find '42', output)
    end)
end)

describe('an interrupt', function()
    local ready = 'io.stdout:setvbuf "no" print "ready" '

    -- Sends a signal to a launcher with these words once it prints that it is ready. Returns its
    -- output, its exit status, and the processor time that it took from then on. That C is waited
    -- for is also said on a busy machine.
    local function signal_to(words, signal)
        local child = pseudo_terminal.start(words)
        assert(child:see 'ready\r?\n', child.text)
        child:see('\0', 0.1)
        local used = child:processor_seconds()
        child:kill(signal)
        child:see()
        used = child:processor_seconds() - used
        local output = child.text:gsub('\r', ''):gsub('\nmare: waiting for[^\n]*\n', '')
        return output, child:stop(), used
    end

    local function is_interrupted(words, signal)
        local output, status, used = signal_to(words, signal)
        assert.equal('mare: interrupted\n', output)
        assert.equal(130, status)
        assert.is_true(used < 2, words[#words] .. ': ' .. used)
    end

    it('stops pure Lua, compiled or not', function()
        for _, code in ipairs{
            'while true do end',
            'local s = 0 while true do for i = 1, 1000 do s = s + i end end',
            'while true do string.rep("x", 10):gsub("x", "y") end',
            'coroutine.wrap(function() while true do end end)()',
            [[local e = require("mare").device.open("null"):event()
              while true do e:record() e:wait() end]],
            [[local d = require('mare').device.open 'null'
              while true do d:wait() for _ = 1, 1000 do d:pool() end end]],
        } do
            is_interrupted({ '-e', ready .. code }, 'INT')
        end
        for _, signal in ipairs { 'TERM', 'HUP' } do
            is_interrupted({ '-e', ready .. 'while true do end' }, signal)
        end
    end)

    it('stops a script, also a compiled loop of it', function()
        is_interrupted({ script(ready .. 'jit.off(true) while true do end', finally) }, 'INT')
        local asking = script(ready .. [[
            local home, x = require 'bindings.home', 0
            while not home.interrupted() do for i = 1, 1000 do x = x + i end end
            print 'asked']], finally)
        local output, status = signal_to({ asking }, 'HUP')
        assert.equal('asked\n', output)
        assert.equal(130, status)
        for _, loop in ipairs { 'while true do end', 'for i = 1, 1e12 do end',
            'local x = 0 while true do x = math.sin(x) + 1 end' } do
            local _, number, used = signal_to({ script(ready .. loop, finally) }, 'INT')
            assert.equal(-2, number)
            assert.is_true(used < 2, loop .. ': ' .. used)
        end
    end)

    it('stops loops of launches, waits and downloads in time', function()
        local loop = ready .. [[
            local d = require('mare').device.open 'null'
            local b, e = d:buffer { type = 'float', count = 4 }, d:event()
            b:fill(0)
            while true do %s end]]
        for _, body in ipairs { 'e:record() e:wait()', 'b:download()', 'd:wait()',
            'd.stream:wait()' } do
            is_interrupted({ script(loop:format(body), finally) }, 'INT')
        end
    end)

    it('leaves a loop that waits long for a device the time to ask', function()
        local asking = script(ready .. [[
            local home, ffi = require 'bindings.home', require 'ffi'
            ffi.cdef 'unsigned sleep(unsigned seconds);'
            for _ = 1, 5 do
                if ffi.C.sleep(2) and home.interrupted() then print 'asked' break end
            end]], finally)
        local output, status = signal_to({ asking }, 'INT')
        assert.equal('asked\n', output)
        assert.equal(130, status)
    end)

    it('says that C is being waited for, and that another one ends Mare', function()
        local child = pseudo_terminal.start { script(ready .. [[
            local ffi = require 'ffi'
            ffi.cdef 'int pthread_mutex_lock(void *mutex);'
            local mutex = ffi.new 'int64_t[8]'      -- no signal wakes who waits for one
            for _ = 1, 2 do ffi.C.pthread_mutex_lock(mutex) end]], finally) }
        assert(child:see 'ready')
        child:send '\3'
        assert(child:see 'waiting for what runs on a device or in C; more of Ctrl%-C end')
        child:send '\3'
        assert(child:see())
        assert.equal(-2, child:stop())
    end)

    it('ends a script that catches all errors', function()
        local text = ready .. [[
            while true do pcall(function() while true do pcall(error) end end) end]]
        is_interrupted({ script(text, finally) }, 'INT')
    end)

    it('is not a hangup under nohup', function()
        local asking = script(ready .. [[
            local home, system, script = require 'bindings.home', require 'bindings.system', arg[0]
            repeat system.sleep(0.01) until io.open(script .. '.sent')
            assert(not home.interrupted())
            print 'done']], finally)
        assert.equal('done\nstatus 0\n', shell(([[
            trap '' HUP; %s FILE > FILE.log 2>&1 &
            until grep -q ready FILE.log; do sleep 0.02; done
            kill -HUP $!; touch FILE.sent; wait $!
            echo "status $?" >> FILE.log; sed 1d FILE.log; rm FILE.log FILE.sent]])
            :gsub('FILE', asking):format(quote(home.launcher))))
    end)

    it('is for the thread that runs the script, whichever it comes to', function()
        check(0, 'false\ntrue\n', { '-e', [[
            local ffi, home = require 'ffi', require 'bindings.home'
            require 'bindings.worker'
            ffi.cdef 'int pthread_kill(unsigned long id, int signal); int usleep(unsigned us);'
            local C, id, mask = ffi.C, ffi.new 'unsigned long[1]', ffi.new 'uint64_t[16]'
            local minute = ffi.cast('void *', 6e7)      -- if nothing wakes it
            C.pthread_create(id, nil, ffi.cast('void *', C.usleep), minute)
            mask[0] = 2         -- SIGINT waits for this thread
            C.pthread_sigmask(0, mask, nil)
            C.pthread_kill(id[0], 2)
            C.pthread_join(id[0], nil)
            print((home.interrupted()))
            C.pthread_sigmask(1, mask, nil)
            print((home.interrupted(true)))]] })
    end)

    -- The signal comes in C between two traces, the second of which is to be recorded then.
    it('may come anywhere in the compilation of a loop', function()
        check(0, 'all 12\n', { '-e', [==[
            local home, answers = require 'bindings.home', 0
            jit.opt.start 'hotloop=2'
            for at = 1, 12 do
                local commands = {}
                for k = 1, 12 do commands[k] = k == at and 'kill $PPID' or '' end
                loadstring [=[
                    local commands, sum = ..., 0
                    for k = 1, 12 do
                        os.execute(commands[k])
                        sum = sum + #commands[k] * k
                    end
                ]=](commands)
                if home.interrupted(true) then answers = answers + 1 end
            end
            print('all ' .. answers)]==] })
    end)

    it('stops what runs in a session, not the session', function()
        local command = quote(home.launcher)
        local log = os.tmpname()
        local output = shell(([[
            { echo 'io.stdout:setvbuf "no" print "goes" while true do end'
              until grep -q interrupted LOG; do sleep 0.05; done
              echo 'print(6 * 7)'; } | %s >LOG 2>&1 & pid=$!
            until grep -q goes LOG; do sleep 0.05; done
            kill -INT $pid
            wait $pid
            echo "status $?" >>LOG
            cat LOG
            rm LOG]]):gsub('LOG', log):format(command))
        assert.truthy(output:find 'interrupted.*42.*status 1\n$', output)
    end)

    it('does not take a line that it cut short for a failed write', function()
        local name = os.tmpname()
        shell(('rm %s && mkfifo %s'):format(name, name))
        local pipe = ffi.C.open(name, 2)        -- for both, so that nobody waits for the other
        local process = shell(([[
            { echo 'while true do print(("x"):rep(1000)) end'
              until [ -e NAME.read ]; do sleep 0.05; done; } | %s >NAME 2>NAME.said &
            echo $!]]):gsub('NAME', name):format(quote(home.launcher))):match '%d+'
        local count, before, data = ffi.new 'int[1]', -1, ffi.new 'char[65536]'
        while count[0] < 60000 or count[0] ~= before do     -- until it is full
            before = count[0]
            system.sleep(0.05)
            assert.equal(0, ffi.C.ioctl(pipe, FIONREAD, count))
        end
        shell(('kill -INT %s; until [ -s %s.said ]; do sleep 0.05; done; touch %s.read'):format(
            process, name, name))
        repeat
            ffi.C.ioctl(pipe, FIONREAD, count)
            if count[0] > 0 then ffi.C.read(pipe, data, 65536) end
            local stat = io.open('/proc/' .. process .. '/stat')
            if stat then stat:close() end
        until not stat
        ffi.C.close(pipe)
        local output = shell(('cat %s.said; rm %s*'):format(name, name))
        assert.truthy(output:find 'interrupted', output)
        assert.falsy(output:find 'standard output', output)
    end)

    it('tells in a shell what help tells in a session', function()
        check(0, 'dam break over a flat bottom', { 'help', 'mare.dam_break' })
        check(1, "Nothing about 'sanfte Welle'.", { 'help', 'sanfte Welle' })
        check(0, 'boundaries.reflective', { 'help', 'boundaries' })
        check(0, 'boundaries.flather', { 'help', 'boundaries' })
        check(0, 'a wall', { 'help', 'reflective' })
        check(0, 'Usage: mare FILE.lua', { 'help' })
        check(2, "one name is wanted, 'b' is another", { 'help', 'a', 'b' })
    end)

    it('of a copied tree runs with what lies beside it', function()
        local is_tree = home.library:sub(1, #home.root + 7) == home.root .. '/build/'
        if not is_tree then pending 'this is no source tree with its build folder' end
        local api = tonumber(require('bindings.ffi').C.MARE_API_VERSION)
        local output = shell(([[
            tree=$(mktemp -d) && mkdir "$tree/build" "$tree/core" && cd %s &&
                cp -R lua bindings "$tree" && cp core/mare.h "$tree/core" &&
                cp %s "$tree/build/mare" && cp %s "$tree/build/libmare.so.%d" && cd / &&
                "$tree/build/mare" -e "local home = require 'bindings.home'
                    print(home.root == '$tree', (home.library:gsub('^$tree/', '')))"
            rm -rf "$tree"]]):format(quote(home.root), quote(home.launcher), quote(home.library),
            api))
        assert.equal('true\tbuild/libmare.so.' .. api .. '\n', output)
    end)

    it('lets a loop that asks put its things in order', function()
        local code = [[
            local home, errors = require 'bindings.home', require 'bindings.errors'
            while not home.interrupted() do end
            local n = 0
            for i = 1, 1e7 do n = n + #tostring(i) end
            print 'in order'
            errors.interrupt()]]
        local output, status = signal_to({ '-e', ready .. code }, 'INT')
        assert.equal('in order\nmare: interrupted\n', output)
        assert.equal(130, status)
    end)
end)
