-- The one way in which Mare says something: every listener hears every event, with fields.

local events = require 'mare.base.events'
local fails = require 'tests.fails'
local json = require 'dkjson'
local lfs = require 'lfs'
local mare = require 'mare'
local read = require 'bindings.read'
local terminal = require 'mare.base.terminal'

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'

local folder, heard, unmute

local function is_kind(kind)
    return function(event) return event.kind == kind end
end

local function those(is_wanted)
    local found = {}
    for _, event in ipairs(heard) do
        if is_wanted(event) then found[#found + 1] = event end
    end
    return found
end

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
    heard, unmute = {}, events.mute()
    events.listen { pause = 0, hear = function(event) heard[#heard + 1] = event end }
end)

after_each(function()
    unmute()
    for name in lfs.dir(folder) do os.remove(folder .. '/' .. name) end
    lfs.rmdir(folder)
end)

local function rest(options, fields)
    options.device, options.quiet = device, true
    local desc = { title = 'rest', boundaries = 'periodic', scheme = mare.euler {},
        grid = mare.grid { nx = 16, ny = 16, x = { 0, 1 }, y = { 0, 1 } }, options = options,
        initial = function(x) return 1 + 0.1 * math.sin(2 * math.pi * x), 0, 0, 1 end }
    for name, value in pairs(fields or {}) do desc[name] = value end
    return mare.run(desc)
end

describe('a run', function()
    it('tells with fields what it does, quiet or not', function()
        local out, kept = folder .. '/a.nc', folder .. '/a.ck'
        local sim = rest { t_end = 0.05, out = out, every = 0.025, checkpoint = kept }
        assert.same({ 0, 0.025, 0.05 }, (function()
            local times = {}
            for k, event in ipairs(those(is_kind 'output')) do
                assert.equal(out, event.path)
                times[k] = event.t
            end
            return times
        end)())
        assert.same({ path = kept, t = 0.05 }, (function(event)
            return { path = event.path, t = event.t }
        end)(those(is_kind 'checkpoint')[1]))
        assert.same({ out }, those(is_kind 'files')[1].paths)
        local last = heard[#heard].kind == 'end' and heard[#heard] or those(is_kind 'end')[1]
        assert.equal(sim.now.steps, last.step)
        assert.truthy(those(is_kind 'progress')[1].cells_per_second > 0)
        assert.equal('rest', those(is_kind 'start')[1].title)
        for _, event in ipairs(heard) do
            assert.is_true(event.quiet)
            assert.equal(heard[1].run, event.run)
        end
        rest { t_end = 0.05, checkpoint = kept }
        local warning = those(is_kind 'warning')[1]
        fails.says(warning.message, kept, 't = 0.05')
    end)

    it('tells why it failed', function()
        assert.is_false((pcall(rest, { t_end = 0.1 }, { at = { { 0.05, function()
            error 'no more of this'
        end } } })))
        assert.truthy(those(is_kind 'failure')[1].reason:find 'no more of this')
    end)

    it('has its own events alone in its journal, and those of no run', function()
        local outer = folder .. '/outer.json'
        rest({ t_end = 0.05, json_log = outer }, { at = { { 0.02, function()
            rest { t_end = 0.01, json_log = folder .. '/inner.json' }
            events.warn('%s of no run', 'a warning')
        end } } })
        local function kinds(path)
            local list = {}
            for line in read(path):gmatch '[^\n]+' do
                local one = json.decode(line)
                assert.is_nil(one.quiet or one.run or one.kind)
                list[#list + 1] = one.event .. (one.message and ': ' .. one.message or '')
            end
            return list
        end
        assert.same({ 'start', 'warning: a warning of no run', 'end' }, kinds(outer))
        assert.same({ 'start', 'end' }, kinds(folder .. '/inner.json'))
    end)
end)

describe('the terminal', function()
    local function shown(is_terminal, list)
        local out = {}
        local listener = terminal.new { is_terminal = is_terminal, write = function(text)
            out[#out + 1] = text
        end }
        for _, event in ipairs(list) do listener.hear(event) end
        return table.concat(out)
    end
    local list = { { kind = 'progress', message = '10 %' }, { kind = 'warning', message = 'oh' },
        { kind = 'progress', message = '20 %' }, { kind = 'output', path = 'a.nc', t = 1 },
        { kind = 'interlude' }, { kind = 'note', message = 'so' },
        { kind = 'log', level = 'warn', message = 'core' },
        { kind = 'files', message = 'wrote a.nc' } }

    it('rewrites its line of progress, and clears it before other text', function()
        assert.equal('\r10 %\27[K\r\27[Kmare: warning: oh\n\r20 %\27[K\r\27[Kmare: so\n'
            .. 'mare: warn: core\nwrote a.nc\n', shown(true, list))
        assert.equal('10 %\nmare: warning: oh\n20 %\nmare: so\nmare: warn: core\nwrote a.nc\n',
            shown(false, list))
    end)

    it('shows warnings of quiet runs alone', function()
        for _, event in ipairs(list) do event.quiet = event.kind ~= 'log' end
        assert.equal('mare: warning: oh\nmare: warn: core\n', shown(true, list))
    end)
end)

describe('events', function()
    it('are of known kinds, and heard until nobody listens', function()
        assert.error_matches(function() events.tell 'gossip' end, 'no kind "gossip"')
        local count = 0
        local stop = events.listen { hear = function() count = count + 1 end }
        events.note 'one'
        stop()
        events.note 'two'
        assert.equal(1, count)
    end)
end)
