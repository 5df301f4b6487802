-- A step in one pass, in strips (march.krn) or tiles (tile.krn), gives on every device the bits of
-- one in two passes: in any shape and with work-items that share local memory.

local euler = require 'mare.schemes.euler'
local cuts = require 'mare.schemes.cuts'
local part = require 'tests.kernels.part'
local sample = require 'tests.sample'
local shapes = require 'mare.shapes'

local gamma, nx, ny = 1.4, 28, 11
local gravity = { gravity = 0.7, south = -1, north = 0 }
local fields = 4

-- A wave, a block of high pressure and one so thin that slopes have to be bounded.
local function cells(i, j)
    i, j = i % nx, j % ny
    local x, y = 2 * math.pi * i / nx, 2 * math.pi * j / ny
    local rho, p = 1 + 0.3 * math.sin(x + 2 * y), 1 + 0.2 * math.cos(x - y)
    local u, v = 0.5 + math.sin(y), 0.4 * math.cos(x)
    if i > 5 and i < 12 and j > 5 then p = 8 * p end
    if i > 17 and i < 24 and j > 2 and j < 9 then rho, p = 0.01 * rho, 0.02 * p end
    return rho, rho * u, rho * v, p / (gamma - 1) + rho * (u * u + v * v) / 2
end

local function new_part(device, precision, filled)
    return part.new { device = device, nx = nx, ny = ny, dx = 0.5, dy = 0.25, gamma = gamma,
        precision = precision, cells = filled or cells }
end

-- No ghost cells.
local function inner_cells(i, j)
    if i >= 0 and i < nx and j >= 0 and j < ny then return cells(i, j) end
    return 0 / 0, 0 / 0, 0 / 0, 0 / 0
end

-- How many interior values differ, and how many others of b are not those of the start.
local function differences(a, b)
    local left, right, start = a.now:totable(), b.now:totable(), new_part(a.device, a.precision)
    local before, wrong, touched, inside = start.now:totable(), 0, 0, {}
    for q = 1, fields do
        for j = 0, ny - 1 do
            for i = 0, nx - 1 do
                local k = a:element(q, i, j) + 1
                inside[k] = true
                if left[k] ~= right[k] then wrong = wrong + 1 end
            end
        end
    end
    for k = 1, #right do
        if not inside[k] and right[k] ~= before[k] then touched = touched + 1 end
    end
    return wrong, touched
end

local cases = {         -- W, GROUP, DEPTH, groups or TEAMS; precision, flux, limiter
    { { W = 4, GROUP = 4, DEPTH = 4, groups = 7 }, 'float', 'hllc', 'mc' },
    { { W = 2, GROUP = 7, DEPTH = 3, groups = 1 }, 'double', 'hll', 'mc' },
    { { W = 1, GROUP = 8, DEPTH = 2, groups = 5 }, 'float', 'hllc', 'mc' },
    { { W = 2, GROUP = 8, TEAMS = 3 }, 'float', 'hllc', 'mc' },
    { { W = 1, GROUP = 7, TEAMS = 6 }, 'double', 'hll', 'van_leer' },
}

