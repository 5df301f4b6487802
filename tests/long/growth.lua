-- growth.lua - what one session does again and again must not add up: simulations with each kind of
-- output, pictures, studies, arrays, kernels, and runs that fail. Each kind has a process of its
-- own, which does it so many times. Prints for each how much memory a time has cost in the last
-- third, what malloc() gave away and what the process has, and how many files are open. Fails if
-- that is more than the limits.
--
-- On PoCL 3.1 a simulation leaves 11 to 14 kB that LLVM keeps: each program that is built and run
-- leaves 0.2 to 2 kB, from C without Mare as well. With NVIDIA's drivers, CUDA and OpenCL, a run
-- leaves 0.6 kB. Buffers, plans, streams and events leave nothing. With NetCDF-C 4.9.0 each file
-- that is opened leaves 1.7 kB. The threads of films leave fonts in cairo's cache until there are
-- 256 sizes of them, after about 90 films: what makes films is done three times as often.
--     build/mare tests/long/growth.lua [TIMES [DEVICE [KIND]]]

local device_name, only = arg[2] or 'auto', arg[3]
local times = tonumber(arg[1] or 90)
local limits = { in_use = 60, rss = 150 }       -- kB for each time

local device = require 'bindings.device'
local home = require 'bindings.home'
local json = require 'dkjson'
local lfs = require 'lfs'
local mare = require 'mare'
local memory_use = require 'tests.memory_use'
local trial = require 'tests.scenarios.trial'

local folder = trial.new_folder()

local function path(name) return folder .. '/' .. name end

-- ---- what is done ----

local kinds = {}

local function simulation(name, more)
    local options = { device = device_name, quiet = true }
    for key, value in pairs(more or { nx = 64, ny = 32 }) do options[key] = value end
    return mare.simulation(name or 'kelvin_helmholtz')(options)
end

-- One run, with these options.
local function run_with(options)
    return function()
        local sim = simulation()
        options.t_end = 0.05
        sim:run(options)
        sim:release()
    end
end

kinds.run = run_with {}
kinds.run_out = run_with { out = path 'x.nc', every = 0.01, variables = 'vorticity' }
kinds.run_image = run_with { image = path 'x.png' }
kinds.run_film = run_with { film = path 'x.gif', frames = 4 }
kinds.run_apng = run_with { film = path 'x.apng', frames = 4 }
kinds.run_series = run_with { series = path 's.nc' }
kinds.run_checkpoint = run_with { checkpoint = path 'x.ck', checkpoint_every = 0.02,
    out = path 'c.nc' }

function kinds.run_journal()
    run_with { json_log = path 'x.json' } ()
    os.remove(path 'x.json')
end

function kinds.restart()
    local first = simulation()
    first:step(2)
    first:save(path 'r.ck')
    first:release()
    local later = simulation(nil, { nx = 64, ny = 32, restart = path 'r.ck' })
    later:step(2)
    later:release()
end

-- A simulation that nobody releases.
function kinds.dropped() simulation():step(2) end

local lasting

local function kept()
    lasting = lasting or simulation()
    lasting:step(1)
    return lasting
end

function kinds.again()
    kept():run { steps = kept().steps + 4, out = path 'x.nc', image = path 'x.png' }
end

function kinds.reset()
    kept():reset()
    kept().cfl = 0.3
end

function kinds.picture() kept():plot('vorticity'):save(path 'p.png') end

function kinds.screen() tostring(kept():plot 'rho') end

function kinds.curve() mare.plot(math.sin, { from = 0, to = 6.3 }):save(path 'c.png') end

