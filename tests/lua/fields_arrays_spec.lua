-- Fields of simulations as arrays: the memory of the device, before and after steps; setting it.

local fails = require 'tests.fails'
local mare = require 'mare'

require 'tests.share'()

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'

local function new(values)
    local all = { nx = 32, ny = 16, device = device, precision = 'double', quiet = true }
    for key, value in pairs(values or {}) do all[key] = value end
    return mare.simulation 'kelvin_helmholtz'(all)
end

-- All cells of a field, row after row.
local function cells(sim, name) return sim:field(name):totable() end

describe('a field as an array', function()
    local sim = new()

    it('is the one on the device, of the shape { ny, nx }', function()
        local rho = sim:array 'rho'
        assert.same({ 16, 32 }, { unpack(rho.shape) })
        assert.equal('double', rho.type)
        assert.same(cells(sim, 'rho'), rho:flatten():totable())
        assert.same(cells(sim, 'E'), sim:array 'E':flatten():totable())
        assert.same(cells(sim, 'p'), sim:array 'p':flatten():totable())
        fails(function() sim:array 'density' end, 'MARE_ERROR_ARGUMENT', 'density', 'rho')
    end)

    it('shows the state after steps, and what was pending has the one before', function()
        local rho = sim:array 'rho'
        local before, pending = cells(sim, 'rho'), rho * 2
        for _, n in ipairs { 1, 2 } do
            sim:step(n)
            assert.same(cells(sim, 'rho'), rho:flatten():totable())
        end
        assert.equal(2 * before[77], pending:flatten():at(76))
        assert.not_same(before, cells(sim, 'rho'))
    end)

    it('can be set, with the other variables of initial as they were', function()
        local twin = new()
        twin:step(3)
        local u, p, rho = cells(sim, 'u'), cells(sim, 'p'), cells(sim, 'rho')
        sim:set('rho', sim:array 'rho' * 4)
        assert.equal(4 * rho[9], sim:field 'rho':totable()[9])
        local now = cells(sim, 'p')
        for k, value in ipairs(cells(sim, 'u')) do
            assert.truthy(math.abs(value - u[k]) < 1e-14)
            assert.truthy(math.abs(now[k] - p[k]) < 1e-13)
        end
        sim:step(1)
        twin:set('rho', twin:array 'rho' * 4)
        twin:step(1)
        assert.same(cells(twin, 'rho'), cells(sim, 'rho'))
        assert.same({ 16, 32 }, { unpack(mare.array(sim:field 'rho').shape) })
        twin:set('rho', 1)
        twin:set('rho', sim:field 'rho')
        assert.same(cells(sim, 'rho'), cells(twin, 'rho'))
    end)

    it('refuses what initial does not give, and what is no state', function()
        local before = cells(sim, 'rho')
        fails(function() sim:set('E', 1) end, nil, 'E', 'rho, u, v, p')
        fails(function() sim:set('p', mare.ones({ 3 }, { device = sim.devices[1] })) end, nil,
            'set: { 3 }', '{ 16, 32 }')
        fails(function() sim:set('p', -1) end, 'MARE_ERROR_STATE', 'pressure')
        assert.same(before, cells(sim, 'rho'))
        sim:step(1)
    end)
end)

