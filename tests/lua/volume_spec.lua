-- Simulations in three dimensions, of the equation of the scenario sound: one program
-- for all of them.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local slabs = require 'mare.volume.slabs'
local trial = require 'tests.scenarios.trial'

require 'tests.share'()

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local folder

-- Returns what the scenario returns, with these options.
local function run(values)
    local options = mare.options
    local source = options.source
    values.device, values.quiet, values.precision = device, true, 'double'
    options.source, options.program = values, 'sound'
    local ok, result = pcall(dofile, home.root .. '/scenarios/sound.lua')
    options.source = source
    if not ok then error(result, 0) end
    return result
end

local scheme        -- of the first run

local function cube(n) return { nx = n, ny = n, nz = n, image = 'none' } end

-- Makes a simulation of waves that have no symmetry, and takes five steps: `second` ones of a pair
-- first, if so told. Returns its pressure.
local function waves(desc)
    local sim = mare.volume.simulation { scheme = scheme, boundaries = desc.boundaries,
        slabs = desc.slabs, options = { device = device, precision = 'double', dt = desc.dt },
        devices = desc.devices,
        grid = { nx = 12, ny = 10, nz = desc.nz or 12, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1 } },
        initial = desc.initial or function(x, y, z)
            return math.sin(6 * x + 4 * y - 5 * z) + x, z, x * y, y - x
        end }
    local before = sim:integral 'p'
    sim:aim(1)
    local steps = sim.plans[1]
    for k = 1, desc.second and 5 or 0 do (k % 2 == 1 and steps.second or steps.first):run(1) end
    for _, n in ipairs(desc.second and {} or desc.steps or { 5 }) do
        sim:step(n)
        if not desc.unread then sim:read() end
    end
    if desc.second then sim:read() end
    local p, sum = sim:field 'p', sim:integral 'p'      -- these wait for what was not read
    assert.equal(5, sim.now.steps)
    fails(function() sim:step(-3) end, 'MARE_ERROR_ARGUMENT', 'step(-3)')
    fails(function() sim:field('p', { i = 0, j = 0, k = 0, nx = 13, ny = 1, nz = 1 }) end,
        'MARE_ERROR_ARGUMENT', 'nx = 13')
    fails(function() sim:slice('p', 'z', 2) end, 'MARE_ERROR_ARGUMENT', 'slice at z = 2')
    sim:release()
    return p, sum - before
end

local function same(a, b, place, nz)
    for at = 0, 12 * 10 * (nz or 12) - 1 do
        if a[at] ~= b[place and place(at) or at] then return false end
    end
    return true
end

