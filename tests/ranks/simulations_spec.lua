-- Simulations over ranks have the bits of one process, whatever the number of ranks, the scheme and
-- the MPI.

local cases = require 'tests.ranks.cases'
local fails = require 'tests.fails'
local launch = require 'tests.ranks.launch'
local sample = require 'tests.sample'

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'

-- Returns the shell's text for a program, and its status. launcher: nil for a process alone
local function run(launcher, count, program, words)
    if launcher then return launch.run(launcher, count, program, words) end
    local pipe = io.popen(('%s -e %s %s 2>&1; echo "status $?"'):format(launch.mare,
        launch.quote(program), words or ''))
    local text = pipe:read '*a'
    pipe:close()
    return text, tonumber(text:match 'status (%d+)\n$')
end

local program = [[
    local cases, words = require 'tests.ranks.cases', { ... }
    local device = table.remove(words, 1)
    cases.run(device, unpack(words))
]]

-- Returns the line of each case.
local function lines(launcher, count, names)
    local text, status = run(launcher, count, program, name .. ' ' .. table.concat(names, ' '))
    assert.equal(0, status, text)
    local found = {}
    for line in text:gmatch '[^\n]+' do found[line:match '^%S+'] = line end
    return found
end

-- The cases of this run; outside of tests/long one whose programs are compiled elsewhere, too.
local drawn = sample(cases.names, { 'euler' })
local alone                             -- what one process computes of them

-- Fields on the null device, which computes nothing: what is moved between ranks.
local moved = [[
    local device, fields = require 'bindings.device', require 'mare.array.fields'
    local devices, here = require 'mare.array.devices', require 'mare.ranks.here'
    local memory, mare = require 'bindings.memory', require 'mare'
    local nx, ny, halo = 19, 23, 2
    local grid = mare.grid { nx = nx, ny = ny, x = { 0, 1 }, y = { 0, 1 } }
    local px, py = grid:division(here.size)
    local parts, null = grid:split(px, py), device.open 'null:0'
    devices.assign(parts, { null })
    local function value(i, j, plane) return 1000 * (i + halo) + j + halo + plane / 4 end
    local f = fields.new { grid = grid, parts = parts, names = { 'a', 'b' }, halo = halo,
        precision = 'double', buffers = 2 }
    f:fill(function(i, j) return value(i, j, 0), value(i, j, 1) end)

    local whole = memory.array('double', nx * ny)
    f:download(2, whole)
    for k = 0, nx * ny - 1 do
        assert(whole[k] == value(k % nx, math.floor(k / nx), 1), 'download')
    end

    local width, count = nx + 2 * halo, f:saved_count()
    local saved = memory.array('double', count + 3)
    f:save(here.rank == 0 and saved or nil, nil, 3)
    for k = 0, here.rank == 0 and count - 1 or -1 do
        local plane, at = math.floor(2 * k / count), k % (count / 2)
        local i, j = at % width - halo, math.floor(at / width) - halo
        assert(saved[3 + k] == value(i, j, plane), 'save')
    end

    local points = {}
    for k = 0, 9 do points[k + 1] = { (7 * k) % nx, (5 * k) % ny } end
    local gauges = f:gather { planes = { { name = 'a', field = 'a' }, { name = 'b', field = 'b' } },
        points = points, everywhere = true }
    gauges:release()

    local copies = f:replicate { type = 'int32', count = 6, collected = true, values = {
        1, 2, 3, 4, 5, here.rank } }
    copies:collect()
    for k = 1, here.rank == 0 and here.size or 0 do
        local one = copies:at(1):totable { offset = 6 * (k - 1), count = 6 }
        assert(one[1] == 1 and one[6] == k - 1, 'collect')
    end

    local list = f:entries { columns = 1, of = function(s)
        local own = null:buffer { type = 'double', count = 2 }
        own:upload { s.part.index, -s.part.index }
        return own, { 2 * s.part.index - 1, 2 * s.part.index }, 2
    end }
    list:take()
    for k, v in ipairs(list:list()) do assert(v == (k % 2 * 2 - 1) * math.ceil(k / 2), 'list') end

    -- Slices of volumes.
    local slabs = require 'mare.volume.slabs'
    local nz, desc = 4 * here.size + 3, { names = { 'a', 'b' }, precision = 'double',
        count = here.size + (here.size < 3 and 0 or -1), devices = { null }, is_around = true,
        ghosts = { x = 0, y = 0, z = 0 } }
    desc.grid = mare.volume.grid { nx = 5, ny = 4, nz = nz, x = { 0, 1 }, y = { 0, 1 },
        z = { 0, 1 } }
    assert(here.size < 3 or not pcall(slabs.new, desc), 'a rank without a slab')
    desc.count = here.size
    local v = slabs.new(desc)
    local function cell(i, j, k, plane) return i + 10 * j + 100 * (k % nz) + plane / 4 end
    for _, slab in ipairs(v.list) do
        v:fill(slab, function(i, j, k) return cell(i, j, k, 0), cell(i, j, k, 1) end)
    end
    v:exchange(1)
    for _, slab in ipairs(here.size > 1 and v.list or {}) do
        for _, k in ipairs { -4, -1, slab.nz, slab.nz + 3 } do
            local found = slab.state:totable { offset = slab:offset(1, k) + slab.stride, count = 5 }
            assert(found[5] == cell(4, 1, slab.k0 + k, 1), 'slices')
        end
    end
    local all, first = memory.array('double', v:saved_count()), { v:read(1, { i = 1, j = 1, k = 2,
        nx = 3, ny = 2, nz = nz - 3 }, true) }
    assert((first[1] ~= nil) == (here.rank == 0))
    assert(here.rank > 0 or first[1][2 + 3 * (1 + 2 * (nz - 4))] == cell(3, 2, nz - 2, 1), 'read')
    v:save(all)
    for k = 0, v:saved_count() - 1 do
        local plane, at = math.floor(k / (20 * nz)), k % (20 * nz)
        assert(all[k] == cell(at % 5, math.floor(at / 5) % 4, math.floor(at / 20), plane), 'save')
    end
    v:release()

    -- A rank that took sums may wait for its device, which waits for others, before any MPI.
    local wide = mare.grid { nx = 19, ny = 64, x = { 0, 1 }, y = { 0, 1 }, halo = 1 }
    local columns = wide:split(here.size, 1)
    devices.assign(columns, { null })
    local g = fields.new { grid = wide, parts = columns, names = { 'a' } }
    local sums = g:reduce { { values = g, field = 'a' } }
    for _ = 1, 2 do
        sums:take()
        assert(here.size == 1 or not next(here.world.pending), 'a sum is still on its way')
        sums:wait()
    end
    if here.rank == 0 then print('all is moved of ' .. here.size) end
]]

