-- Steps that read cells of the parts beside theirs where they lie (march_parts.krn), or go over all
-- parts of a device at once (march_joined.krn), have the bits of those that sweep over one part
-- with ghost cells.

local cycles = require 'mare.run.cycles'
local device = require 'bindings.device'
local events = require 'mare.base.events'
local fails = require 'tests.fails'
local home = require 'bindings.home'
local launch = require 'tests.ranks.launch'
local links = require 'mare.links'
local mare = require 'mare'
local shapes = require 'mare.shapes'
local zlib = require 'bindings.zlib'

-- A source acts by place and time, so that it tells whether each cell is taken for itself. The text
-- is that of all processes, which share the programs.
local scheme_text = [[
    local mare, passes = ...
    return mare.equations { name = 'forced', fields = { mare.vector 'm' }, passes = passes,
        flux = function(q) return q.m.n * q.m.n, q.m.n * q.m.t end, limiter = 'none',
        speed = function(q) return q.m.n - 1, q.m.n + 1 end, riemann = 'rusanov',
        source = function(q, x, y, t) return t * x + q.m.y, y * q.m.x end }]]

local function scheme_of(passes) return loadstring(scheme_text)(mare, passes) end

local function waves(x, y)
    return 0.3 * math.sin(6 * x + 3 * y) + 0.1 * math.cos(7 * y), 0.2 * math.sin(5 * x)
end

local nx, ny = 48, 38       -- rows that three parts have unequally

-- Returns the clock and checksums after some steps, and by which kernel.
local function run(devices, decompose, passes)
    local sim = mare.simulation {
        grid = mare.grid { nx = nx, ny = ny, x = { 0, 1 }, y = { 0, 1 } },
        scheme = scheme_of(passes), boundaries = 'periodic', initial = waves,
        devices = devices, options = { decompose = decompose },
    }
    sim:aim(1e9)
    for _, steps in ipairs { 1, 19 } do
        sim:step(steps)
        sim:read()
    end
    local words = { sim.now.t, sim.now.dt }
    for k, name in ipairs(sim.scheme.fields) do
        words[k + 2] = zlib.crc32(0, sim:field(name):pointer(), nx * ny * sim.fields.element)
    end
    local part = sim.states[1].part
    local way = part.joined and 'joined' or part.columns and 'parts'
    sim:release()
    return table.concat(words, ' '), way
end

local function marched(...)
    local text, way
    shapes.with({ march = {} }, function(...) text, way = run(...) end, ...)
    return text, way
end

describe('parts beside each other', function()
    local info = device.open().info
    if not info.runs_kernels or info.kind == 'other' then return pending 'no kernels run here' end
    local a, b = device.open(), device.open()

    it('are read in place', function()
        local expected = run({ a }, { 1, 1 }, 2)
        for way, on in pairs { joined = { { a }, { 2, 2 } }, parts = { { a, b }, { 2, 3 } } } do
            local text, found = marched(on[1], on[2], 1)
            assert.equal(expected, text)
            assert.equal(way, found)
        end
    end)

    it('exchange cells every few steps only with a fixed dt', function()
        fails(function()
            local square = { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } }
            mare.simulation { grid = mare.grid(square), devices = { a },
                scheme = scheme_of(1), boundaries = 'periodic', initial = waves,
                options = { exchange_every = 2 } }
        end, nil, '--exchange-every', '--dt')
    end)

    it('say so where they exchange no cells through the host', function()
        local unmute, said = events.mute(), {}
        local stop = events.listen { hear = function(event) said[#said + 1] = event end }
        cycles.plan({ exchange_every = 2, dt = 1 }, {})
        stop()
        unmute()
        assert.equal('warning', said[1].kind)
        fails.says(said[1].message, '--exchange-every 2 has no effect')
    end)

    it('are told of in files', function()
        assert.equal('read where it lies', links.describe { a, b })
    end)

    -- In processes of their own, since devices that once reached each other always do. Where strips
    -- go through the host, a march on a processor takes the edges of parts first; those who do have
    -- fewer of the other rows.
    it('are brought through pinned memory where devices do not reach each other', function()
        local program = 'local scheme_text = ' .. ('%q'):format(scheme_text) .. [[
            local mare, device = require 'mare', require 'bindings.device'
            local links, zlib = require 'mare.links', require 'bindings.zlib'
            local a, b = device.open(), device.open()
            local is_first, is_carried
            local function state_of(px, py, passes, every)
                local sim = mare.simulation { devices = { a, b },
                    options = { decompose = { px, py },
                        dt = every and 5e-4, exchange_every = every },
                    grid = mare.grid { nx = 20, ny = 451, x = { 0, 1 }, y = { 0, 1 } },
                    scheme = loadstring(scheme_text)(mare, passes),
                    boundaries = every and 'periodic' or { west = 'outflow',
                        east = 'reflective', south = 'periodic', north = 'periodic' },
                    initial = function(x, y) return x * y + x, -y end }
                sim:aim(1e9)
                for _, steps in ipairs { 1, 2, 34 } do sim:step(steps) sim:read() end
                local words = { sim.now.t }
                for k, name in ipairs(sim.scheme.fields) do
                    words[k + 1] = zlib.crc32(0, sim:field(name):pointer(), 4 * 20 * 451)
                end
                is_first = every and is_first or sim.interior ~= nil
                is_carried = is_carried or not is_first and sim.exchanges.x[1]:carrier() ~= nil
                return table.concat(words, ' ')
            end
            local text = state_of(2, 2, 2)
            if os.getenv 'MARE_TRANSPORT' then
                local same = require('mare.shapes').with({ march = { rows = 50 } }, state_of, 1, 3,
                    1)
                text = same == text and text or same .. ' is not ' .. text
                local once = state_of(1, 1, 2, 1)
                same = require('mare.shapes').with({ march = {} }, state_of, 1, 2, 1, 2)
                text = same == once and text or same .. ' is not ' .. once
            end
            print(text)
            print(links.describe { a, b }, is_first, is_carried)]]
        local function child(setting)
            local pipe = io.popen(("%s '%s' -e %s 2>&1"):format(setting, home.launcher,
                launch.quote(program)))
            local text = pipe:read '*a'
            pipe:close()
            return text:match '^([%d.e+-]+ %d+ %d+)\n([^\n]+)\n$'
        end
        local expected, way = child ''
        assert.equal('read where it lies\tfalse\tfalse', way)
        local text, staged = child 'MARE_TRANSPORT=staged'
        assert.equal(('through pinned memory\t%s\ttrue'):format(a.info.kind ~= 'gpu'), staged)
        assert.equal(expected, text)
    end)
end)
