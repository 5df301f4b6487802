-- Tests what a run reports during its course and after a failure: its journal,
-- calls of the script, and the message and the file about an invalid state.

local checkpoint = require 'mare.files.checkpoint'
local fails = require 'tests.fails'
local files = require 'bindings.files'
local json = require 'dkjson'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local trial = require 'tests.scenarios.trial'

local folder

before_each(function()
    folder = trial.new_folder()
end)

after_each(function()
    trial.remove(folder)
end)

-- Runs gas at rest for a short time, with more options and fields of mare.run.
local function rest(options, fields)
    local all = { t_end = 0.3, quiet = true, device = trial.device, precision = 'float' }
    for key, value in pairs(options) do all[key] = value end
    local desc = {
        title = 'rest', grid = mare.grid { nx = 48, ny = 40, x = { 0, 1.2 }, y = { 0, 1 } },
        scheme = mare.euler {}, boundaries = 'periodic', options = all,
        initial = function(x) return 1 + 0.1 * math.sin(2 * math.pi * x / 1.2), 0, 0, 1 end,
    }
    for key, value in pairs(fields or {}) do desc[key] = value end
    return mare.run(desc)
end

-- Sets the density of cell (i, j) to an invalid value.
local function spoil(i, j, value)
    return function(sim)
        local s = sim.states[1]
        s[s.present]:upload({ value }, { offset = s.layout:offset(0, i, j) })
    end
end

