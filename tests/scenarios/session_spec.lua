-- Tests sessions on a real terminal, through tmux: it sends keys and reads the
-- screen. Nothing waits longer than necessary; what does not appear in time
-- fails and shows the screen.

local files = require 'bindings.files'
local home = require 'bindings.home'
local lfs = require 'lfs'
local posix = require 'bindings.posix'
local pseudo_terminal = require 'tests.pseudo_terminal'
local system = require 'bindings.system'

local patience = 120        -- seconds: kernels may have to be compiled on a busy machine
local has_tmux = os.execute 'command -v tmux >/dev/null 2>&1' == 0
local folder, server
local sessions = 0          -- each has a server of its own

local function shell(command)
    local pipe = assert(io.popen(command))
    local text = pipe:read '*a'
    pipe:close()
    return text
end

local function tmux(command)
    return shell(('tmux -L %s -f /dev/null %s 2>&1'):format(server, command))
end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function screen(options)
    return tmux('capture-pane -p -t mare ' .. (options or ''))
end

-- Waits until the screen has the pattern; returns the screen.
local function see(pattern, options)
    local started = system.now()
    local shown
    repeat
        shown = screen(options)
        if shown:find(pattern) then return shown end
        os.execute 'sleep 0.02'
    until system.now() - started > patience
    error(('no %q on the screen:\n%s'):format(pattern, shown), 2)
end

-- Presses keys by tmux's names: 'Tab', 'C-c', 'Up'.
local function press(...)
    tmux('send-keys -t mare ' .. table.concat({ ... }, ' '))
end

local function type_in(text)
    tmux('send-keys -t mare -l ' .. quote(text))
end

local function enter(text)
    type_in(text)
    press 'Enter'
end

local function start(environment, script)
    local words = ('cd %s && MARE_HISTORY=%s/history LC_ALL=C.UTF-8 %s %s %s; echo "left $?"; '
        .. 'exec sleep 600'):format(folder, folder, environment or '', quote(home.launcher),
        script or '')
    tmux 'kill-server'
    sessions = sessions + 1
    server = folder:match '[^/]*$' .. '-' .. sessions
    local refused = tmux('new-session -d -s mare -x 100 -y 40 ' .. quote(words))
    assert.equal('', refused)
    see '\n> *\n'
end

-- Presses a key until told() has the pattern. One that comes before the editor has the terminal is
-- lost, and it takes the terminal after the prompt is drawn.
local function press_until(press_it, told, pattern)
    local started = system.now()
    repeat
        press_it()
        local pressed = system.now()
        repeat
            if told():find(pattern) then return true end
            os.execute 'sleep 0.02'
        until system.now() - pressed > 2
    until system.now() - started > patience
    return false
end

local function leave()
    see '\n> *\n*$'
    assert.is_true(press_until(function() press 'C-d' end, screen, 'left 0'), 'does not leave')
end

-- Leaves nothing but the prompt on the screen, so that nothing of before is taken for new.
local function clear()
    assert.is_true(press_until(function() press 'C-l' end, screen, '^> *\n*$'), screen())
end

-- The process of the session, and its terminal.
local function process()
    local pane, tty = tmux "display -p -t mare '#{pane_pid} #{pane_tty}'":match '(%d+) (%S+)'
    return shell(('cat /proc/%s/task/%s/children'):format(pane, pane)):match '%d+', tty
end

-- Returns the processor time that what is entered takes after Ctrl-C, on however busy a machine.
-- The key is pressed once `sign` is on the screen, since an earlier one may belong to the line.
local function time_to_stop(text, sign)
    local session = process()
    clear()
    enter(text)
    see(sign)
    local before = pseudo_terminal.processor_seconds(session)
    press('C-c', 'C-c', 'C-c')
    see 'interrupted\n>'
    return pseudo_terminal.processor_seconds(session) - before
end

local function prompt_after(text) return text .. '[^\n]*\n> *\n' end

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
    server = 'none'
end)

after_each(function()
    tmux 'kill-server'
    for name in lfs.dir(folder) do os.remove(folder .. '/' .. name) end
    lfs.rmdir(folder)
end)

local function terminal_it(name, f)
    it(name, has_tmux and f or function() pending 'tmux is not installed' end)