describe('one process', function()
    it('has the cases', function()
        alone = lines(nil, 1, drawn)
        for _, case in ipairs(drawn) do assert.truthy(alone[case], case) end
    end)

    it('computes the same bits on two devices', function()
        local two = "local open, list = require 'bindings.device'.open, {} local name = ... "
            .. "for one in (name .. ',' .. name):gmatch '[^,]+' do list[#list + 1] = open(one) end "
            .. "require('tests.ranks.cases').run(list, select(2, ...))"
        local text, status = run(nil, 1, two, name .. ' ' .. table.concat(drawn, ' '))
        assert.equal(0, status, text)
        for _, case in ipairs(drawn) do assert.truthy(text:find(alone[case], 1, true), text) end
    end)

    it('moves fields as ranks do', function()
        local text, status = run(nil, 1, moved)
        assert.equal(0, status, text)
    end)
end)

-- Numbers of ranks by launcher; outside of tests/long one of them computes one of the cases.
local function counts_of(launcher)
    local is_open = launcher:find 'openmpi'
    return sample(is_open and { 2, 3, 6 } or { 1, 4, 8 }, is_open and { 3 } or { 4 })
end

launch.each(function(launcher)
    describe(launcher, function()
        for _, count in ipairs(counts_of(launcher)) do
            it('computes the same bits on ' .. count, function()
                local names = sample(drawn, 1)
                local found = lines(launcher, count, names)
                for _, case in ipairs(names) do assert.equal(alone[case], found[case]) end
            end)

            it('moves fields on ' .. count, function()
                local text, status = run(launcher, count, moved)
                assert.equal(0, status, text)
                fails.says(text, 'all is moved of ' .. count)
            end)
        end

        it('refuses a grid that is too small, and fewer parts than ranks', function()
            local set_up = "local mare = require 'mare' mare.simulation { grid = mare.grid { "
                .. 'nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } }, scheme = mare.euler {}, '
                .. "boundaries = 'periodic', initial = function() return 1, 0, 0, 1 end, "
                .. 'options = { decompose = { tonumber((...)), 1 }, '
                .. "device = '" .. name .. "' } }"
            local text, status = run(launcher, 5, set_up, '1')
            launch.failed(launcher, status, text)
            fails.says(text, '8 x 8', '5 ranks', '4 x 4')
            text, status = run(launcher, 3, set_up, '2')
            launch.failed(launcher, status, text)
            fails.says(text, '--decompose', '2 parts', '3 ranks')
        end)

        it('refuses ranks with other options', function()
            local set_up = [[
                local mare = require 'mare'
                local rank, call = mare.ranks.rank, select(2, ...)
                mare.options.source = { device = (...), out = rank == 1 and 'x' or nil }
                local o = call == 'run' and mare.options { mare.options.simulation }
                mare[call] { options = o or { device = (...), cfl = 0.4 + 0.1 * rank },
                    grid = mare.grid { nx = 16, ny = 16, x = { 0, 1 }, y = { 0, 1 } },
                    scheme = mare.euler {}, boundaries = 'periodic',
                    initial = function() return 1, 0, 0, 1 end }]]
            local wrong = { { 'run', "option --out: 'x', there none" },
                { 'simulation', "cfl: '0.5', there '0.4'" } }
            for _, case in ipairs(sample(wrong, 1)) do
                local text, status = run(launcher, 2, set_up, name .. ' ' .. case[1])
                launch.failed(launcher, status, text)
                fails.says(text, 'rank 1', 'rank 0', 'same options', case[2])
            end
        end)
    end)
end)
