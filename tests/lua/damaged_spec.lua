-- Checkpoints whose checksum is right and whose content is not what a run could have written: each
-- is refused by name, before it is taken for a state.

local checkpoint = require 'mare.files.checkpoint'
local exchange = require 'mare.array.exchange'
local fails = require 'tests.fails'
local ffi = require 'ffi'
local identity = require 'mare.run.identity'
local info = require 'mare.launcher.info'
local mare = require 'mare'
local restart = require 'mare.run.restart'
local trial = require 'tests.scenarios.trial'

local folder, path

local function run(options)
    options.t_end, options.quiet, options.device = options.t_end or 0.02, true, trial.device
    options.precision = 'float'
    return mare.run {
        title = 'kept', grid = mare.grid { nx = 16, ny = 8, x = { 0, 2 }, y = { 0, 1 } },
        scheme = mare.euler {}, boundaries = 'periodic', options = options,
        initial = function(x) return 1 + 0.1 * math.sin(math.pi * x), 0, 0, 1 end,
    }
end

local function refusal(f, ...)
    local ok, failure = pcall(f, ...)
    assert.is_false(ok)
    local text = type(failure) == 'table' and failure.message or tostring(failure)
    assert.is_nil(text:find '%.lua:%d' or text:find 'attempt to', text)
    return text
end

-- Writes the checkpoint again with a changed header and so many bytes of its state.
local function rewrite(change, bytes)
    local found = assert(checkpoint.read(path))
    local data = ffi.new('char[?]', math.max(found.bytes, bytes or 0))
    ffi.copy(data, found.state, found.bytes)
    if change then change(found.header) end
    checkpoint.write(path, 1, found.header, data, bytes or found.bytes)
end

before_each(function()
    folder = trial.new_folder()
    path = folder .. '/a.ck'
    run { checkpoint = path, out = folder .. '/a.nc', series = folder .. '/s.nc' }
end)

after_each(function() trial.remove(folder) end)

describe('a checkpoint', function()
    it('is gone on with where it is whole', function()
        rewrite()
        assert.truthy(table.concat(info.lines(path), '\n'):find 't = 0.02')
        assert.equal(0.03, run({ restart = path, t_end = 0.03 }).now.t)
    end)

    it('with a state shorter than the grid is refused', function()
        for _, bytes in ipairs { 1920, 64 } do
            rewrite(nil, bytes)
            fails.says(refusal(info.lines, path), 'a.ck', tostring(bytes), '3840')
        end
        assert.matches('a.ck: its state has 64 bytes, the grid wants 3840',
            refusal(run, { restart = path, t_end = 0.03 }))
    end)

    it('with half of a state of two levels is refused before there is a simulation', function()
        local desc = {
            grid = mare.grid { nx = 6, ny = 5, x = { 0, 6 }, y = { 0, 5 }, halo = 1 },
            scheme = mare.ocean { scheme = 'nonlinear', depth = 10 },
            options = { restart = path, precision = 'double' },
        }
        desc.boundaries = exchange.boundaries('periodic', desc.scheme)
        local level = 8 * (6 + 2) * (5 + 2) * 3
        local function rewrite_as(bytes)
            rewrite(function(h) h.identity, h.levels = identity.of(desc), 2 end, bytes)
        end
        rewrite_as(2 * level)
        assert.truthy(info.lines(path))
        assert.equal(2 * level, restart.find(desc).bytes)
        for _, bytes in ipairs { level, 2 * level - 8, 2 * level + 8 } do
            rewrite_as(bytes)
            for _, reader in ipairs { info.lines, function() restart.find(desc) end } do
                fails.says(refusal(reader, path), 'a.ck', tostring(bytes), tostring(2 * level))
            end
        end
    end)

    it('is told of where its header says nothing of the grid', function()
        for _, text in ipairs { '3', '{}', '{ 1, {} }' } do
            rewrite(function(h) h.identity[1][2], h.identity[3][2] = text, text end)
            assert.truthy(table.concat(info.lines(path), '\n'):find 't = 0.02')
        end
    end)

    it('whose header lacks or mistakes something is refused with its name', function()
        for fault, change in pairs {
            ['t is no number'] = function(h) h.t = nil end,
            ['dt is no number'] = function(h) h.dt = 'x' end,
            ['steps is no count'] = function(h) h.steps = -1 end,
            ['identity%[2%] is no list'] = function(h) h.identity[2] = 7 end,
            ['identity%[1%] has 1 entries, must have 2'] = function(h)
                h.identity[1] = { 'the grid' }
            end,
            ['outputs%[1%]%.position%.path is no text'] = function(h)
                h.outputs[1].position.path = {}
            end,
            ['series%.rows is no text'] = function(h) h.series.rows = false end,
            ['analyses is no list'] = function(h) h.analyses = { a = 1 } end,
            ['state is no table'] = function(h) h.state = 'x' end,
        } do
            rewrite(change)
            assert.matches('has a damaged header: ' .. fault, refusal(info.lines, path))
            assert.matches(fault, refusal(run, { restart = path, t_end = 0.03 }))
            os.remove(path)
            run { checkpoint = path, out = folder .. '/a.nc', series = folder .. '/s.nc' }
        end
    end)

    it('with other rows of its series, or less of a position, is refused', function()
        rewrite(function(h) h.series.rows = '0 1 2\n0.01 x' end)
        fails.says(refusal(run, { restart = path, t_end = 0.03, series = folder .. '/s.nc' }),
            'series', 'has 3', 'have 5', 'checkpoint')
        local whole = trial.slurp(path)
        for _, name in ipairs { 'pieces', 'last', 'steps' } do
            trial.spit(path, whole)
            rewrite(function(h) h.outputs[1].position[name] = nil end)
            local text = refusal(run, { restart = path, t_end = 0.03, out = folder .. '/a.nc' })
            fails.says(text, 'a.nc', 'damaged', 'checkpoint', name)
        end
    end)
end)