describe('a step in one pass', function()
    it('is taken in tiles where cells are few, unless march.krn is tuned', function()
        local device = { info = { kind = 'gpu', model = 'none', vendor = 'NVIDIA',
            max_group_size = 1024 } }
        local scheme = euler.new {}
        local function kernel_of(n)
            return cuts.one_pass(scheme, device, 'float', { nx = n, ny = n, cells = n * n })
        end
        assert.same({ 'tile', 'tile', 'march' }, { kernel_of(16), kernel_of(512), kernel_of(4096) })
        assert.equal('march', shapes.with({ march = {} }, kernel_of, 512))
        assert.equal('tile', shapes.with({ tile = {} }, kernel_of, 4096))
    end)

    it('cuts more fields so that a group has the local memory for them', function()
        local gpu = { name = 'a GPU', info = { kind = 'gpu', vendor = 'NVIDIA', model = 'a GPU',
            local_memory = 48 * 1024, compute_units = 132, arch = 'sm_90' } }
        local function shape_of(count, precision, n)
            local scheme = euler.new {}
            scheme = setmetatable({ fields = {}, equation = { primitives = {} } },
                { __index = scheme })
            for k = 1, count do scheme.fields[k], scheme.equation.primitives[k] = 'f', 'f' end
            local shape = cuts.one_pass_shape(scheme, gpu, precision,
                { nx = n, ny = n, cells = n * n })
            return { shape.kernel, shape.W, shape.GROUP }
        end
        assert.same({ 'tile', 6, 256 }, shape_of(4, 'float', 512))
        assert.same({ 'tile', 3, 256 }, shape_of(4, 'double', 256))
        assert.same({ 'tile', 3, 128 }, shape_of(6, 'double', 256))
        assert.same({ 'march', 4, 64 }, shape_of(4, 'float', 4096))
        assert.same({ 'march', 2, 64 }, shape_of(9, 'float', 4096))
        assert.same({ 'march', 1, 64 }, shape_of(16, 'float', 4096))
        assert.same({ 'march', 1, 64 }, shape_of(16, 'double', 4096))
    end)

    it('comes in turns where strips would be longer than teams keep together', function()
        local gpu = { name = 'a GPU', info = { kind = 'gpu', vendor = 'NVIDIA', model = 'a GPU',
            local_memory = 48 * 1024, compute_units = 132, max_group_size = 1024 } }
        local function groups_of(n, shape)
            return shapes.with({ march = shape or {} }, cuts.one_pass_shape, euler.new {}, gpu,
                'float', { nx = n, ny = n, cells = n * n }).groups / 132
        end
        assert.same({ 4, 4, 4 * 12, 4 * 47 },
            { groups_of(4096), groups_of(8192), groups_of(32768), groups_of(65024) })
        assert.equal(math.ceil(265 * 32768 / 1000 / 2) / 132, groups_of(32768, { rows = 1000 }))
    end)

    it('has tiles of so many rows that all compute units have the same to do', function()
        local rows = {}
        for k, n in ipairs { 16, 256, 320, 384, 448, 512, 576, 640, 704 } do
            rows[k] = cuts.even_rows({ nx = n, ny = n }, 256, 132)
        end
        assert.same({ 3, 3, 5, 6, 4, 6, 5, 8, 5 }, rows)
    end)

    it('persists where all cells have room and tiles would take longer', function()
        local tile = { GROUP = 256, even = true }
        local function rows_of(columns, rows)
            local shape = cuts.persistent({ nx = columns, ny = rows }, 132, tile)
            return shape and { shape.ROWS, shape.global[1] / shape.GROUP, shape.global[2] }
        end
        assert.same({ 4, 8, 16 }, rows_of(512, 512))
        assert.same({ 2, 8, 16 }, rows_of(512, 256))
        assert.same({ 4, 7, 18 }, rows_of(416, 520))
        local others = { { 256, 256 }, { 511, 512 }, { 640, 640 }, { 512, 8 }, { 6, 600 } }
        for _, size in ipairs(others) do
            assert.is_nil(rows_of(unpack(size)))
        end
    end)
end)

for _, device in ipairs(part.devices()) do
    describe('a step in one pass on ' .. device.name, function()
        local drawn = sample(cases, 1)
        local some = {}         -- shapes whose programs are compiled here anyway
        for _, case in ipairs(drawn) do
            local shape, precision, flux, limiter = unpack(case)
            if precision == 'float' then some[#some + 1] = shape end
            local name = ('has the bits of one in two: %s, W = %d, %s'):format(
                shape.TEAMS and 'tiles' or 'march', shape.W, precision)
            it(name, function()
                for _, order in ipairs(sample({ 'xy', 'yx' }, 1)) do
                    local two, one = new_part(device, precision), new_part(device, precision)
                    one.other:copy(one.now)
                    two:advance(order, 0.02, part.shapes[1], flux, limiter, gravity)
                    one:one_pass(order, 0.02, shape, flux, limiter, gravity)
                    assert.same({ 0, 0 }, { differences(two, one) }, order)
                    assert.is_true(two:largest_rate() > 0)
                    assert.equal(two:largest_rate(), one:largest_rate())
                end
            end)
        end

        if #some == 0 then some = sample({ cases[1][1], cases[4][1] }, 1) end

        it('needs no ghost cells where the domain goes around', function()
            for _, shape in ipairs(some) do
                for _, order in ipairs(sample({ 'xy', 'yx' }, 1)) do
                    local two = new_part(device, 'float')
                    local one = new_part(device, 'float', inner_cells)
                    two:advance(order, 0.02, part.shapes[1], 'hllc', 'mc', { gravity = 0 })
                    one:one_pass(order, 0.02, shape, 'hllc', 'mc',
                        { wraps = 3, gravity = 0 })     -- and no more kernels
                    assert.equal(0, (differences(two, one)))
                    assert.equal(two:largest_rate(), one:largest_rate())
                end
            end
        end)

        it('writes nothing when dt is 0', function()
            for _, shape in ipairs(some) do
                local p = new_part(device, 'float')
                p:one_pass('xy', 0, shape, 'hllc', 'mc', gravity)
                for _, value in ipairs(p.now:totable()) do assert.equal(0, value) end
                assert.equal(0, p:largest_rate())
            end
        end)
    end)
end
