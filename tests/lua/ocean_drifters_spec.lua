-- Tests drifters: how well they follow a current, where they stop, and that
-- neither parts nor a restart change a bit of their tracks.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local literal = require 'mare.base.literal'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local turns = require 'tests.turns'

require 'tests.share'()
local trial = dofile(home.root .. '/tests/scenarios/trial.lua')

require 'tests.lua.drift'       -- water that goes on as it began, but for the wind; dt is cfl

local folder

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

local function message(f, ...)
    local ok, err = pcall(f, ...)
    assert.is_false(ok)
    return type(err) == 'table' and err.message or tostring(err)
end

-- Runs 40 x 40 cells of 1 m, 10 m deep. spec: { scheme, initial, depth, wind,
-- boundaries, drifters }; its other fields are options. Returns the tracks of
-- the drifters.
local function run(spec, grid)
    local given = { device = trial.device, precision = 'double', quiet = true, cfl = 0.5,
        t_end = 5 }
    for _, name in ipairs { 'cfl', 't_end', 'decompose', 'checkpoint', 'restart', 'device',
        'json_log' } do
        if spec[name] ~= nil then given[name] = spec[name] end
    end
    mare.options.source = given
    local ok, result = pcall(function()
        local o = mare.options { title = 'drifters', mare.options.simulation }
        return mare.run {
            title = 'drifters', options = o, boundaries = spec.boundaries or 'reflective',
            grid = mare.grid(grid or { nx = 40, ny = 40, x = { 0, 40 }, y = { 0, 40 } }),
            scheme = mare.ocean { scheme = spec.scheme or 'drift', depth = spec.depth or 10,
                wind = spec.wind, rho = 1000 },
            initial = spec.initial, drifters = spec.drifters or nil,
        }
    end)
    mare.options.source = {}
    if not ok then error(result, 0) end
    local tracks = result.tracks
    if spec.chart then mare.drifters.chart(spec.chart, result) end
    result:release()
    return tracks
end

