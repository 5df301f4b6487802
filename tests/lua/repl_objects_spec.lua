-- Tests that a session can show, complete and describe anything without raising
-- errors, that every public name has a description, and that no line ends the
-- session or makes it grow.

local complete = require 'mare.session.complete'
local handle = require 'bindings.handle'
local help = require 'mare.session.help'
local history = require 'mare.session.history'
local home = require 'bindings.home'
local inspect = require 'mare.session.inspect'
local mare = require 'mare'
local reference = require 'mare.session.reference'
local repl = require 'mare.session.repl'
local source = require 'mare.base.source'

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'

-- Returns objects of every kind that a session may hold, by name, on the
-- device.
local function objects()
    local d = mare.device.open(device)
    local null = mare.device.open 'null'
    local program = d:program(source.program 'measure/saxpy.krn')
    local x = d:buffer { type = 'float', count = 100, label = 'x' }
    x:fill(1)
    local sim = mare.simulation 'sod' { nx = 32, device = device, quiet = true }
    local text = 'MR_KERNEL void f(MR_GLOBAL real *x) { x[mr_gid_x()] = R(1.0); }'
    local watched = mare.watch(text, { device = d })
    local kernel = program:kernel 'saxpy'
    local launch = kernel:bind { n = 100, a = 1, x = x, y = x, global = 100 }
    local list = {
        mare = mare, device = d, null = null, program = program, kernel = kernel, launch = launch,
        buffer = x, view = x:view(10, 20), host = d:host { type = 'double', count = 5 },
        stream = d:stream(), event = d:event(), watched = watched,
        plan = d.stream:record(function() launch:run() end), sim = sim, simulation = sim.simulation,
        field = sim:field 'rho', named = mare.simulation 'sod', grid = sim.grid,
        scheme = sim.scheme, memory = mare.memory(), report = mare.report(),
        timing = watched:time('f', { x = x, global = 100 }), untyped = d:buffer { size = 64 },
        riemann = mare.riemann.solve({ 1, 0, 1 }, { 0.125, 0, 0.1 }, 1.4),
        profile = mare.profile(function() launch:run() end), file = io.stdout,
    }
    io.output(os.tmpname())
    list.picture = sim:plot()
    io.output():close()
    io.output(io.stdout)
    for name in pairs(handle.classes) do list['class ' .. name] = handle.classes[name] end
    return list
end

local function hostile()
    local pointer = require('bindings.memory').array('float', 1) + 0
    local cycle, deep, wide = {}, {}, {}
    cycle.itself, cycle[cycle] = cycle, cycle
    local inner = deep
    for _ = 1, 1000 do
        inner.deeper = {}
        inner = inner.deeper
    end
    for k = 1, 30000 do wide['key ' .. k] = k end
    local function raise() error('never ask me', 0) end
    local everything = setmetatable({}, { __index = raise, __newindex = raise, __tostring = raise,
        __len = raise, __call = raise, __names = raise, __show = raise, __eq = raise,
        __concat = raise })
    return {
        cycle = cycle, deep = deep, wide = wide, everything = everything,
        endless = setmetatable({}, { __index = function() while true do end end }),
        wrong = setmetatable({}, { __tostring = function() return 7 end, __names = 'no list' }),
        hidden = setmetatable({ 1 }, { __metatable = 'locked' }), text = ('\0\27[31m'):rep(1e5),
        keys = { [0 / 1] = 1, [1.5] = 2, [true] = 3, [{}] = 4, ['a b'] = 5, [-1] = 6 },
        nan = 0 / 0, huge = math.huge, coroutine = coroutine.create(raise), f = raise, int = 12LL,
        cdata = 1ULL, array = require('bindings.memory').array('double', 1000),
        pointer = pointer, lines = ('line\n'):rep(1000), empty = {}, ffi = package.loaded.ffi,
        loops = setmetatable({}, { __index = setmetatable({}, { __index = function(t, k)
            return t[k]
        end }) }),
    }
end

local function is_harmless(text)
    return type(text) == 'string' and #text < 20000 and not text:find '[%z\1-\8\11-\31]'
end

local function ask(name, value)
    local ok, shown = pcall(inspect.show, value)
    assert.is_true(ok and is_harmless(shown), name .. ': ' .. tostring(shown))
    local told, text = pcall(help.text, value)
    assert.is_true(told and type(text) == 'string' and text ~= '', name .. ': ' .. tostring(text))
    local environment = { x = value }
    for _, typed in ipairs { 'x.', 'x:', 'x.a', 'x.a.b', "x:plot '", 'x["', 'f(x.', 'x', 'x. ' } do
        local listed, words, start = pcall(complete.at, environment, typed)
        assert.is_true(listed and type(words) == 'table' and start >= 1, name .. ' ' .. typed)
    end
