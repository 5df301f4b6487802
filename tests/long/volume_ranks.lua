-- volume_ranks.lua - simulations in three dimensions over ranks: the data of all files, pictures
-- and films are those of one process, on 1 to 4 ranks with several slabs, with walls, a domain that
-- goes around and sides that are functions, sources, changes, series and gauges; a run goes on from
-- its checkpoint on other ranks; a rank that is killed ends all, and the run goes on.
--     build/mare tests/long/volume_ranks.lua [DEVICE [LAUNCHER]]
-- without LAUNCHER under each that is there.

local files = require 'bindings.files'
local launch = require 'tests.ranks.launch'
local lfs = require 'lfs'
local trial = require 'tests.scenarios.trial'

local device, only = arg[1] or 'auto', arg[2]
local failed, count = 0, 0

local folder = os.tmpname()
os.remove(folder)
lfs.mkdir(folder)

local function at(name) return folder .. '/' .. name end

local script = [[
    local mare = require 'mare'
    local o = mare.options { title = 'volume', mare.volume.options,
        { name = 'sides', default = 'around', help = 'of the domain' },
        { name = 'lost', default = -1, range = { -1, 9 }, help = 'rank that kills itself' } }
    local function side(q, x, y, z, t, p)
        return q.p + x * z - p.density * t, q.v.z, 0.1 * y, -q.v.x
    end
    local sides = { around = 'periodic', walls = 'reflective', functions = side,
        mixed = { west = 'periodic', east = 'periodic', south = side, north = 'outflow',
            low = 'reflective', high = 'outflow' } }
    local scheme = mare.equations { name = 'waves', dimensions = 3, options = o,
        fields = { 'p', mare.vector 'v' }, parameters = { stiffness = 1, density = 1 },
        flux = function(q, p) return p.stiffness * q.v.n, q.p / p.density, 0 * q.p, 0 * q.p end,
        speed = function(_, p)
            local c = math.sqrt(p.stiffness / p.density)
            return -c, c
        end,
        source = function(q, x, y, z, t, p) return x * math.sin(t + z) - 0.1 * q.p, y, 0, q.v.x end,
        variables = { { name = 'energy', value = function(q, p) return 0.5 * (q.p ^ 2
            / p.stiffness + p.density * (q.v_x ^ 2 + q.v_y ^ 2 + q.v_z ^ 2)) end } },
        integrals = { { name = 'all', variable = 'energy' }, { name = 'sum', variable = 'p' } } }
    local sim = mare.volume { title = 'volume', options = o, scheme = scheme,
        boundaries = sides[o.sides], gauges = { { name = 'g', x = 0.3, y = 0.9, z = 0.55 } },
        grid = { nx = 13, ny = 10, nz = 23, x = { 0, 1 }, y = { 0, 1 }, z = { 0, 1.5 } },
        initial = function(x, y, z)
            return math.sin(6 * x + 4 * y - 5 * z) + x ^ 2, z, x * y, y - x
        end,
        at = { { 0.04, function(sim)
            sim:change(function(q, x, y, z) return q.p + 0.01 * x * z, q.v.x, q.v.y, q.v.z end)
        end } },
        every_steps = { { 1, function(sim)
            if sim.now.steps == 6 and mare.ranks.rank == o.lost then
                os.execute 'kill -KILL $PPID'
            end
        end } } }
    if not o.quiet then print(('sum %.17g'):format(sim:integral 'p')) end
]]

local file = assert(io.open(at 'volume.lua', 'w'))
file:write(script)
file:close()

-- Returns what a run says, and its status. launcher: nil for one process
local function run(launcher, ranks, words)
    words = ('%s --device %s --every 0.05 %s'):format(at 'volume.lua', device, words)
    local command = launcher and launch.command(launcher, ranks, ''):gsub("%-e '' $", words)
        or launch.mare .. ' ' .. words
    local pipe = io.popen(command .. ' 2>&1; echo "status $?"')
    local text = pipe:read '*a'
    pipe:close()
    return text, launch.status(text)
end

local function outputs(name)
    local words = ('--out @.nc --series @s.nc --image @.png --film @.gif --frames 3 '
        .. '--film-width 200 --variables energy '):gsub('@', at(name))
    return words
end

-- Returns what differs between the files of two runs, or nil.
local function difference(a, b)
    for _, kind in ipairs { '.nc', 's.nc' } do
        if not files.size(at(b .. kind)) then return kind .. ' is missing' end
        local other = trial.data_of(at(b .. kind))
        for name, bytes in pairs(trial.data_of(at(a .. kind))) do
            if other[name] ~= bytes then return name .. ' of ' .. kind end
        end
    end
    for _, kind in ipairs { '.png', '.gif' } do
        if files.read(at(a .. kind)) ~= files.read(at(b .. kind)) then return kind end
    end
end

local function check(what, good, ...)
    count = count + 1
    if good then return end
    failed = failed + 1
    print(('FAILED %s: %s'):format(what, table.concat({ ... }, ' ')))
end

local function compare(what, reference, launcher, ranks, words)
    local text, status = run(launcher, ranks, outputs 'b' .. words)
    check(what, status == 0, text)
    if status ~= 0 then return end
    local found = difference(reference, 'b')
    check(what, not found, found or '')
    check(what, select(2, text:gsub('sum ', '')) == 1, text)
    os.execute('rm -f ' .. at 'b.*' .. ' ' .. at 'bs.nc')
end

local launchers = {}
launch.each(function(one)
    if not only or one == only then launchers[#launchers + 1] = one end
end)

local divisions = { { 1, 3 }, { 2 }, { 2, 5 }, { 3 }, { 4, 5 } }

for _, sides in ipairs { 'around', 'walls', 'functions', 'mixed' } do
    for _, precision in ipairs { 'float', 'double' } do
        local words = ('--t-end 0.1 --sides %s --precision %s '):format(sides, precision)
        local text, status = run(nil, 1, outputs 'a' .. words)
        check(words, status == 0, text)
        for _, launcher in ipairs(launchers) do
            for _, one in ipairs(divisions) do
                local slabs = one[2] and '--slabs ' .. one[2] or ''
                compare(('%s %d ranks %s %s'):format(launcher, one[1], slabs, words), 'a', launcher,
                    one[1], words .. slabs)
            end
            local kept = words .. ('--checkpoint %s --restart latest '):format(at 'b.ck')
            text, status = run(launcher, 3, outputs 'b' .. kept .. '--steps 5')
            check(launcher .. ' checkpoint', status == 0, text)
            compare(('%s goes on %s'):format(launcher, words), 'a', launcher, 2, kept)
        end
    end
    print(('%s: %d compared, %d failed'):format(sides, count, failed))
end

for _, launcher in ipairs(launchers) do
    local words = '--t-end 0.1 --sides mixed --precision double '
        .. ('--checkpoint %s --checkpoint-every 0.01 --restart latest '):format(at 'b.ck')
    local text, status = run(launcher, 3, outputs 'b' .. words .. '--lost 1')
    check(launcher .. ' ends all', status ~= 0 and not files.size(at 'b.nc'), text)
    compare(launcher .. ' goes on after a loss', 'a', nil, 1, words)
end

os.execute('rm -r ' .. folder)
print(('%d compared, %d failed'):format(count, failed))
os.exit(failed == 0 and 0 or 1)