local function journal_of(path)
    local lines = {}
    for line in trial.slurp(path):gmatch '[^\n]+' do lines[#lines + 1] = json.decode(line) end
    return lines
end

local function events(lines)
    local names = {}
    for k, line in ipairs(lines) do names[k] = line.event end
    return table.concat(names, ' ')
end

describe('calls into a script', function()
    it('come every T and every N steps, exactly then', function()
        local times, steps, listed = {}, {}, {}
        local sim = rest({}, {
            every = { { 0.1, function(s) times[#times + 1] = s.now.t end } },
            every_steps = { { 4, function(s) steps[#steps + 1] = s.now.steps end } },
            at = { { 0.25, function(s) listed[#listed + 1] = s.now.t end } },
        })
        assert.same({ 0, 0.1, 0.2, 0.3 }, times)
        assert.same({ 0.25 }, listed)
        assert.equal(math.floor(sim.now.steps / 4) + 1, #steps)
        for k, step in ipairs(steps) do assert.equal(4 * (k - 1), step) end
    end)

    it('are refused where they make no sense', function()
        local function refused(fields, pattern)
            assert.error_matches(function() rest({}, fields) end, pattern)
        end
        local function nothing() end
        refused({ every = { { 0, nothing } } },
            'run: every%[1%] must be { a time greater than 0, function }')
        refused({ every_steps = { { 1, nothing }, { 1.5, nothing } } },
            'run: every_steps%[2%] must be { a number of steps, function }')
        refused({ at = { { 0.1 } } }, 'run: at%[1%] must be { a time, function }')
    end)

    it('are not repeated by a run that goes on, nor left out', function()
        local times, ck = {}, folder .. '/run.ck'
        local fields = { every = { { 0.1, function(s) times[#times + 1] = s.now.t end } } }
        rest({ t_end = 0.2, checkpoint = ck }, fields)
        rest({ t_end = 0.4, checkpoint = ck, restart = ck }, fields)
        assert.same({ 0, 0.1, 0.2, 0.3, 0.4 }, times)
    end)
end)

describe('a journal', function()
    it('tells of the start, what was written and the end, and goes on with the run', function()
        local log = folder .. '/run.json'
        local options = { steps = 6, every_steps = 4, out = folder .. '/run.nc', json_log = log,
            checkpoint = folder .. '/run.ck' }
        rest(options, { at = { { 9, function() end } } })
        local lines = journal_of(log)
        assert.equal('start warning output output checkpoint output end', events(lines))
        local start, last = lines[1], lines[7]
        assert.equal('rest', start.title)
        assert.same({ mare.version, mare.commit }, { start.version, start.commit })
        assert.same({ nx = 48, ny = 40, x = { 0, 1.2 }, y = { 0, 1 } }, start.grid)
        assert.equal('Euler', start.parameters.equations)
        assert.truthy(start.parameters.device:find ':%d+ %(')
        fails.says(lines[2].message, 'at = 9')
        assert.same({ options.out, 0 }, { lines[3].path, lines[3].t })
        assert.same({ options.checkpoint, 6 }, { lines[5].path, lines[5].step })
        assert.same({ 6, 6, { options.out } }, { last.step, last.steps_taken, last.files })
        assert.is_true(last.cells_per_second > 0)
        assert.matches('^%d+%-%d+%-%d+T%d+:%d+:%d+Z$', last.time)
        options.steps, options.restart = 9, 'latest'
        trial.spit(log, trial.slurp(log):sub(1, -2))
        rest(options)
        lines = journal_of(log)
        assert.equal('start output checkpoint output end', events({ unpack(lines, 8) }))
        assert.equal(6, lines[8].restart.step)
        assert.equal(start.parameters.run_id, lines[8].parameters.run_id)
    end)

    it('tells why a run failed', function()
        local log = folder .. '/run.json'
        assert.error(function()
            rest({ json_log = log }, { at = { { 0.1, function() error 'of the script' end } } })
        end)
        local lines = journal_of(log)
        assert.equal('start failure', events(lines))
        assert.matches('of the script$', lines[2].reason)
        assert.equal(0.1, lines[2].t)
    end)

    it('that cannot be is refused, and one that ends costs a warning only', function()
        assert.error_matches(function() rest { json_log = folder .. '/none/log' } end,
            '%-%-json%-log: .*none/log: No such file')
        local path = folder .. '/log'
        assert.error_matches(function() rest { json_log = path, out = path } end, 'are one file')
        local write, text = io.stderr.write, ''
        getmetatable(io.stderr).__index.write = function(file, ...)
            if file ~= io.stderr then return write(file, ...) end
            text = text .. table.concat { ... }
        end
        local ok, sim = pcall(rest, { json_log = '/dev/full' })
        getmetatable(io.stderr).__index.write = write
        assert.is_true(ok, sim)
        assert.equal(0.3, sim.now.t)
        fails.says(text, 'No space', 'warning', '/dev/full', 'device')
    end)
end)

describe('an invalid state', function()
    local function failed(options, value)
        local ok, failure = pcall(rest, options, { at = { { 0.1, spoil(40, 3, value) } } })
        assert.is_false(ok)
        return failure.message
    end

    it('stops the run with the place, the last checkpoint and the cells around', function()
        local options = { out = folder .. '/run.nc', every = 0.05, checkpoint = folder .. '/run.ck',
            checkpoint_every = 0.05 }
        trial.spit(folder .. '/run-failed.nc', 'kept')
        local message = failed(options, -1)
        fails.says(message, 't = 0.1', 'became', 'invalid')
        local good = checkpoint.newest(options.checkpoint)
        fails.says(message, options.checkpoint, ('t = %g'):format(good.header.t),
            ('step %d'):format(good.header.steps))
        local path = message:match 'the cells around it are in (.*)$'
        assert.equal(folder .. '/run-failed-2.nc', path)
        assert.equal('kept', trial.slurp(folder .. '/run-failed.nc'))
        local file = netcdf.open(path)
        assert.same({ time = 1, x = 32, y = 32 }, file:dimensions())
        local x, y, rho, p = file:get 'x', file:get 'y', file:get 'rho', file:get 'p'
        assert.near(16.5 / 40, x[0], 1e-12)         -- the last 32 columns, the first 32 rows
        assert.near(0.5 / 40, y[0], 1e-12)
        local bad = 0
        for k = 0, 1023 do bad = bad + (rho[k] > 0 and p[k] > 0 and 0 or 1) end
        assert.is_true(bad > 0 and bad < 200, bad)
        assert.truthy(message:find(file:attributes().failure, 1, true))
        file:close()
    end)

    it('without files leaves none, and without a checkpoint says so', function()
        assert.matches('y = [%d.]+$', failed({}, 0 / 0))
        assert.equal('', trial.listing(folder))
        local message = failed({ checkpoint = folder .. '/run.ck' }, 0 / 0)
        fails.says(message, 'run-failed.nc', 'checkpoint', 'around')
        assert.equal('run-failed.nc', trial.listing(folder))
    end)

    it('whose cells cannot be written is told all the same', function()
        local temporary = files.temporary
        files.temporary = function(path)
            if path:find 'failed' then error(path .. ': no room', 0) end
            return temporary(path)
        end
        local message = failed({ checkpoint = folder .. '/run.ck' }, 0 / 0)
        files.temporary = temporary
        fails.says(message, 'no room', 'lost', 'run-failed.nc', 'around')
    end)
end)