end

describe('every object', function()
    it('is shown, completed and told about, released too', function()
        local list = objects()
        for name, object in pairs(list) do ask(name, object) end
        for name, object in pairs(list) do
            if handle.kind(object) then
                object:release()
                ask(name .. ', released', object)
            end
        end
    end)

    it('around a handle of C refuses elements that it does not have', function()
        for name, object in pairs(objects()) do
            local kind = handle.kind(object)
            for _, use in ipairs(kind and { function() return object[0] end,
                function() object[0] = 1 end, function() object[1e9] = 1 end } or {}) do
                local ok, problem = pcall(use)
                assert.is_false(ok, name)
                assert.equal('MARE_ERROR_ARGUMENT', problem.status)
            end
        end
    end)

    it('may be as odd as it likes', function()
        for name, object in pairs(hostile()) do ask(name, object) end
        ask('nothing', nil)
    end)

    it('of Mare that is called with nothing says what it wants', function()
        local session, puzzling = repl.new(), {}
        for _, name in ipairs(getmetatable(mare).__names()) do
            local _, text = session:step('mare.' .. name .. '()')
            local can_be_called = not text:find "attempt to call field '[%w_]+'"
            if can_be_called and (text:find 'attempt to' or text:find 'bad argument') then
                puzzling[#puzzling + 1] = name
            end
        end
        assert.same({}, puzzling)
    end)

    it('of a run says what it wants of whoever makes it alone', function()
        local session = repl.new()
        for words, wanted in pairs {
            ['drifters.new()'] = 'drifters: a table is wanted, not nil',
            ['mandelbrot.zoom {}'] = 'mandelbrot.zoom: device: a table is wanted, not nil',
            ['drifters.new { drifters = { places = { { 1, 1 } } } }'] =
                'drifters: scheme of the run: a table is wanted, not nil',
            ['drifters.new { drifters = {}, scheme = mare.ocean { depth = 1 } }'] =
                'drifters: grid of the run: a table is wanted, not nil',
            ['energy.open()'] = 'energy: open: an open device is wanted, not nil',
            ['energy.open "cuda:0"'] = 'energy: open: an open device is wanted, not string',
        } do
            assert.matches(wanted, select(2, session:step('mare.' .. words)), 1, true)
        end
    end)

    it('of Mare tells what it is', function()
        local list = objects()
        for name, expected in pairs {
            device = 'compute units', buffer = "buffer 'x': 100 of float.*range 2 to 2\n2 2 2",
            kernel = "'saxpy'%(int32 n, float a, const float %*x, float %*y%)\nregisters",
            field = 'rho %(mass density%): 32 x 4 of float.*range 0%.125 to 1',
            sim = 'Shock tube sod: 32 x 4 cells of euler', named = 'nx = 400',
            download = '100 of float\nrange 2 to 2',
            timing = 'f on .*: .* ms, .*T_eff', memory = 'in buffers', plan = "plan 'plan'",
        } do
            local shown = inspect.show(name == 'download' and list.buffer:download() or list[name])
            assert.truthy(shown:find(expected), shown)
        end
        for name, field in pairs { device = 'buffer', sim = 'cfl', grid = 'nx', mare = 'euler' } do
            local names = table.concat(complete.names(list[name]), ' ')
            assert.truthy(names:find(field, 1, true), name)
        end
        local array = mare.arange(3)
        assert.same({ 'cumsum' }, (complete.at({ a = array }, 'a:cums')))
        assert.matches('array:cumsum', help.text(array), 1, true)
        assert.matches('{ sim = 32 x 4 cells of euler in float on', inspect.show {
            sim = list.simulation })
        local environment = { s = list.sim, w = list.watched }
        assert.same({ 'rho', 'rho_u', 'rho_v' }, (complete.at(environment, "s:plot('rho")))
        assert.same({ 'f' }, (complete.at(environment, "w:time '")))
        assert.same({ 't_end = ' }, (complete.at(environment, 's:run { t_')))
        assert.same({ 'variables = ' }, (complete.at(environment, "s:save('x.nc', { va")))
    end)
end)

describe('completion', function()
    it('knows options, choices, devices, scenarios and files', function()
        local environment = repl.new().environment
        for typed, expected in pairs {
            ["mare.simulation 'sod' { n"] = 'nx = ',
            ["mare.simulation('sod') { nx = 3, fl"] = 'flux = ',
            ["mare.simulation 'sod' { flux = 'hl"] = 'hllc', ["mare.device.open 'nul"] = 'null:0',
            ["mare.simulation 'kel"] = 'kelvin_helmholtz', ["help 'mr_gid"] = 'mr_gid_x',
            ["x = mare.gr"] = 'grid', ["dofile '" .. home.root .. '/lua/mare/se'] =
                home.root .. '/lua/mare/session/', ['whi'] = 'while', ['hel'] = 'help',
            ['string.for'] = 'format', ["w = mare.watch('k.krn', { device = 'aut"] = 'auto',
        } do
            local found = {}
            for _, word in ipairs((complete.at(environment, typed))) do found[word] = true end
            assert.is_true(found[expected], typed)
        end
    end)
end)

describe('help', function()
    it('has words for every public name', function()
        local all, silent = reference.all(), {}
        for _, entry in ipairs(all) do
            if not entry.text:find '%a%a' then silent[#silent + 1] = entry.name end
        end
        assert.same({}, silent)
        for _, name in ipairs { 'mare.grid.new', 'buffer:upload', 'sim:run', 'field:at', 'help',
            'examples', 'mare.watch', 'mr_fma', 'MR_KERNEL', 'sod', 'mare.euler.fluxes.hllc',
            'simulation:read', 'watched:time', 'picture:save' } do
            assert.truthy(all[name], name)
        end
    end)

    it('has every function and type of the C interface', function()
        local all, missing = reference.all(), {}
        local file = assert(io.open(home.header))
        local text = file:read '*a':match 'cdef:begin(.*)cdef:end':gsub('/%*.-%*/', '')
        file:close()
        for name in text:gmatch '\n[%w_ *]-(mare_[%w_]+)%(' do
            if not all[name] then missing[#missing + 1] = name end
        end
        for name in text:gmatch '}%s*(mare_[%w_]+);' do
            if not all[name] then missing[#missing + 1] = name end
        end
        assert.same({}, missing)
    end)

    it('has every word of the dialect that a kernel uses', function()
        local all, defined, missing = reference.all(), {}, {}
        local prelude = source.read 'prelude/cuda.h' .. source.read 'prelude/both.h'
        for word in prelude:gmatch '#define ([Mm][Rr]_[%w_]+)' do defined[word] = true end
        for word in prelude:gmatch '[%w_ ]+ (mr_[%w_]+)%(' do defined[word] = true end
        local pipe = assert(io.popen(("find '%s' -name prelude -prune -o '(' "
            .. "-name '*.krn' -o -name '*.h' ')' -exec cat {} +"):format(source.folder)))
        local text = pipe:read '*a':gsub('/%*.-%*/', '')
        pipe:close()
        local used = 0
        for word in text:gmatch '%f[%w_][Mm][Rr]_[%w_]+' do
            if defined[word] then used = used + 1 end
            if defined[word] and not all[word] then missing[word] = true end
        end
        assert.same({}, missing)
        assert.is_true(used > 1000)
    end)

    it('begins with what matters, on one screen', function()
        local text, lines = help.text(), 0
        for line in text:gmatch '[^\n]+' do
            lines = lines + 1
            assert.is_true(#line <= 80, line)
        end
        assert.is_true(lines <= 24)
        for _, word in ipairs { 'mare.simulation', 'sim:run', 'sim:step', 'sim:plot', 'sim:field',
            'sim:save', 'kelvin_wave', 'grid' } do
            assert.truthy(text:find(word, 1, true), word)
        end
    end)

    it('shows the fields that a maker takes, and no insides of what it makes', function()
        assert.truthy(help.text(mare.grid):find('radius = that of the sphere', 1, true))
        local text = help.text 'mare.simulation'
        assert.truthy(text:find('sim:plot', 1, true))
        assert.falsy(text:find('simulation:', 1, true))
    end)

    it('describes a handle by the file that makes its class', function()
        for _, kind in ipairs { 'buffer', 'device', 'program', 'stream' } do
            assert.truthy(help.text(kind):find('bindings/' .. kind .. '.lua', 1, true), kind)
        end
    end)

    it('finds by name, by word, and says when there is nothing', function()
        assert.truthy(help.text('grid'):find 'Cartesian')
        assert.truthy(help.text(mare.grid):find 'grid:cell')
        local words = help.text 'buffer':gsub('%s+', ' ')       -- whole sentences, on 80 columns
        assert.truthy(words:find('in bytes: width, height', 1, true))
        for _, name in ipairs { 'buffer', 'sim' } do
            for line in help.text(name):match '%)\n(.*)':gmatch '[^\n]+' do
                assert.is_true(#line < 80, line)
            end
        end
        assert.truthy(help.text('Sixel'):find '.')
        assert.truthy(help.text('sanfte Welle'):find 'Nothing')
        assert.truthy(help.text('checkpoint'):find 'sim:save')
        assert.truthy(help.text(mare.simulation 'sod'):find 'Shock tubes')
        assert.truthy(help.text 'sod':find '\n  cfl = 0%.45 +Courant number\n')
        assert.truthy(help.text 'film-every':find '%-%-film%-every')
        assert.truthy(help.text 'every_steps':find 'steps between outputs')
        assert.truthy(help.text 'thacker':find('shore', 1, true))
        assert.equal('nil:', help.text(nil):sub(1, 4))
        assert.falsy(help.text(mare.watch):find 'watch:')      -- a class of another file
    end)
end)

describe('what was typed', function()
    it('lasts from session to session, as much as is kept', function()
        local path = os.tmpname()
        os.remove(path)
        history.add(path, 'x = [[a\nb\\n]]')
        for k = 1, 2100 do history.add(path, 'line ' .. k) end
        local entries = history.load(path)
        assert.equal(1000, #entries)
        assert.equal('line 2100', entries[1000])
        history.add(path, 'x = [[a\nb\\n]]')
        assert.equal('x = [[a\nb\\n]]', history.load(path)[1000])
        os.remove(path)
        history.add('/dev/null/history', 'x')
        assert.same({}, history.load '/dev/null/history')
    end)
end)

-- ---- lines at random ----

local pieces = { '1', '2', 'x', 'y', '_', '_1', '+', '-', '*', '/', '..', '==', '=', '(', ')', '{',
    '}', '[', ']', ',', ';', '.', ':', '"a"', "'", '"', '[[', ']]', '--', 'nil', 'true', 'function',
    'end', 'for', 'in', 'do', 'while', 'if', 'then', 'repeat', 'until', 'local', 'return', 'and',
    'not', '#', '\\', '\0', '\255', 'mare', 'grid', 'memory', 'euler', 'print', 'tostring', 'pairs',
    'string', 'error', 'pcall', 'help', 'examples', 'setmetatable', 'é', '...', '0x', '1e', '%' }

-- This generator makes failures repeatable.
local function random_lines(seed)
    local state = seed
    local function random(n)
        state = (state * 16807) % 2147483647
        return state % n + 1
    end
    return function()
        local words = {}
        for k = 1, random(12) do words[k] = pieces[random(#pieces)] end
        return table.concat(words, random(2) == 1 and ' ' or '')
    end
end

local is_status = { ok = true, more = true, error = true }

local function resident_pages()
    local file = io.open '/proc/self/statm'
    local pages = file and tonumber((file:read '*l':match '^%d+ (%d+)')) or 0
    if file then file:close() end
    return pages
end

describe('10 000 lines of random input', function()
    it('leave the session alive and no larger', function()
        local next_line, sink = random_lines(7), os.tmpname()
        local out, print_before, hook = io.output(), _G.print, { debug.gethook() }
        local function session_without_outside()
            local session = repl.new()
            for _, name in ipairs { 'os', 'io', 'debug', 'require', 'dofile', 'loadfile', 'jit',
                'collectgarbage', '_G' } do
                session.environment[name] = {}
            end
            return session
        end
        local function take(count)
            local session = session_without_outside()
            for k = 1, count do
                local line = next_line()
                debug.sethook(function() error('too long', 0) end, '', 20000)
                local ok, status = pcall(session.step, session, line)
                debug.sethook()
                assert.is_true(ok and is_status[status], line)
                local listed, words = pcall(session.complete, session, line)
                assert.is_true(listed and type(words) == 'table', line)
                if k % 10 == 0 then session.pending = nil end
            end
            collectgarbage()
            collectgarbage()
            return collectgarbage 'count', resident_pages()
        end
        io.output(sink)
        _G.print = function() end
        jit.off()
        local ok, failure = pcall(function()
            take(1000)
            local kilobytes, pages = take(1000)
            for _ = 1, 7 do take(1000) end
            local after, pages_after = take(1000)
            assert.is_true(after - kilobytes < 500, after - kilobytes)
            assert.is_true(pages_after - pages < 4096, pages_after - pages)
        end)
        jit.on()
        _G.print = print_before
        io.output():close()
        io.output(out)
        os.remove(sink)
        debug.sethook(unpack(hook))
        if not ok then error(failure, 0) end
    end)
end)
