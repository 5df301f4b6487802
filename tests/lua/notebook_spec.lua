-- Tests the kernel for notebooks without a network: messages, hostile ones too, what is shown
-- of values, positions in texts, earlier cells, files of Jupyter. tests/notebook/kernel.py has the
-- tests with a front end.

local bar = require 'mare.notebook.bar'
local display = require 'mare.notebook.display'
local draw = require 'mare.draw'
local events = require 'mare.base.events'
local fails = require 'tests.fails'
local front = require 'mare.notebook.front'
local install = require 'mare.notebook.install'
local json = require 'mare.base.json'
local repl = require 'mare.session.repl'
local requests = require 'mare.notebook.requests'
local sodium = require 'bindings.sodium'
local trial = require 'tests.scenarios.trial'
local utf8 = require 'bindings.utf8'
local wire = require 'mare.notebook.wire'
local zmq = require 'bindings.zmq'
require 'mare'

local is_there = pcall(sodium.load) and pcall(zmq.load)
local missing = 'libzmq5 or libsodium23 is not installed'

describe('texts of characters', function()
    it('are cleaned of bytes that are none', function()
        local bad = '\239\191\189'
        for text, wanted in pairs { ['aü€🌊'] = 'aü€🌊', ['a\255b'] = 'a' .. bad .. 'b',
            ['\192\128'] = bad .. bad, ['\237\160\128'] = bad:rep(3), ['\244\144\128\128'] =
            bad:rep(4), ['\224\128\128'] = bad:rep(3), ['x\226\130'] = 'x' .. bad .. bad } do
            assert.equal(wanted, (utf8.cleaned(text)))
            assert.equal(wanted == text, utf8.fault(text) == nil)
        end
        assert.same({ 'x', '\226\130' }, { utf8.cleaned('x\226\130', true) })
        assert.same({ 'x' .. bad .. 'y', '' }, { utf8.cleaned('x\226y', true) })
    end)

    it('are counted in characters and bytes', function()
        assert.equal(4, utf8.length 'aü€🌊')
        assert.same({ 0, 1, 3, 6, 10, 10 }, { utf8.bytes('aü€🌊', 0), utf8.bytes('aü€🌊', 1),
            utf8.bytes('aü€🌊', 2), utf8.bytes('aü€🌊', 3), utf8.bytes('aü€🌊', 4),
            utf8.bytes('aü€🌊', 9) })
    end)
end)

