-- What is refused at once and in words, where it was computed on or ended in an error of Lua.

local fails = require 'tests.fails'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local trial = require 'tests.scenarios.trial'

local launcher = require('bindings.home').launcher

local function refused(words, ...)
    local status, text = trial.status_of(("'%s' %s"):format(launcher, words))
    assert.is_true(status == 1 or status == 2, text)
    for _, piece in ipairs { ... } do assert.truthy(text:find(piece, 1, true), text) end
    return text
end

describe('on a command line', function()
    it('a file whose name begins with a blank is refused before anything is computed', function()
        local folder = trial.new_folder()
        for option, name in pairs { out = ' x.nc', series = ' x.nc', image = ' x.png' } do
            refused(("sod --nx=16 --device=null:0 --quiet --%s='%s'"):format(option, name),
                '--' .. option, 'blank')
        end
        trial.remove(folder)
    end)

    it('a long value is not shown whole', function()
        local text = refused('sod --nx=' .. ('x'):rep(5000), '--nx', 'a whole number')
        assert.is_true(#text < 300)
    end)

    it('what tells of a run is a text, or no run is repeated', function()
        local folder = trial.new_folder()
        local told = { scenario = 'sod', scenario_text = 'x = 1', arguments = '[]', device = 'd',
            history = 'h' }
        for name in pairs(told) do
            local file = netcdf.create(folder .. '/a.nc')
            for key, value in pairs(told) do
                file:put_attribute(nil, key, key == name and 7 or value)
            end
            file:end_definitions()
            file:close()
            refused(("rerun '%s/a.nc'"):format(folder), ("'%s' is no text"):format(name))
        end
        trial.remove(folder)
    end)

    it('none in place of a file is none, also in a rerun', function()
        local folder = trial.new_folder()
        local go = ("cd '%s' && '%s' "):format(folder, launcher)
        local status, text = trial.status_of(go .. 'sod --nx 16 --device auto --t-end 0.01 '
            .. '--quiet --image none --out a.nc')
        assert.equal(0, status, text)
        assert.equal('a.nc', trial.listing(folder))
        assert.equal(0, (trial.status_of(go .. 'rerun a.nc')))
        assert.equal('a.nc a.rerun.nc', trial.listing(folder))
        status, text = trial.status_of(go .. 'plot a.nc --times all --film a.gif')
        assert.equal(0, status, text)
        assert.truthy(text:find('--every', 1, true), text)
        trial.remove(folder)
    end)

    it('a word of any length is not shown whole, and no byte that a terminal obeys', function()
        local long = ('x'):rep(100000)
        for _, words in ipairs { long, '--' .. long, 'sod --' .. long .. '=1', 'help ' .. long,
            'bench ' .. long, 'sod --device=' .. long, "-e 'error(\"" .. long .. "\")'" } do
            local _, text = trial.status_of(("'%s' %s"):format(launcher, words))
            assert.is_true(#text > 40 and #text < 1600, words:sub(1, 20) .. ': ' .. #text)
        end
        local text = refused("$'a\27[31m\194\155b'", 'a?[31m?b')
        assert.is_nil(text:find '\27')
    end)

    it('a tide that ends before its analysis begins is refused', function()
        refused('north_sea --t-end 600 --analysis none.nc', '--t-end', '402624', '--constituents')
    end)

    it('a driver without room in the address space is not taken for one that is not there',
        function()
            local _, text = trial.status_of(
                ("ulimit -v 150000; '%s' sod --device=auto"):format(launcher))
            assert.truthy(text:find('ulimit -v', 1, true), text)
        end)

    it('a compiler whose files are too large tells of the limit', function()
        local _, text = trial.status_of(("ulimit -f 8; MARE_CACHE=off '%s' sedov --device=auto "
            .. '--nx=8 --ny=8 --nz=8 --steps=1 --quiet --image=none'):format(launcher))
        assert.truthy(not text:find('CL_BUILD', 1, true) or text:find('ulimit -f', 1, true), text)
    end)

    it('a compiler that memory is too short for ends the run, in words', function()
        -- PoCL's compiler throws, passes PoCL and leaves locks and signals held, or aborts.
        local status, text = trial.status_of(("ulimit -v 300000; MARE_CACHE=off timeout %d '%s' "
            .. 'sod --device=auto --quiet --image=none --nx=16 --steps=1')
            :format(trial.patience, launcher))
        assert.truthy(status ~= 124 and status ~= 137, text)
        assert.truthy(status ~= 1 or text:find 'memory' or text:find "program 'traverse",
            text)
    end)

    it('an inversion of no constituent is refused', function()
        refused('tide_inversion --constituents=', '--constituents', 'M2')
    end)

    it('an error that is no message says so, and where', function()
        refused("-e 'error(nil)'", 'called with nil', '(command line):1')
        refused("-e 'error({})'", 'called with table', '(command line):1')
    end)
end)

describe('a part of mare', function()
    local function message(f, ...)
        local ok, failure = pcall(f, ...)
        assert.is_false(ok)
        assert.equal('MARE_ERROR_ARGUMENT', failure.status)
        return failure.message
    end

    it('refuses odd arguments', function()
        fails.says(message(mare.chain, 3), 'chain', 'table')
        assert.matches('chain: basin is missing', message(mare.chain, {}))
        fails.says(message(mare.energy, 3), 'energy', 'table')
        assert.matches('energy: counter is missing', message(mare.energy, {}))
    end)

    it('that writes or draws refuses odd descriptions', function()
        fails.says(message(mare.film.writer), 'film', 'table', 'nil')
        fails.says(message(mare.film.writer, { path = 'f.gif' }), 'figure', 'table', 'nil')
        fails.says(message(mare.netcdf.writer), 'netcdf', 'table', 'nil')
        fails.says(message(mare.netcdf.writer, {}), 'path', 'string', 'nil')
        fails(function() mare.netcdf.writer { path = 'x.nc' } end, nil, 'x.nc', 'grid', 'table')
        fails.says(message(mare.image.field), 'picture', 'table', 'nil')
        fails.says(message(mare.image.lines, 'x'), 'picture', 'table', 'string')
        fails.says(message(mare.image.heatmap, { path = 'h.png' }), 'x', 'table', 'nil')
        for _, more in ipairs { { marks = { {} } }, { tracks = { { x = { 1 }, y = {} } } } } do
            local name = next(more)
            more.path, more.nx, more.ny, more.x, more.y = 'p.png', 1, 1, { 0, 1 }, { 0, 1 }
            more.data = { [0] = 1 }
            fails(function() mare.image.field(more) end, nil, 'p.png', name .. '[1]')
        end
    end)
end)