end

describe('a session on a terminal', function()
    terminal_it('completes, edits, and keeps what was typed for the next', function()
        start()
        type_in 'mare.mem'
        press 'Tab'
        see '> mare%.memory'
        press 'C-c'
        see '> mare%.memory%^C\n>'
        type_in 'mare.g'
        press('Tab', 'Tab')
        see 'gauges +gradient +grid +gridded'
        press 'C-u'
        type_in "mare.simulation 'sod' { precis"
        press 'Tab'
        see 'precision ='
        press 'C-u'
        enter 'for i = 1, 2 do'
        see '\n>> *\n'
        enter "    print('é', i * 21)"
        enter 'end'
        see 'é\t*%s*42'
        press 'Up'
        see 'for i = 1, 2 do.*for i = 1, 2 do'
        press 'C-u'
        enter 'kept = 6 * 7'
        leave()
        start()
        press 'Up'
        see '> kept = 6 %* 7'
        press 'C-u'
        leave()
    end)

    terminal_it('keeps the tabs of what is pasted', function()
        start()
        enter '#"tab\tinside", math.me\t== nil, 40 +\t\t4'
        see '\n10 +true +44\n'
        leave()
    end)

    terminal_it('drops at Ctrl-D what has begun and keeps it for the up arrow', function()
        start()
        enter 'for i = 1, 2 do'
        see '\n>> *\n'
        press 'C-d'
        see '>> [^\n]*\n> *\n'
        press 'Up'
        see '\n> for i = 1, 2 do\n'
        press 'C-u'
        leave()
    end)

    terminal_it('stops a wait for a device, which computes on', function()
        local d = require('bindings.device').open(os.getenv 'MARE_TEST_DEVICE' or 'auto')
        if d.info.kind ~= 'cpu' then return pending 'how long a kernel takes is known of CPUs' end
        start()
        enter(("d = mare.device.open '%s'"):format(d.name))
        enter("b, text = d:buffer { type = 'uint32', count = 1 }, 'MR_KERNEL void f(MR_GLOBAL uint "
            .. "*b) { uint x = 1; for (long k = 0; k < 3000000000; k++) x = x * 1664525 + "
            .. "1013904223; b[0] = x; }'")
        enter "k = d:program { name = 'long', source = text }:kernel 'f'"
        enter 'k:bind { b = b, global = 1 }:run() print(6 * 7) d:wait()'
        see '\n42\n'
        press 'C-c'
        see 'interrupted\n> *\n'
        enter 'e = d:event() e:record() print(e:done())'
        see '\nfalse\n'
        leave()
    end)

    terminal_it('draws the line again when it goes on after a stop', function()
        start()
        type_in '1 + 20'
        see '\n> 1 %+ 20\n'
        local child, tty = process()
        shell('kill -STOP ' .. child)
        shell("printf '\\033[2J\\033[Hanother program\\n' > " .. tty)
        see 'another program\n *\n'
        shell('kill -CONT ' .. child)
        see 'another program\n> 1 %+ 20\n'
        press 'Enter'
        see '\n21\n> *\n'
        leave()
    end)

    terminal_it('comes back from loops of every kind at once', function()
        start()
        local limit = 1
        for _, loop in ipairs { 'while true do end', 'repeat f = {} until false',
            'while true do string.rep("x", 10):gsub("x", "y") end',
            'while true do pcall(function() while true do end end) end' } do
            local seconds = time_to_stop("print('go' .. 'es') " .. loop, '\ngoes\n')
            assert.is_true(seconds < limit, loop .. ': ' .. seconds)
        end
        local seconds = time_to_stop('repeat print(("x"):rep(200)) until false', 'xxxx')
        assert.is_true(seconds < limit, seconds)
        press 'C-l'
        enter 'for k = 1, 2 do'
        see '\n>> *\n'
        press 'C-c'
        see '%^C\n> *\n'
        enter '6 * 7'
        see '\n42\n'
        leave()
    end)

    terminal_it('stops a simulation, which goes on', function()
        start()
        enter "sim = mare.simulation 'kelvin_helmholtz' { nx = 128, ny = 64, t_end = 1000 }"
        see(prompt_after '1000 }')
        local seconds = time_to_stop('sim:run()', 'step %d+')
        assert.is_true(seconds < 2, seconds)
        press 'C-l'
        enter 'before = sim.steps'
        enter 'sim:step(7).steps - before'
        see '\n7\n'
        enter 'sim:field "rho":range()'
        see '\n%d%.%d+%s+%d%.%d+\n'
        leave()
    end)

    terminal_it('draws, in colours or without', function()
        start 'COLORTERM=truecolor MARE_PICTURES=blocks'     -- newer tmux can Sixel
        enter "sim = mare.simulation 'kelvin_helmholtz' { nx = 64, ny = 32 }"
        enter 'sim:plot()'
        see '▀▀▀▀'
        assert.truthy(screen('-e'):find '\27%[38;2;%d+;%d+;%d+')
        assert.is_nil(screen():find '\27_G')
        enter '6 * 7'
        see '\n42\n'
        leave()
        start 'NO_COLOR=1'
        enter "mare.simulation 'kelvin_helmholtz' { nx = 64, ny = 32 }:plot()"
        see '@@@@@@'
        assert.is_nil(screen('-e'):find '\27%[38')
        leave()
    end)

    terminal_it('shows errors and survives them, out of memory too', function()
        start 'MARE_MEMORY_LIMIT=64M'
        enter 'mare.grid { nx = 0 }'
        see(prompt_after 'nx = 0')
        enter 'd = mare.device.open()'
        enter "b = {} for k = 1, 9 do b[k] = d:buffer { size = 2^24, label = 'big' } end"
        see "buffer 'big' of.*MARE_MEMORY_LIMIT%)"
        enter 'b = nil'
        enter "x = d:buffer { type = 'float', count = 8 }; x:fill(3)"
        enter 'x'
        see 'range 3 to 3'
        leave()
    end)

    terminal_it('builds an edited kernel anew and points at what is wrong', function()
        local function write(expression)
            local file = assert(io.open(folder .. '/f.krn', 'w'))
            file:write('MR_KERNEL void f(int n, MR_GLOBAL real *x)\n{\n    int i = mr_gid_x();\n',
                '    if (i < n) x[i] = ', expression, ';\n}\n')
            file:close()
        end
        write 'R(1.0)'
        start()
        enter "w = mare.watch 'f.krn'; x = w.device:buffer { type = 'float', count = 8 }"
        enter "w:run('f', { n = 8, x = x, global = 8 })"
        enter 'x'
        see 'range 1 to 1'
        write 'R(2.0'
        enter "w:run('f', { n = 8, x = x, global = 8 })"
        see 'x%[i%] = R%(2%.0;\n +%^'
        write 'R(2.0)'
        enter "w:run('f', { n = 8, x = x, global = 8 })"
        see 'f%.krn: built anew'
        enter 'x'
        see 'range 2 to 2'
        enter "w:time('f', { n = 8, x = x, global = 8 })"
        see 'T_eff'
        leave()
    end)

    terminal_it('takes plain lines where the terminal or libedit cannot do more', function()
        start 'TERM=dumb'
        enter '6 * 7'
        see '\n42\n'
        leave()
        local without = folder .. '/without.lua'
        local file = assert(io.open(without, 'w'))
        file:write [[
            require 'mare'
            package.loaded['bindings.editline'] = { open = function() error('no libedit', 0) end }
            os.exit(require('mare.session.talk')())]]
        file:close()
        start('', without)
        see 'plain lines without history and completion: no libedit'
        enter '6 * 7'
        see '\n42\n'
        leave()
    end)
end)