describe('a message', function()
    local from, to

    before_each(function()
        if not is_there then return end
        from, to = wire.new 'key', wire.new 'key'
    end)

    local function parts_of(content)
        return from:parts({ 'me' }, 'execute_request', json.encode(content or { code = 'ü' }), '{}')
    end

    it('comes back as it went', function()
        if not is_there then return pending(missing) end
        local message = assert(to:message(parts_of()))
        assert.same({ 'me' }, message.from)
        assert.equal('execute_request', message.kind)
        assert.same({ code = 'ü' }, message.content)
        assert.equal('5.4', message.header.version)
        assert.equal('f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
            sodium.sign('key', { 'The quick brown fox jumps ', 'over the lazy dog' }))
        assert.truthy(wire.new '':message(wire.new '':parts({}, 'x', '{}')))
    end)

    it('is refused with a reason where it is changed, comes again, or is none', function()
        if not is_there then return pending(missing) end
        local good = parts_of()
        assert.truthy(to:message(good))
        assert.same({ nil, 'it was here before' }, { to:message(good) })
        for k = 3, 7 do
            local parts = parts_of()
            parts[k] = parts[k]:sub(1, -2) .. 'x'
            assert.same({ nil, 'wrong signature' }, { to:message(parts) })
        end
        for count = 0, 6 do
            local parts = { unpack(parts_of(), 1, count) }
            assert.is_nil((to:message(parts)))
        end
        for bad, word in pairs { ['{"code":"\255"}'] = 'UTF-8', ['[1]'] = 'no JSON object',
            ['{'] = 'no JSON object', ['{} x'] = 'no JSON object', [''] = 'no JSON object',
            [('['):rep(1e5)] = 'no JSON object' } do
            local parts = parts_of()
            parts[7] = bad
            parts[3] = sodium.sign('key', { unpack(parts, 4, 7) })
            local message, reason = to:message(parts)
            assert.is_nil(message)
            fails.says(reason, 'content', word)
        end
        local parts = parts_of()
        parts[4] = '{"msg_id":1}'
        parts[3] = sodium.sign('key', { unpack(parts, 4, 7) })
        fails.says(select(2, to:message(parts)), 'header', 'msg_type')
    end)

    it('is refused in every form of noise', function()
        if not is_there then return pending(missing) end
        math.randomseed(26)
        local pieces = { '<IDS|MSG>', '{}', '{"msg_type":"x","msg_id":"y"}', '', '\0', '\255' }
        for _ = 1, 10000 do
            local parts = {}
            for k = 1, math.random(0, 9) do
                parts[k] = math.random(4) > 1 and pieces[math.random(#pieces)]
                    or string.char(math.random(0, 255)):rep(math.random(0, 80))
            end
            local message, reason = to:message(parts)
            assert.is_nil(message)
            assert.equal('string', type(reason))
        end
    end)

    it('goes through sockets, and a huge one is left out', function()
        if not is_there then return pending(missing) end
        local context = zmq.context()
        local router = context:socket('router', { linger = 0 })
        router:bind 'tcp://127.0.0.1:*'
        local dealer = context:socket('dealer', { linger = 0, identity = 'me' })
        dealer:connect(router:address())
        assert.is_nil(router:receive())
        assert.is_true(dealer:send { 'a', '', ('b'):rep(1000) })
        assert.is_true(zmq.wait({ router, dealer }, 10000)[router])
        assert.same({ 'me', 'a', '', ('b'):rep(1000) }, router:receive())
        dealer:send { ('b'):rep(1000), 'c' }
        dealer:send { 'next' }
        zmq.wait({ router }, 10000)
        local parts, reason = router:receive(500)
        assert.is_nil(parts)
        fails.says(reason, '1003 bytes')
        zmq.wait({ router }, 10000)
        assert.same({ 'me', 'next' }, router:receive(500))
        fails(function() router:bind 'nonsense' end, nil, 'nonsense')
        context:close()
    end)
end)

describe('libraries that are missing', function()
    it('are named with their packages', function()
        fails(function() zmq.load { 'libno_such.so' } end, nil, 'ZeroMQ', 'libzmq5')
        fails(function() sodium.load { 'libno_such.so' } end, nil, 'libsodium23')
        if is_there then
            zmq.load()
            sodium.load()
        end
    end)
end)

describe('a notebook shows', function()
    it('lists of records and rows as tables, and other values as text', function()
        local html = display.bundle({ { a = 1, b = '<x>' }, { a = 2.5 } })['text/html']
        fails.says(html, '<th>a</th><th>b</th>', '<td>1</td><td>&lt;x&gt;</td>',
            '<td>2.5</td><td></td>')
        assert.equal('<table>\n<tr><td>1</td><td>2</td></tr>\n</table>', display.table { { 1, 2 } })
        for _, value in ipairs { 5, 'x', {}, { 1 }, { { {} } }, { { f = print } }, print } do
            assert.is_nil(display.bundle(value)['text/html'])
        end
        local long = {}
        for k = 1, 100 do long[k] = { k } end
        fails.says(display.table(long), '... 40 more')
        assert.equal('1\t2', display.results(1, 2)['text/plain'])
        assert.is_nil(display.results())
    end)

    it('pictures as PNG, and curves of few points as SVG', function()
        local curve = draw.lines { series = { { x = { 1, 2 }, y = { 1, 2 } } }, width = 300 }
        local bundle = display.bundle(curve)
        assert.equal('iVBORw0KGgo', bundle['image/png']:sub(1, 11))
        assert.equal("picture ''", bundle['text/plain'])
        fails.says(bundle['image/svg+xml'], '<svg', 'width="300', '</svg>')
        local many = {}
        for k = 1, 5001 do many[k] = k end
        local long = draw.lines { series = { { x = many, y = many } }, width = 300 }
        assert.is_nil(display.bundle(long)['image/svg+xml'])
        local field = draw.field { data = { [0] = 1, 2 }, nx = 2, ny = 1, x = { 0, 2 },
            y = { 0, 1 }, width = 300 }
        assert.is_nil(display.bundle(field)['image/svg+xml'])
        fails.says(field:svg(), '<svg', '<image', '</svg>')
        local object = setmetatable({}, { __mime = function() return { ['a/b'] = 'c' } end })
        assert.equal('c', display.bundle(object)['a/b'])
    end)

    it('pictures in files of both kinds', function()
        local folder = trial.new_folder()
        local curve = draw.lines { series = { { x = { 1, 2 }, y = { 1, 2 } } }, width = 300 }
        curve:save(folder .. '/a.svg'):save(folder .. '/a.png')
        fails.says(trial.slurp(folder .. '/a.svg'), '<svg', 'width="300', '</svg>')
        assert.equal('\137PNG', trial.slurp(folder .. '/a.png'):sub(1, 4))
        fails(function() curve:save(folder .. '/a.gif') end, nil, 'a.gif', '.png or .svg')
        fails(function() curve:save(folder .. '/none/a.svg') end, nil, 'none/a.svg')
        trial.remove(folder)
    end)

    it('the progress of a run in one place, and other events as text', function()
        local said, kernel = {}, {}
        function kernel.show(_, bundle)
            said[#said + 1] = bundle
            return 'id'
        end
        function kernel.update(_, id, bundle) said[#said + 1] = id .. bundle['text/plain'] end
        local restore = events.mute()
        bar.install(kernel)
        local run = events.source { run = 'r' }
        run:tell('start', {})
        local memos = { begin = 0 }
        run:progress(memos, 1, function() return { percent = 20, message = '20 <' } end)
        run:progress(memos, 1.1, function() return { percent = 21, message = '21' } end)
        run:progress(memos, 2, function() return { percent = 30, message = '30' } end)
        assert.truthy(kernel.running())
        run:tell('end', { t = 2, step = 7 })
        assert.is_nil(kernel.running())
        restore()
        fails.says(said[1]['text/html'], 'value="20.0"', '20 &lt;')
        assert.same({ 'id30', 'iddone, t = 2, step 7' }, { said[2], said[3] })
    end)
end)

describe('a front end asks', function()
    local session

    before_each(function() session = repl.new() end)

    it('what a cell gives: the last lines may be an expression', function()
        for text, wanted in pairs { ['x = 1\nx + 1'] = 2, ['x = 5\n\n-- that\nx'] = 5,
            ['local y = 3\nlocal z = y\n-1'] = 'none', ['6\n- 1'] = 5, ['return 7'] = 7,
            ['t = {\n1,\n2 }\n#t'] = 2, ['s = [[\na\n]]\ns'] = 'a\n', ['f = 1'] = 'none' } do
            local results = { session:evaluate(text) }
            assert.equal('ok', results[1], text)
            assert.equal(wanted, #results == 1 and 'none' or results[2], text)
        end
        assert.equal(2, session.environment.z)
        local status, text = session:evaluate 'x = 1\n\nno.such'
        assert.equal('error', status)
        fails.says(text, 'input:3:')
        assert.equal('more', (session:evaluate 'x = 1\nf('))
    end)

    it('for no end of the kernel that a cell asks for', function()
        local names = {}
        front.install({}, names)
        fails(function() names.os.exit(3) end, nil, 'os.exit(3)', 'kernel')
        assert.equal(os.time, names.os.time)
    end)

    it('whether a cell is complete, and how far the next line is indented', function()
        local function status_of(code)
            local found = requests.is_complete { code = code }
            return found.status, found.indent
        end
        assert.equal('complete', status_of 'x = 1\nx')
        assert.equal('invalid', status_of 'x = = 1')
        assert.same({ 'incomplete', '    ' }, { status_of 'for k = 1, 2 do' })
        assert.same({ 'incomplete', '        ' }, { status_of 'f {\n    g = function(a)' })
        assert.same({ 'incomplete', '  ' }, { status_of 'f(1,\n  2' })
    end)

    it('what a word is, and how it goes on', function()
        session.environment.value = 12
        local function inspected(code, at)
            local found = requests.inspect(session, { code = code, cursor_pos = at or #code })
            return found.found and found.data['text/plain']
        end
        assert.equal('12', inspected('value + 1', 2))
        fails.says(inspected 'mare.grid { nx', 'uniform grid')
        fails.says(inspected('mare.grid.new', 3), 'mare.grid')
        assert.is_false(inspected 'nothing_of_this_name')
        assert.is_false(inspected '')
        local found = requests.complete(session, { code = "-- don't\nx = val, 1", cursor_pos = 16 })
        assert.same({ 'value' }, { unpack(found.matches) })
        assert.same({ 13, 16 }, { found.cursor_start, found.cursor_end })
        assert.equal(0, requests.complete(session, { code = '', cursor_pos = 99 }).cursor_end)
    end)

    it('for earlier cells', function()
        local cells = { session = 1, { session = 0, line = 1, source = 'old' } }
        for k, source in ipairs { 'a', 'b', 'a', 'c.d' } do
            cells[k + 1] = { session = 1, line = k, source = source, output = 'o' .. k }
        end
        local function found(content)
            local list = {}
            for k, one in ipairs(requests.history(cells, content).history) do list[k] = one[3] end
            return table.concat(list, ' ')
        end
        assert.equal('a c.d', found { hist_access_type = 'tail', n = 2 })
        assert.equal('a b', found { hist_access_type = 'range', session = 1, start = 1, stop = 3 })
        assert.equal('old', found { hist_access_type = 'range', session = -1 })
        assert.equal('a a', found { hist_access_type = 'search', pattern = 'a' })
        assert.equal('a', found { hist_access_type = 'search', pattern = 'a', unique = true })
        assert.equal('c.d', found { hist_access_type = 'search', pattern = '?.*' })
        assert.equal('b', found { hist_access_type = 'search', pattern = '[b]' })
        assert.equal('', found { hist_access_type = 'search', pattern = '[' })
        assert.equal('', found { hist_access_type = 'other' })
        assert.same({ 'c.d', 'o4' }, { unpack(requests.history(cells,
            { hist_access_type = 'tail', n = 1, output = true }).history[1][3]) })
    end)
end)

describe('Jupyter', function()
    local folder

    before_each(function() folder = trial.new_folder() end)
    after_each(function() trial.remove(folder) end)

    it('finds the kernel where it is installed', function()
        local path = install.write(folder)
        assert.equal(folder .. '/share/jupyter/kernels/mare/kernel.json', path)
        local found = json.decode(trial.slurp(path))
        assert.same({ 'jupyter', 'run', '{connection_file}' }, { unpack(found.argv, 2) })
        assert.equal('message', found.interrupt_mode)
        fails.says(table.concat(install.lines(), '\n'), 'ZeroMQ', 'libsodium', 'kernel')
    end)

    it('hears what is wrong with a connection file', function()
        local path = folder .. '/c.json'
        local good = { shell_port = 1, control_port = 2, iopub_port = 3, stdin_port = 4,
            hb_port = 5, key = 'k' }
        local function connect(changes)
            local all = {}
            for key, value in pairs(good) do all[key] = value end
            for key, value in pairs(changes) do all[key] = value end
            trial.spit(path, json.encode(all))
            return install.connection(path)
        end
        assert.equal('tcp', connect({}).transport)
        for key, value in pairs { shell_port = 70000, hb_port = 'x', iopub_port = 0.5, key = 7,
            transport = 'smoke', signature_scheme = 'hmac-md5' } do
            fails(function() connect { [key] = value } end, 'MARE_ERROR_ARGUMENT', 'c.json', key)
        end
        trial.spit(path, '{')
        fails(function() install.connection(path) end, 'MARE_ERROR_ARGUMENT', 'c.json')
        fails(function() install.connection(folder .. '/none') end, nil, 'none')
    end)
end)