describe('a volume', function()
    setup(function() folder = trial.new_folder() end)
    teardown(function() trial.remove(folder) end)

    it('has the second order, and writes files and pictures', function()
        local out, gif = folder .. '/volume.nc', folder .. '/volume.gif'
        local coarse = run(cube(12))
        local o = cube(24)
        o.out, o.film, o.frames, o.film_width = out, gif, 1, 200
        o.slice = 'y'
        local fine = run(o)
        scheme = fine.sim.scheme
        assert.is_true(fine.error < coarse.error / 3, fine.error)
        local file = netcdf.open(out)
        assert.same({ 2, 24, 24, 24 }, file:variable('v_z').shape)
        assert.same({ 'time', 'z', 'y', 'x' }, file:variable('p').dimensions)
        local p, now = file:get('p', { 1, 3, 2, 1 }, { 1, 1, 1, 1 }), fine.sim:field 'p'
        assert.equal(now[1 + 24 * (2 + 24 * 3)], p[0])
        file:close()
        assert.is_true(os.remove(out) and os.remove(gif))
    end)

    it('keeps its bits in slabs, and what is conserved', function()
        local whole, change = waves { boundaries = 'reflective' }
        assert.is_true(math.abs(change) < 1e-14, change)
        assert.is_true(same(whole, (waves { boundaries = 'reflective', slabs = 3 })))
        local around = waves { boundaries = 'periodic' }
        assert.is_false(same(whole, around))
        assert.is_true(same(around, (waves { boundaries = 'periodic', slabs = 2 })))
        assert.is_true(same(around, (waves { boundaries = 'periodic', steps = { 1, 3, 1 } })))
        assert.is_true(same(around, (waves { boundaries = 'periodic', steps = { 2, 1, 2 },
            unread = true })))
        waves { boundaries = 'outflow' }
        local two = { mare.device.open(device), mare.device.open(device) }
        assert.is_true(same((waves { boundaries = 'periodic', nz = 19 }),
            (waves { boundaries = 'periodic', nz = 19, devices = two }), nil, 19))
    end)

    it('has sides that are functions of the script', function()
        local function side(q, x, y, z, t, p)
            return q.p + x * z - p.density * t, q.v.z, 0.1 * y, -q.v.x
        end
        local whole = waves { boundaries = side }
        assert.is_true(same(whole, (waves { boundaries = side, slabs = 3, steps = { 1, 2, 2 } })))
        local some = { west = 'periodic', east = 'periodic', south = side, north = 'outflow',
            low = 'periodic', high = 'periodic' }
        local part = waves { boundaries = some }
        assert.is_true(same(part, (waves { boundaries = some, slabs = 2 })))
        assert.is_false(same(whole, part))
    end)

    it('has its state after steps that nobody has read', function()
        local function make()
            local sim = mare.volume.simulation { scheme = scheme, boundaries = 'periodic',
                options = { device = device, precision = 'double' }, grid = { nx = 12, ny = 10,
                    nz = 12, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1 } },
                initial = function(x, y, z) return math.sin(6 * x - 5 * z), z, x * y, y end }
            sim:aim(1)
            return sim
        end
        local a, b = make(), make()
        a:step(2)
        a:read()
        local p, t = a:field 'p', a.now.t
        local function fresh(sim)
            sim:load { state = b.saved, t = 0, steps = 0, rate = b.rate }
            sim:aim(1)
            sim:step(2)
        end
        b.saved, b.rate = b.fields:host { count = b:saved_count() }, b.now.rate
        b:save(b.saved)
        fresh(b)
        assert.is_true(same(p, (b:field 'p')))
        fresh(b)
        assert.equal(a:integral 'p', b:integral 'p')
        fresh(b)
        assert.equal(a:slice('p', 'z').data[17], b:slice('p', 'z').data[17])
        fresh(b)
        local now = b.fields:host { count = b:saved_count() }
        b:save(now)
        assert.is_true(same(p, now.data))
        fresh(b)
        b:aim(t)
        b:step(1)
        assert.equal(2, b:read().steps)
        assert.is_true(same(p, (b:field 'p')))
        for call, text in pairs {
            [function() b:aim 'x' end] = 'volume: aim(x)',
            [function() b:aim(0 / 0) end] = 'a time is wanted',
            [function() b:aim(0) end] = 'volume: aim(0): the state is at t = ',
            [function() b:load {} end] = 'volume: load: state',
            [function() b:load { state = now, steps = 1 } end] = 'volume: load: t = nil',
            [function() b:load { state = now, t = 0, steps = 1.5 } end] = 'steps = 1.5',
            [function() b:load() end] = 'volume: load',
            [function() b:save() end] = 'volume: save',
            [function() b:save(b.fields:host { count = 3 }) end] = 'this memory 24',
        } do fails(call, 'MARE_ERROR_ARGUMENT', text) end
        a:release()
        b:release()
    end)

    it('gives the transposed bits of a transposed problem', function()
        local a = waves { boundaries = 'reflective', dt = 0.02 }
        local b = waves { boundaries = 'reflective', dt = 0.02, second = true, initial = function(x,
            y, z)
            return math.sin(6 * z + 4 * y - 5 * x) + z, y - z, z * y, x
        end }
        assert.is_true(same(a, b, function(at)
            local i, j, k = at % 12, math.floor(at / 12) % 10, math.floor(at / 120)
            return k + 12 * (j + 10 * i)
        end))
    end)

    -- Returns the times and all pressures of a file.
    local function content(path)
        local file, list = netcdf.open(path), {}
        local n = file:dimensions().time
        local t = file:get('time', { 0 }, { n })
        local p = file:get('p', { 0, 0, 0, 0 }, { n, 12, 12, 12 })
        file:close()
        for k = 0, n - 1 do list[k + 1] = t[k] end
        for k = 0, n * 12 ^ 3 - 1 do list[n + k + 1] = p[k] end
        return table.concat(list, ' ')
    end

    it('goes on from a checkpoint with the same bits, and continues its files', function()
        local saved, out = folder .. '/volume.ck', folder .. '/volume_on.nc'
        local other = folder .. '/volume_whole.nc'
        local series = folder .. '/volume_series.nc'
        local function go(changes)
            return run(require 'bindings.tables'.merged(cube(12), { series_every = 0.05,
                gauges = '0.3,0,-0.2', every = 0.05 }, changes)).sim
        end
        local whole = go { series = series, out = other }
        go { steps = 3, checkpoint = saved, series = series, out = out }
        local on = go { restart = saved, slabs = 2, out = out, series = series }
        local a, b, k = whole:field 'p', on:field 'p', 0
        while k < 12 ^ 3 and a[k] == b[k] do k = k + 1 end
        assert.equal(12 ^ 3, k)
        assert.equal(whole.now.t, on.now.t)
        assert.same(whole.series, on.series)
        local energy, gauge = whole.series.total_energy, whole.series.gauges['1']
        local sum, g = whole:integral 'energy', whole.grid
        assert.is_true(math.abs(energy[#energy] / sum - 1) < 1e-12 and #energy > 3)
        assert.equal(a[g:cell('x', 0.3) + 12 * (g:cell('y', 0) + 12 * g:cell('z', -0.2))],
            gauge.p[#energy])
        assert.equal(g:centre('z', g:cell('z', -0.2)), gauge.z)
        local file = netcdf.open(series)
        assert.equal(energy[2], file:get('total_energy', { 1 }, { 1 })[0])
        file:close()
        assert.is_true(content(other) == content(out))
        os.remove(out)
        fails(function() go { restart = saved, out = out, series = series } end, nil,
            'is there as the checkpoint knew it')
        fails(function() run { nx = 12, ny = 12, nz = 13, image = 'none', restart = saved } end,
            nil, 'nz = 12 then, 13 now')
        for _, path in ipairs { saved, other, series } do assert.is_true(os.remove(path)) end
        os.remove(saved .. '.1')
    end)

    it('refuses what it cannot do', function()
        local function refuse(changes, text)
            local desc = { scheme = scheme, boundaries = 'periodic', initial = function() end,
                options = { device = device, precision = 'double' },
                grid = { nx = 8, ny = 8, nz = 8, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1 } } }
            for name, value in pairs(changes) do desc[name] = value end
            fails(function() mare.volume.simulation(desc) end, nil, text)
        end
        refuse({ scheme = mare.euler {} }, 'dimensions = 3')
        refuse({ boundaries = { west = 'fixed' } }, 'boundary west = fixed')
        refuse({ boundaries = 'open' }, 'boundary west = open')
        refuse({ boundaries = function(q) return q.p end }, 'boundary west: state: 4 values')
        for _, count in ipairs { 3, 0, 1.5 } do
            refuse({ slabs = count }, ('slabs = %g: must be a whole number from 1 to 2'):format(
                count))
        end
        local large = { nx = 2 ^ 20, ny = 2 ^ 15, nz = 4, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1 } }
        refuse({ grid = large }, 'fewer cells')
        large.nz = 8
        refuse({ grid = large }, 'more slabs are wanted, at most 2')
        local high = require('mare.volume.grid').new { nx = 8, ny = 65534, nz = 8, x = { 0, 1 },
            y = { 0, 1 }, z = { 0, 1 } }
        fails(function()
            slabs.new { grid = high, names = { 'a' }, precision = 'float', count = 1,
                devices = { { name = 'cuda:0', info = { name = 'cuda:0', max_buffer = 0 } } },
                ghosts = { x = 0, y = 2 } }
        end, nil, '65534 cells along y and ghost cells, cuda:0 takes up to 65535 rows')
        refuse({ initial = function() return 1, 'x' end }, 'gives string as value 2')
        refuse({ initial = function(x) return x < 0.9 and 1 or 0 / 0, 0, 0, 0 end },
            'p nan in cell (7, 0, 0) at x = 0.9375')
        refuse({ initial = 1 }, 'initial')
        refuse({ scheme = mare.equations { dimensions = 3, fields = { 'u' }, scheme = 'ssp_rk2',
            flux = function(q) return q.u end, speed = function() return 1, 1 end } },
            'must be muscl_hancock')
        refuse({ grid = { nx = 8 } }, 'nx and x')
        refuse({ grid = { nx = 8, ny = 8, nz = 8, x = { 0, 0 / 0 } } }, 'finite')
        fails(function()
            mare.simulation { grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
                scheme = scheme, boundaries = 'periodic', initial = function() end }
        end, 'MARE_ERROR_ARGUMENT', 'mare.volume')
        fails(function() mare.volume.euler { gamma = 0 / 0 } end, nil, 'from 1.0001 to 100')
        local path = folder .. '/both.nc'
        fails(function()
            mare.volume { scheme = scheme, boundaries = 'periodic', initial = function() end,
                grid = { nx = 8, ny = 8, nz = 8, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1 } },
                options = { device = device, out = path, t_end = 1 }, series = { path = path } }
        end, nil, 'option --out and series of the script are one file')
    end)
end)