function kinds.field()
    local rho = kept():field 'rho'
    assert(rho:at(0, 3) > 0 and #rho:column(3) > 0)
end

function kinds.save()
    kept():save(path 'v.nc')
    kept():save(path 'v.png')
end

function kinds.study()
    mare.study { scenario = 'sod', options = { t_end = 0.01, device = device_name },
        over = { nx = { 16, 32 } }, measure = function(result) return { e = result.error.rho } end }
end

function kinds.finish() simulation('sod', { nx = 32, image = 'none' }):finish() end

-- ---- oceans ----

local function ocean(more)
    local desc = {
        title = 'channel', grid = mare.grid { nx = 24, ny = 8, x = { 0, 24e3 }, y = { 0, 8e3 } },
        boundaries = 'reflective', initial = function(x) return 1e-5 * x, 0, 0 end,
        options = { device = device_name, quiet = true, t_end = 400, precision = 'float' },
        scheme = mare.ocean { scheme = 'nonlinear', depth = 50 },
    }
    for key, value in pairs(more) do desc[key] = value end
    return mare.run(desc)
end

function kinds.ocean_drifters()
    ocean { drifters = { places = { { 5e3, 4e3 }, { 9e3, 4e3 } }, every = 100,
        path = path 'd.nc' } }:release()
end

function kinds.ocean_analysis()
    local analysis = mare.harmonics { constituents = { 'M2' }, from = 0 }
    local sim = ocean { every_steps = { { 2, function(sim) analysis:take(sim) end } } }
    analysis:result()
    analysis:release()
    sim:release()
end

function kinds.ocean_gauges()
    ocean { gauges = { { name = 'a', x = 5e3, y = 4e3 } }, series = { path = path 'g.nc' } }
        :release()
end

-- ---- arrays and kernels ----

local function opened() return mare.device.open(device_name) end

function kinds.arrays()
    local x = mare.linspace(0, 1, 10000, { device = opened() })
    local y = mare.where(x:gt(0.5), mare.sin(x) * 2, x ^ 2 + 1)
    assert(y:sum():item() > 0)
    assert(#tostring(y:reshape(100, 100):transpose()) > 0)
end

function kinds.buffers()
    local x = opened():buffer { type = 'float', count = 100000 }
    x:fill(1)
    assert(x:download()[3] == 1)
end

function kinds.kernel()
    local x = opened():buffer { type = 'float', count = 1000 }
    mare.kernel(function(i, a, y)
        if i < y.count then y[i] = a * i end
    end)(1000, 2.0, x)
    assert(x:download()[3] == 6)
end

function kinds.equations()
    local sim = simulation('traffic', { nx = 32 })
    sim:step(4)
    sim:release()
end

function kinds.zoom()
    mare.mandelbrot.zoom { device = opened(), centre = 'published', width = 3, zoom = 10,
        frames = 2, precision = 'float', size = { 40, 40 }, samples = 1, iterations = 100,
        colours = 'magma', period = 6, film = path 'm.gif', rate = 10, quiet = true }
end

-- ---- files ----

function kinds.netcdf()
    if not trial.slurp(path 'v.nc') then kinds.save() end
    local file = require('bindings.netcdf').open(path 'v.nc')
    for _, v in ipairs(file:variables()) do file:get(v.name) end
    file:attributes()
    file:close()
end

-- ---- what fails ----

function kinds.refused()
    local sim = simulation()
    assert(not pcall(sim.run, sim, { t_end = 1, out = path 'none/x.nc' }))
    assert(not pcall(sim.run, sim, { t_end = 1, colour = 3 }))
    assert(not pcall(mare.simulation 'sod', { nx = -1 }))
    sim:release()
end

-- A run with files that does not come to its end: { initial, at } and what it says.
local function failing(desc, word)
    for key, value in pairs {
        title = 'bad', grid = mare.grid { nx = 16, ny = 16, x = { 0, 1 }, y = { 0, 1 } },
        scheme = mare.euler { gamma = 1.4 }, boundaries = 'periodic',
        options = { device = device_name, quiet = true, t_end = 1, precision = 'float',
            out = path 'bad.nc', film = path 'bad.gif', series = path 'bad.s.nc' },
    } do desc[key] = value end
    local ok, failure = pcall(mare.run, desc)
    assert(not ok and tostring(failure):find(word), failure)
end

function kinds.invalid()
    failing({ initial = function(x) return 1, x < 0.5 and 1e9 or -1e9, 0, 1e-9 end }, 'invalid')
end

function kinds.stopped()
    failing({ initial = function() return 1, 0, 0, 1 end,
        at = { { 0.1, function() error 'stopped here' end } } }, 'stopped here')
end

local films = { run_film = true, run_apng = true, stopped = true, invalid = true, zoom = true }

-- ---- measuring ----

local function open_files()
    local count = 0
    for _ in lfs.dir '/proc/self/fd' do count = count + 1 end
    return count
end

-- Does it so many times in this process; prints a table of numbers.
local function try(kind)
    local samples = {}
    if films[kind] then times = 3 * times end
    for k = 1, times do
        kinds[kind]()
        if k % math.ceil(times / 9) == 0 then
            memory_use.trim()
            samples[#samples + 1] = memory_use.measure()
            samples[#samples].files_open = open_files()
            if only then print(('%6d%s'):format(k, memory_use.row(samples[#samples]))) end
        end
    end
    local each = 1024 / (times / 3)
    print('FOUND ' .. json.encode { in_use = each * memory_use.growth(samples, 'in_use'),
        rss = each * memory_use.growth(samples, 'rss'), processor = os.clock() / times,
        files_open = memory_use.growth(samples, 'files_open') })
end

local function record(found)
    local text = json.encode { benchmark = 'growth', times = times, device = device_name,
        commit = device.commit, kinds = found, date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
    local file = os.getenv 'MARE_RECORDS' and assert(io.open(os.getenv 'MARE_RECORDS', 'a'))
    if file then
        file:write(text, '\n')
        file:close()
    end
end

if only then
    try(only)
    trial.remove(folder)
    os.exit(0)
end

local names, all, failed = {}, {}, 0
for kind in pairs(kinds) do names[#names + 1] = kind end
table.sort(names)
print(('%-16s %10s %10s %6s'):format('each time:', 'in use, kB', 'rss, kB', 'files'))
for _, kind in ipairs(names) do
    local _, said = trial.status_of(("'%s' '%s/tests/long/growth.lua' %d '%s' %s"):format(
        home.launcher, home.root, times, device_name, kind))
    local found = json.decode(said:match 'FOUND (%b{})' or 'null')
    local is_good = found and found.in_use <= limits.in_use and found.rss <= limits.rss
        and found.files_open <= 0
    failed = failed + (is_good and 0 or 1)
    if found then
        print(('%-16s %10.1f %10.1f %6.0f%s'):format(kind, found.in_use, found.rss,
            found.files_open, is_good and '' or '   too much'))
    else
        print(kind .. ' ended: ' .. said)
    end
    all[kind] = found or said
end
record(all)
trial.remove(folder)
os.exit(failed == 0 and 0 or 1)
