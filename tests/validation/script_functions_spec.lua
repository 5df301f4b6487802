-- Functions of a script in a simulation: sides, changes of the state and initial states that are
-- computed on the device, and what files of such a run hold and refuse.

-- luacheck: ignore 212 (functions take what simulations hand them)

local fails = require 'tests.fails'
local lfs = require 'lfs'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local options = require 'mare.base.options'
local record = require 'mare.translate.record'
local rerun = require 'mare.launcher.rerun'
local support = require 'tests.validation.support'

local amplitude = 0.2
local device = support.device or 'auto'

local function at_rest() return 1, 0.5, 0, 1 end

local function simulation(desc)
    return require('mare.run.simulation').new {
        grid = mare.grid { nx = 24, ny = 20, x = { 0, 1 }, y = { 0, 2 } },
        scheme = desc.scheme or mare.euler {},
        boundaries = desc.boundaries or 'periodic', initial = desc.initial or at_rest,
        options = { device = device, precision = 'double', maths = 'strict', cfl = 0.4,
            decompose = desc.decompose, initial_on = desc.on, quadrature = desc.quadrature },
    }
end

local function advanced(desc)
    local sim = simulation(desc)
    sim:aim(0.2)
    while sim.now.t < 0.2 do
        sim:step(64)
        sim:read()
    end
    return sim
end

local function largest_difference(a, b)
    local largest = 0
    for _, name in ipairs(a.scheme.fields) do
        local one, other = a:field(name), b:field(name)
        for k = 0, a.grid.cells - 1 do
            largest = math.max(largest, math.abs(one[k] - other[k]))
        end
    end
    return largest
end

describe('a side that is a function', function()
    local sides = { east = 'outflow', south = 'reflective',
        west = function(q, x, y, t, p)
            return 1 + amplitude * math.sin(3 * t + y), 0.5 + 0 * p.gamma, 0, 1
        end,
        north = function(q) return q.rho, q.u, q.v, q.p end }

    it('gives the bits of any split, and what a table gives', function()
        local whole = advanced { boundaries = sides }
        assert.equal(0, largest_difference(whole,
            advanced { boundaries = sides, decompose = { 2, 2 } }))
        local from_table = advanced { boundaries = { east = 'outflow', south = 'reflective',
            north = 'outflow',
            west = { kind = 'prescribed', times = { from = 0, to = 0.3, every = 0.001 },
                state = function(t, _, y) return 1 + amplitude * math.sin(3 * t + y), 0.5, 0, 1 end,
            } } }
        local from_function = advanced { boundaries = { west = sides.west, east = 'outflow',
            south = 'reflective', north = 'outflow' } }
        local off = largest_difference(from_function, from_table)
        assert.is_true(off < 1e-6, off)
    end)

    it('is refused with what is wrong', function()
        local function refused(words, f)
            fails(function() simulation { boundaries = f } end, 'MARE_ERROR_ARGUMENT', words)
        end
        refused('4 values are wanted, it gives 1', function(q) return q.rho end)
        refused("there is no 'E'", function(q) return q.E, 1, 1, 1 end)
        refused("'print'", function(q) return print(q), 1, 1, 1 end)
    end)
end)

describe('a change of the state', function()
    it('is computed on the device, at the steps that are asked for', function()
        local sim = simulation { decompose = { 2, 1 } }
        require('mare.run').loop(sim, { steps = 4, quiet = true,
            every_steps = { { 3, change = function(q, x) return 2 * q.rho, q.u, x, q.p end } } })
        local rho, v = sim:field 'rho', sim:field 'v'      -- at step 0 and at step 3
        assert.is_true(math.abs(rho[5] - 4) < 0.2, rho[5])
        assert.is_true(math.abs(v[5] - sim.grid:x_centre(5)) < 0.1, v[5])
        sim:change(function(q, _, y) return 3, 0, y, 1 end)
        assert.equal(3, sim:field 'rho' [30])
        assert.equal(sim.grid:y_centre(1), sim:field 'v' [30])
        fails(function() sim:change(function() return -1, 0, 0, 1 end) end, 'MARE_ERROR_STATE',
            'density -1')
    end)
end)

describe('an initial state', function()
    local factor = 1.5
    local function initial(x, y)
        if x > 0.5 then return factor, x * y, y, 2 end
        return 1 + math.exp(-x * x), x / (1 + y), math.sqrt(y), 1
    end

    it('is the same on the device and on the host, as means too', function()
        for _, points in ipairs { 1, 3 } do
            local host = simulation { initial = initial, on = 'host', quadrature = points }
            local other = simulation { initial = initial, on = 'device', quadrature = points,
                decompose = { 1, 2 } }
            assert.is_true(largest_difference(host, other) < 1e-14)
        end
    end)

    it('is computed by Lua where it cannot be a kernel, unless the device is wanted', function()
        local calls = 0
        local function counted(x, y)
            calls = calls + 1
            return at_rest(x, y)
        end
        simulation { initial = counted }
        assert.is_true(calls > 480)
        fails(function() simulation { initial = counted, on = 'device' } end,
            'MARE_ERROR_ARGUMENT', 'calls')
    end)
end)