local function last(list) return list[#list] end

local spin = 0.1

local function around(x, y) return 0, -spin * (y - 20), spin * (x - 20) end

-- Returns the distance of drifters on a rotating disc from their exact places
-- after a turn and a bit.
local function error_of(scheme, cfl)
    local tracks, worst = run { scheme = scheme, cfl = cfl, t_end = 64, initial = around,
        drifters = { places = { { 30, 20 }, { 20, 25.3 }, { 8.1, 14.2 } } } }, 0
    for k, start in ipairs { { 30, 20 }, { 20, 25.3 }, { 8.1, 14.2 } } do
        local c, s, dx, dy = math.cos(6.4), math.sin(6.4), start[1] - 20, start[2] - 20
        local x, y = last(tracks[k].x) - 20 - (c * dx - s * dy), last(tracks[k].y) - 20
            - (s * dx + c * dy)
        worst = math.max(worst, math.sqrt(x * x + y * y))
    end
    return worst
end

describe('drifters', function()
    for _, scheme in ipairs { 'drift', 'drift_on_faces' } do
        it('turn with a disc, at second order, ' .. scheme, function()
            local coarse, fine = error_of(scheme, 1), error_of(scheme, 0.25)
            assert.is_true(coarse < 0.05, coarse)
            local order = math.log(coarse / fine) / math.log(4)
            assert.is_true(order > 1.95 and order < 2.05, order)
        end)

        it('go with a current that changes, ' .. scheme, function()
            -- from rest by 2 N/m2 on 10 m: a = 2e-4 m/s2; straight in time, so exact
            local tracks = run { scheme = scheme, wind = { 2, -1 }, t_end = 100, cfl = 0.9,
                boundaries = 'periodic', initial = function() return 0, 0, 0 end,
                drifters = { places = { { 20, 20 } }, every = 25 } }
            assert.same({ 0, 25, 50, 75, 100 }, tracks.time)
            for r, t in ipairs(tracks.time) do
                assert.near(20 + 1e-4 * t * t, tracks[1].x[r], 1e-9)
                assert.near(20 - 0.5e-4 * t * t, tracks[1].y[r], 1e-9)
            end
        end)
    end

    it('stop on land, and stay', function()
        local function depth(x) return x > 30 and 0 / 0 or 10 end
        local tracks = run { depth = depth, t_end = 20, boundaries = 'periodic',
            initial = function() return 0, 1, 0.25 end,
            drifters = { places = { { 20.3, 10 }, { 29.9, 12.7 }, { 1, 1 } }, every = 1 } }
        assert.near(30, last(tracks[1].x), 1e-6)
        assert.near(10 + 0.25 * 9.7, last(tracks[1].y), 1e-6)
        assert.same({ 'afloat', 'beached' }, { tracks[1].fate[10], tracks[1].fate[11] })
        assert.equal(tracks[1].x[12], last(tracks[1].x))
        assert.near(30, tracks[2].x[2], 1e-6)
        assert.equal('afloat', last(tracks[3].fate))
        assert.near(21, last(tracks[3].x), 1e-9)
    end)

    it('wait where the water is gone, and slip along a closed shore', function()
        local tracks = run { t_end = 10, boundaries = 'periodic',
            depth = function(x) return x < 10 and -1 or 10 end,
            initial = function() return 0, 0, 1 end, drifters = { places = { { 5, 5 } } } }
        assert.same({ 5, 5, 'afloat' }, { last(tracks[1].x), last(tracks[1].y),
            last(tracks[1].fate) })
        tracks = run { scheme = 'drift_on_faces', t_end = 10, boundaries = 'periodic',
            depth = function(x) return x > 30 and 0 / 0 or 10 end,
            initial = function() return 0, 0, 1 end, drifters = { places = { { 29.9, 5 } } } }
        assert.near(15, last(tracks[1].y), 1e-9)
    end)

    it('go around a periodic domain, are held by walls and lost through other sides', function()
        local function east() return 0, 1, 0 end
        local places = { { 38, 20 } }
        local tracks = run { boundaries = 'periodic', initial = east,
            drifters = { places = places } }
        assert.near(3, last(tracks[1].x), 1e-9)
        assert.equal('afloat', last(tracks[1].fate))
        tracks = run { boundaries = 'reflective', initial = east, drifters = { places = places } }
        assert.equal('afloat', last(tracks[1].fate))
        assert.is_true(last(tracks[1].x) < 40)
        tracks = run { boundaries = 'outflow', initial = east, drifters = { places = places } }
        assert.equal('gone', last(tracks[1].fate))
        assert.near(40, last(tracks[1].x), 1e-6)
    end)

    for _, scheme in ipairs { 'drift', 'drift_on_faces' } do
        it('go no further than a cell at once, and stop where no number is, ' .. scheme, function()
            local function fast(x) return 0, x < 30 and 1e4 or 0 / 0, 0 end
            local tracks = run { scheme = scheme, t_end = 1, initial = fast,     -- four halves
                drifters = { places = { { 3.25, 20 }, { 39.5, 39.5 }, { 31, 1 } } } }
            for k, at in ipairs { { 7.25, 20 }, { 39.5, 39.5 }, { 31, 1 } } do
                assert.near(at[1], last(tracks[k].x), 1e-6)
                assert.near(at[2], last(tracks[k].y), 1e-6)
                assert.equal('afloat', last(tracks[k].fate))
            end
        end)
    end

    it('see degrees of longitude that are shorter in the north', function()
        local tracks = run({ t_end = 100, cfl = 1, boundaries = 'periodic',
            initial = function() return 0, 1, 0 end, drifters = { places = { { 1, 60.05 } } } },
            { nx = 20, ny = 10, x = { 0, 2 }, y = { 59.5, 60.5 },
                coordinates = 'longitude-latitude' })
        local arc = 6371000 * math.pi / 180 * math.cos(math.rad(60.05))
        assert.near(1 + 100 / arc, last(tracks[1].x), 1e-9)
    end)

    -- A wave in a bay, of which each step changes the current.
    local function bay(more)
        local places = {}
        for k = 1, 50 do
            places[k] = { 1 + 38 * mare.random.uniform(1, 2 * k),
                1 + 38 * mare.random.uniform(1, 2 * k + 1) }
        end
        local spec = { scheme = 'linear', t_end = 40, cfl = 0.7,
            initial = function(x, y)
                return 2 * math.exp(-((x - 12) ^ 2 + (y - 20) ^ 2) / 30), 0.4 * math.sin(y), 0.3
            end,
            drifters = { places = places, every = 4 } }
        for key, value in pairs(more or {}) do spec[key] = value end
        return run(spec)
    end

    local in_turn = turns(it, 2)

    in_turn('have the same bits however the grid is split, and where a run goes on', function()
        local whole = bay()
        assert.is_true(math.abs(last(whole[1].x) - whole[1].x[1]) > 0.5)
        for _, split in ipairs { { 3, 1 }, { 2, 3 } } do
            assert.same(whole, bay { decompose = split })
        end
        bay { t_end = 20, checkpoint = folder .. '/c' }
        assert.same(whole, bay { restart = folder .. '/c', decompose = { 2, 1 } })
        fails.says(message(bay,
            { restart = folder .. '/c', drifters = { places = { { 1, 1 } } } }), 'drifters',
            'had 50', 'not 1', 'continued')
        local other = {}
        for k = 1, 50 do other[k] = { 1 + k / 2, 3 } end
        fails.says(message(
            bay, { restart = folder .. '/c', drifters = { places = other } }), 'drifters',
            'its 50', 'continued', 'places')
        fails.says(message(bay, { restart = folder .. '/c', drifters = false }), 'drifters',
            'had 50', 'not 0', 'continued')
    end)

    it('begin, as is told, where the run before had none', function()
        local path, log = folder .. '/c', folder .. '/log'
        bay { t_end = 20, checkpoint = path, drifters = false }
        local tracks = bay { restart = path, json_log = log }
        assert.same({ 20, 24, 28, 32, 36, 40 }, tracks.time)
        fails.says(trial.slurp(log), 't = 19.', '/c', 'drifters', 'begin')
    end)

    in_turn('have the same bits on two devices, which PoCL makes of any CPU', function()
        local text = [[
            local mare, literal = require 'mare', require 'mare.base.literal'
            local names = {}
            for _, info in ipairs(mare.device.list()) do
                if info.kind == 'cpu' then names[#names + 1] = info.name end
            end
            if #names < 2 then return print 'one device' end
            local places = {}
            for k = 1, 40 do places[k] = { 3.1 + 0.85 * k, 37.2 - 0.86 * (k * 17 % 40) } end
            for _, case in ipairs { { 1, 1, names[1] }, { 2, 1 }, { 2, 2 } } do
                mare.options.source = { device = case[3] or names[1] .. ',' .. names[2],
                    decompose = { case[1], case[2] }, cfl = 0.7, t_end = 30, quiet = true }
                local sim = mare.run { title = 'two', boundaries = 'periodic',
                    options = mare.options { title = 'two', mare.options.simulation },
                    grid = mare.grid { nx = 40, ny = 40, x = { 0, 40 }, y = { 0, 40 } },
                    scheme = mare.ocean { scheme = 'linear', depth = 10 },
                    initial = function(x, y) return math.sin(y / 5), 0.5, 0.3 end,
                    drifters = { places = places, every = 3 } }
                print(literal.encode(sim.tracks), #sim.devices)
            end]]
        local path, lines = folder .. '/two.lua', {}
        trial.spit(path, text)
        local status, output = trial.status_of(('POCL_DEVICES="pthread pthread" \'%s\' %s'):format(
            home.launcher, path))
        if output:find 'one device' then
            pending 'needs PoCL'
            return
        end
        for line, count in output:gmatch '(%b{})%s(%d+)\n' do
            lines[#lines + 1] = { line, count }
        end
        assert.equal(0, status, output)
        assert.same({ '1', '2', '2' }, { lines[1][2], lines[2][2], lines[3][2] })
        local tracks, across, round = literal.decode(lines[1][1]), 0, 0
        for _, one in ipairs(tracks) do     -- from one half to the other, and from side to side
            local x, y = last(one.x) - one.x[1], last(one.y) - one.y[1]
            if (one.x[1] < 20) ~= (last(one.x) < 20) then across = across + 1 end
            if math.abs(x) > 20 or math.abs(y) > 20 then round = round + 1 end
        end
        assert.is_true(across > 3 and round > 3, across .. ' ' .. round)
        assert.is_true(lines[1][1] == lines[2][1] and lines[1][1] == lines[3][1])
    end)

    it('are in a CF trajectory file', function()
        local path = folder .. '/tracks.nc'
        local tracks = bay { drifters = { path = path, every = 20,
            places = { { 5, 6 }, { 7, 8.5 } } } }
        local file = netcdf.open(path)
        assert.equal('trajectory', file:attributes().featureType)
        assert.equal('trajectory_id', file:attributes('trajectory').cf_role)
        assert.same({ 2, 3 }, file:variable('x').shape)
        local x, t = file:get 'x', file:get 'time'
        assert.equal(tracks[2].x[3], x[5])
        assert.equal(20, t[4])
        file:close()
        if trial.status_of 'command -v compliance-checker' ~= 0 then
            pending 'needs compliance-checker'
            return
        end
        local status, text = trial.status_of('compliance-checker --test cf:1.8 ' .. path)
        assert.equal(0, status, text)
    end)

    it('are drawn over the depth', function()
        bay { chart = folder .. '/chart.png' }
        assert.matches('^\137PNG', trial.slurp(folder .. '/chart.png'))
    end)

    it('are refused on land, outside, or where nothing flows', function()
        local function refused(places, more)
            local spec = { initial = around, drifters = { places = places, path = folder .. '/t' } }
            for key, value in pairs(more or {}) do spec[key] = value end
            local text = message(run, spec)
            assert.equal('', trial.listing(folder))
            return text
        end
        assert.matches('drifters: 2 is at %(41, 3%), must be within 0 to 40, 0 to 40',
            refused { { 1, 1 }, { 41, 3 } })
        assert.matches('drifters: 1 is at %(35, 3%), which is land', refused({ { 35, 3 } },
            { depth = function(x) return x > 30 and 0 / 0 or 10 end }))
        assert.matches('drifters: no places', refused {})
    end)
end)