describe('arrays are taken', function()
    it('by kernels that are bound by hand', function()
        local a = mare.arange(12):float():eval()
        local pending = a + 1
        local kernel = a.device:program { source = [[
            MR_KERNEL void twice(MR_GLOBAL float *x) {
                int i = mr_gid_x();
                if (i < 12) x[i] = 2 * x[i];
            }]] }:kernel 'twice'
        local launch = kernel:bind { x = a, global = 12 }
        launch:run()
        assert.same({ 22, 12 }, { a:at(-1), pending:at(-1) })
        a:assign(a + 3)
        launch:run()
        assert.equal(50, a:at(-1))
    end)

    it('by NetCDF files, which give them back', function()
        local path = os.tmpname()
        finally(function() os.remove(path) end)
        local a = mare.arange(24):reshape(2, 3, 4)
        a:float():transpose():save(path, { name = 'depth', axes = { 'x', 'y', 'z' },
            attributes = { units = 'm' } })
        local back = mare.array.load(path, 'depth')
        assert.same({ 'float', { 4, 3, 2 } }, { back.type, { unpack(back.shape) } })
        assert.is_true(back:eq(a:transpose()):all():item())
        a:gt(5):save(path)
        assert.is_true(mare.array.load(path, 'data'):eq(a:gt(5):int32()):all():item())
        fails(function() mare.array.load(path, 'depth') end, nil, 'depth', path)
        fails(function() a:complex(a):save(path) end, nil, 'save', 'complex_float', 'real')
        fails(function() mare.zeros({ 0, 3 }):save(path) end, nil, '{ 0, 3 }', 'no elements')
        fails(function() a:save(path, { attributes = { units = {} } }) end, nil, 'units', 'text')
        fails(function() a:save(path, { axes = { 'x' } }) end, nil, '1 axes', '{ 2, 3, 4 }')
        assert.equal('int32', mare.array.load(path, 'data').type)       -- it is as it was
        local long = mare.arange(4, { device = 'null' }):uint64() * 2 ^ 62
        for _, b in ipairs { long, a:sum() } do
            b:save(path)
            back = mare.array.load(path, 'data', { device = b.device })
            assert.equal(b.type, back.type)
            assert.is_true(back:eq(b):all():item())
        end
    end)

    it('by films, a frame for each element of the first axis', function()
        local path = os.tmpname() .. '.apng'
        finally(function() os.remove(path) end)
        mare.arange(4 * 3 * 5):reshape(4, 3, 5):film(path, { scale = 2 })
        local file = assert(io.open(path, 'rb'))
        local data = file:read '*a'
        file:close()
        local _, frames = data:gsub('fcTL', '')
        assert.equal(4, frames)
        local function word(at) return data:byte(at + 2) * 256 + data:byte(at + 3) end
        assert.same({ 10, 6 }, { word(17), word(21) })          -- of the picture's head
        fails(function() mare.ones(3):film(path) end, nil, '{ 3 }', 'frames')
        local one = mare.zeros { 1, 2, 2 }
        fails(function() one:film(path, { range = { 1 } }) end, nil, 'range[2]', 'number')
        fails(function() one:film(path, { rate = 0 }) end, nil, 'rate = 0', '240')
        fails(function() one:film(path, { scale = 1e5 }) end, nil, '200000', '16384')
        fails(function() (mare.zeros { 1, 2, 2 } / 0):film(path) end, nil, 'not finite')
    end)

    it('by plots, where they have one axis or two', function()
        fails(function() mare.plot(mare.zeros { 2, 2, 2 }) end, nil, '{ 2, 2, 2 }')
        fails(function() mare.plot(mare.ones(3):complex(1)) end, nil, 'complex_float')
        fails(function() mare.plot(mare.ones(3), { kind = 'bars' }) end, nil, 'bars', 'histogram')
        fails(function() mare.ones(3):plot { kind = 'scatter', x = mare.ones(2) } end, nil, '{ 2 }',
            '3 elements')
        local sink, out = assert(io.open('/dev/null', 'w')), io.output()
        io.output(sink)
        local a = mare.array { { 1, 5, 2 }, { 2, 3, 9 } }
        local lines = a:plot { kind = 'line', x = mare.array { 0, 2, 4 } }
        local bars = a:plot { kind = 'histogram', bins = 2, range = { 1, 9 } }
        local points = a:plot { kind = 'scatter', x = a * 2, title = 'twice' }
        io.output(out)
        sink:close()
        assert.same({ { 1, 5, 2 }, { 2, 3, 9 }, { 0, 2, 4 } },
            { lines.spec.series[1].y, lines.spec.series[2].y, lines.spec.series[1].x })
        assert.same({ 0, 4, 4, 2, 2, 0 }, bars.spec.series[1].y)
        assert.same({ 1, 1, 5, 5, 9, 9 }, bars.spec.series[1].x)
        assert.same({ 'points', 18, 'twice' }, { points.spec.series[1].style,
            points.spec.series[1].x[6], points.spec.title })
    end)
end)

-- What a user of NumPy tries first; a line goes on behind a backslash.
local lines = ([[
local a, b = mare.arange(12):reshape(3, 4):float(), mare.ones { 4 }
print((a + 2 * b):sum(), a:mean { axis = 0 }, a { {0, 2}, 1 }, \
mare.where(a:gt(5), a, -a):max():item())
a { 0, {} }:assign(7);  local r = mare.rand({ 1000 }, { seed = 1 });  \
local c = a:matmul(a:transpose())
local n = c:totable()             -- nested Lua tables;  \
mare.array { {1, 2}, {3, 4} } is the reverse
sim:set('rho', sim:array 'rho' * 1.01);  mare.plot(mare.sin(mare.linspace(0, 6.28, 500)))
]]):gsub('\\\n', '')

local shown = { '90', '[4. 5. 6. 7.]', '[1. 5.]', '11' }

-- Calls f with the standard output going elsewhere, and returns what it printed.
local function printed(f)
    local path, out = os.tmpname(), io.output()
    local sink = assert(io.open(path, 'w'))
    io.output(sink)
    local show, text = print, {}
    _G.print = function(...)        -- luacheck: ignore
        for k = 1, select('#', ...) do text[#text + 1] = tostring((select(k, ...))) end
    end
    local ok, failure = pcall(f)
    _G.print = show                 -- luacheck: ignore
    io.output():close()
    io.output(out)
    os.remove(path)
    assert.truthy(ok, tostring(failure))
    return table.concat(text, '\n')
end

describe('the first lines of a user', function()
    it('work in a script', function()
        local sim = new()
        local before = cells(sim, 'rho')
        local script = assert(loadstring('local mare, sim = ...\n' .. lines
            .. 'assert(n[1][2] == 154 and #r == 1000)'))
        local text = printed(function() script(mare, sim) end)
        for _, word in ipairs(shown) do assert.truthy(text:find(word, 1, true), word) end
        assert.equal(before[1] * 1.01, cells(sim, 'rho')[1])
    end)

    it('work at the prompt', function()
        local session = require('mare.session.repl').new()
        local text = printed(function()
            session:step(("sim = mare.simulation 'kelvin_helmholtz' { nx = 32, ny = 16, "
                .. "device = '%s', precision = 'double', quiet = true }"):format(device))
            for line in lines:gmatch '[^\n]+' do
                local status, result = session:step(line)
                assert.equal('ok', status, result)
            end
            assert.equal('154', select(2, session:step 'n[1][2]'))
        end)
        for _, word in ipairs(shown) do assert.truthy(text:find(word, 1, true), word) end
    end)
end)