-- A terminal of the spec's own, which can answer as others do.
describe('a terminal', function()
    local ffi = require 'ffi'
    ffi.cdef [[
        int posix_openpt(int flags);
        int grantpt(int fd);
        int unlockpt(int fd);
        char *ptsname(int fd);
        long write(int fd, const void *data, size_t size);
    ]]
    local O_RDWR_NOCTTY_CLOEXEC, F_SETFL, O_NONBLOCK, POLLIN = 0x80102, 4, 0x800, 1
    local C, data, poll = posix.C, ffi.new 'char[65536]', ffi.new 'struct mare_poll'
    local prompt = '>\27%[0m '

    -- All that comes up to the pattern; `answer` is given to each question, at once: the session
    -- waits a second for it.
    local function expect(fd, pattern, answer)
        local started, shown = system.now(), ''
        poll.fd, poll.wanted = fd, POLLIN
        while not shown:find(pattern) and system.now() - started < patience do
            C.poll(poll, 1, 100)
            local n = tonumber(C.read(fd, data, 65536))
            if n > 0 then shown = shown .. ffi.string(data, n) else os.execute 'sleep 0.01' end
            if answer and shown:find '\27%[c' then
                C.write(fd, answer, #answer)
                answer = nil
            end
        end
        assert.truthy(shown:find(pattern), shown)
        return shown
    end

    -- A session on a terminal that only this process holds: it ends when that is closed, too.
    local function open()
        local fd = C.posix_openpt(O_RDWR_NOCTTY_CLOEXEC)
        C.grantpt(fd)
        C.unlockpt(fd)
        C.fcntl(fd, F_SETFL, ffi.cast('int', O_NONBLOCK))
        local name = ffi.string(C.ptsname(fd))
        os.execute(('{ TERM=xterm LC_ALL=C.UTF-8 MARE_HISTORY=off %s < %s > %s 2>&1; '
            .. 'echo "left $?" > %s/left; } &'):format(quote(home.launcher), name, name, folder))
        return fd
    end

    local function plot_with(answer, pattern)
        local fd = open()
        local function say(text) C.write(fd, text, #text) end
        local ok, shown = pcall(function()
            expect(fd, prompt)
            say 'mare.plot { 1, 4, 9 }\n'
            local shown = expect(fd, pattern, answer)
            say '\0\21print(6 * 7)\n'    -- after a zero Ctrl-U is no text
            expect(fd, '\n42\r.*' .. prompt)
            return shown
        end)
        local left = ok and press_until(function() say '\4' end, function()
            return files.read(folder .. '/left') or ''
        end, 'left 0')
        C.close(fd)
        os.remove(folder .. '/left')
        assert.is_true(ok, shown)
        assert.is_true(left)
        return shown
    end

    it('that can show pictures gets them, another one dots', function()
        local kitty = '\27_Gi=31;OK\27\\\27[?62;c'
        assert.truthy(plot_with(kitty, '\27_Ga=T.*\27\\'):find 'iVBORw0KGgo')
        plot_with('\27[?62;4;22c', '\27P0;1q.*\27\\')
        assert.is_nil(plot_with('\27[?1;2c', '1.*3'):find '\27_Ga=T')
    end)
end)

describe('a session in a pipe', function()
    it('begins at once, and without a device', function()
        -- The second line is the processor time of children, in ticks of 0.01 s: one session may
        -- take none.
        local times = shell(('for k in 1 2 3 4 5; do %s < /dev/null > /dev/null; done; times')
            :format(quote(home.launcher)))
        local minutes, user, more, kernel = times:match '^.-\n(%d+)m([%d.]+)s (%d+)m([%d.]+)s'
        local seconds = 60 * (minutes + more) + user + kernel
        assert.is_true(seconds > 0 and seconds < 1, times)      -- 0.07 s
        local shown = shell(([[
            printf 'maps = io.open("/proc/self/maps"):read "*a"
            maps:find "libmare" and "mare"
            (maps:find "libOpenCL" or maps:find "libcuda" or maps:find "pocl") and "a driver"
            ' | %s]]):format(quote(home.launcher)))
        assert.truthy(shown:find '> "mare"\n> nil\n', shown)
    end)

    it('takes 10 000 lines of anything and grows no larger', function()
        local file, state = assert(io.open(folder .. '/lines', 'w')), 11
        -- nothing that opens what only the right word closes
        local pieces = { '1', 'x', '_', '_1', '+', '..', '=', ')', '}', ']', '"', "'", ']]', '--',
            'nil', 'local', 'return', 'end', 'then', '#', '\0', '\255', 'é', 'mare', '.grid', '.nx',
            '.euler', 'help', 'print', 'error', 'pcall', 'setmetatable', '\27', ',', ';', '()' }
        local pages = 'io.open("/proc/self/statm"):read "*l"'
        for k = 1, 10000 do
            local words = {}
            for w = 1, 1 + k % 11 do
                state = state * 16807 % 2147483647
                words[w] = pieces[state % #pieces + 1]
            end
            file:write(table.concat(words, ' '), '\n')
            if k == 2000 or k == 10000 then file:write('1)\n', pages, '\n') end
        end
        file:close()
        local shown = shell(('%s < %s/lines 2>&1'):format(quote(home.launcher), folder))
        local sizes = {}
        for size in shown:gmatch '"%d+ (%d+) [^\n]*"' do sizes[#sizes + 1] = tonumber(size) end
        assert.is_true(#sizes >= 2, shown:sub(-2000))
        assert.is_true(sizes[#sizes] - sizes[1] < 1024, table.concat(sizes, ' '))   -- 4 MiB
    end)

    it('survives a host without memory', function()
        local shown = shell(([[ulimit -v 700000
            printf 'for k = 1, 1e9 do t = { t, ("x"):rep(1e6) .. k } end
            t = nil
            6 * 7' | %s 2>&1]]):format(quote(home.launcher)))
        assert.truthy(shown:find 'not enough memory' and shown:find '> 42', shown)
    end)

    it('survives a kernel that faults, and opens the device again', function()
        local fake = require 'tests.fakes' .. '/fake_cuda'
        if not lfs.attributes(fake) then pending 'no fake library' end
        local file = assert(io.open(folder .. '/lines', 'w'))
        file:write [[
            d = mare.device.open 'cuda:0'
            x = d:buffer { type = 'float', count = 8, label = 'x' }
            w = mare.watch('extern "C" __global__ void f(int n, float a, const float *x, '
                .. 'float *y) {}', { device = d, language = 'cuda' })
            w:run('f', { n = 8, a = 1, x = x, y = x, global = 8, group = 8 })
            d
            x
            for _, object in ipairs { x, w.program, d } do object:release() end
            w, d = nil, mare.device.open 'cuda:0'
            y = d:buffer { type = 'float', count = 8, label = 'y' }
            y:fill(7)
            y
        ]]
        file:close()
        local shown = shell(('LD_LIBRARY_PATH="%s" CUDA_HOME= CUDA_PATH= MARE_CACHE=off '
            .. 'MARE_FAKE_FAIL=cuLaunchKernel:1:700 %s < %s/lines 2>&1'):format(fake,
            quote(home.launcher), folder))
        assert.truthy(shown:find "kernel 'f' .*%(700%)", shown)
        assert.truthy(shown:find "buffer 'x': .*lost", shown)
        assert.truthy(shown:find "buffer 'y': 8 of float on cuda:0.*range 7 to 7", shown)
    end)

    it('tells a pipe by its status what failed', function()
        local function status_of(text)
            return shell(("printf '%s' | %s 2>&1; echo $?"):format(text, quote(home.launcher)))
        end
        assert.matches('boo.*\n> 3\n.*\n1\n$', status_of 'error"boo"\\n1+2\\n')
        assert.matches("near '<eof>'.*\n1\n$", status_of 'for i = 1, 2 do\\n')
        assert.matches('3\n> \n0\n$', status_of '1+2\\n')
    end)

    it('keeps what was typed from others', function()
        local history, path = require 'mare.session.history', folder .. '/deep/history'
        history.add(path, 'secret = 1')
        assert.equal('rw-------', lfs.attributes(path, 'permissions'))
        os.execute('chmod 640 ' .. path)
        history.add(path, 'b')
        assert.equal('rw-r-----', lfs.attributes(path, 'permissions'))
        for k = 1, 2000 do history.add(path, 'x' .. k) end
        assert.equal(1000, #history.load(path))
        assert.equal('rw-------', lfs.attributes(path, 'permissions'))
    end)

    it('ends at SIGTERM, and with its input', function()
        local shown = shell(([[
            mkfifo LOG.in; exec 3<>LOG.in       # its input does not end
            %s < LOG.in > LOG 2>&1 & pid=$!
            echo 'print "ready"' >&3
            until grep -q ready LOG; do sleep 0.02; done
            kill -TERM $pid; wait $pid; echo "status $?"]]):gsub('LOG', folder .. '/log')
            :format(quote(home.launcher)))
        assert.equal('status 130\n', shown)
    end)
end)