describe('the record of a function', function()
    local rate, settings = 0.7, setmetatable({ dt = 0.1, unused = io.stdout }, {})
    local function helper(a) return a * rate end

    it('holds its text, and what it uses', function()
        local text = record.text(function(x) return helper(x) * settings.dt + math.sin(x) end)
        fails.says(text, 'function(x) return helper(x) * settings.dt + math.sin(x) end',
            'helper = function(a) return a * rate end', 'settings.dt = 0.1', 'rate = 0.7')
        assert.is_nil(text:find 'closes over')
    end)

    it('tells what no text can hold', function()
        assert.equal("'settings' (a table)",
            record.of(function() return next(settings) end).closes_over)
        assert.equal("'settings.unused' (a userdata)",
            record.of(function() return settings.unused end).closes_over)
    end)
end)

describe('files of a run with functions', function()
    local folder
    before_each(function()
        folder = os.tmpname()
        os.remove(folder)
        assert(lfs.mkdir(folder))
    end)
    after_each(function() os.execute(("rm -r '%s'"):format(folder)) end)

    local slow = 0.5

    local function run(more, change)
        local words = { '--quiet', '--steps=3', '--device=' .. device }
        for _, word in ipairs(more) do words[#words + 1] = word end
        local kept, script = options.source, options.script
        options.source = words
        options.script = { name = folder .. '/run.lua', text = '-- the text of the run' }
        local ok, failure = pcall(function()
            mare.run { options = options { title = 'functions', options.simulation },
                grid = mare.grid { nx = 16, ny = 16, x = { 0, 1 }, y = { 0, 1 } },
                scheme = mare.euler {}, initial = at_rest,
                boundaries = { east = 'outflow', south = 'outflow', north = 'outflow',
                    west = function(q, x, y, t) return 1, slow, 0, 1 end },
                every_steps = { { 2, change = change
                    or function(q) return q.rho, slow * q.u, q.v, q.p end } } }
        end)
        options.source, options.script = kept, script
        if not ok then error(failure, 0) end
    end

    it('hold the text and the numbers, and go on with the same only', function()
        local file, saved = folder .. '/a.nc', folder .. '/a.ck'
        run { '--out=' .. file, '--checkpoint=' .. saved }
        local open = netcdf.open(file)
        local attributes = open:attributes()
        open:close()
        fails.says(attributes.function_every_steps_1, 'slow * q.u', 'slow = 0.5')
        fails.says(attributes.boundary_west, 'return 1, slow, 0, 1', 'slow = 0.5')
        assert.truthy(attributes.function_initial:find '1, 0.5, 0, 1')
        run { '--restart=' .. saved, '--steps=4' }
        slow = 0.25
        local ok, failure = pcall(run, { '--restart=' .. saved, '--steps=4' })
        slow = 0.5
        assert.is_false(ok)
        fails.says(tostring(failure), 'west = where slow = 0.5 then, where slow = 0.25 now')
    end)

    it('refuse functions that close over what they cannot hold, by name', function()
        local file, saved, outside = folder .. '/a.nc', folder .. '/a.ck', { 1 }
        local function change(q) return q.rho, q.u, q.v, outside[1] * q.p end
        run({ '--out=' .. file, '--checkpoint=' .. saved }, change)
        run({ '--restart=' .. saved, '--steps=4' }, change)     -- a number of a table is held
        local list = { { { 1 } } }
        local function closed(q) return q.rho, q.u, q.v, list[1][1][1] * q.p end
        run({ '--out=' .. file, '--checkpoint=' .. saved }, closed)
        local ok, failure = pcall(run, { '--restart=' .. saved, '--steps=4' }, closed)
        assert.is_false(ok)
        fails.says(tostring(failure), 'every_steps 1', "'list.1' (a table)")
        ok, failure = pcall(rerun.prepare, file, {}, { trust = true })
        assert.is_false(ok)
        fails.says(tostring(failure), 'every_steps_1', "'list.1' (a table)")
    end)

    it('run a text that is no scenario at hand only where it is trusted', function()
        local file = folder .. '/a.nc'
        run { '--out=' .. file }
        local ok, failure = pcall(rerun.prepare, file, {})
        assert.is_false(ok)
        fails.says(tostring(failure), '--trust', folder .. '/run.lua')
        assert.equal('-- the text of the run', select(2, rerun.prepare(file, {}, { trust = true })))
        local script = assert(io.open(folder .. '/run.lua', 'w'))
        script:write '-- the text of the run'
        script:close()
        assert.equal('-- the text of the run', select(2, rerun.prepare(file, {})))
    end)
end)
