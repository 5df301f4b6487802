-- Compares frames that devices colour with the same rule in Lua.

local camera = require 'mare.run.camera'
local colours = require 'mare.draw.colours'
local device_list = require 'bindings.device'
local ffi = require 'ffi'
local frames = require 'mare.array.frames'
local mare = require 'mare'

local device = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local open, live_objects = device_list.open, device_list.live_objects
local nx, ny, range, missing = 45, 30, { 0.8, 2.2 }, 0x123456
local map = colours.map 'viridis'

local function simulation(decompose, devices, shown)
    return mare.simulation {
        devices = devices, shown = shown,
        grid = mare.grid { nx = nx, ny = ny, x = { 0, 3 }, y = { 0, 2 } }, boundaries = 'periodic',
        scheme = mare.euler {}, options = { device = device, decompose = decompose },
        initial = function(x, y)
            return 1.5 + 0.8 * math.sin(5 * x + 1) * math.cos(3 * y), math.sin(y), math.cos(3 * x),
                1
        end,
    }
end

-- Returns every cell in 65536 steps of the range, or false if it is not a
-- number.
local function counted(data)
    local out, low = {}, ffi.new('float[1]', range[1])
    local steps = ffi.new('float[1]', 65536 / (range[2] - range[1]))
    local v = ffi.new 'float[1]'
    for k = 0, nx * ny - 1 do
        v[0] = data[k] - low[0]
        v[0] = v[0] * steps[0]
        out[k] = v[0] == v[0] and math.floor(math.max(0, math.min(65535, v[0])))
    end
    return out
end

local function common(cell, pixel, n, pixels)
    return math.max(0, math.min((cell + 1) * pixels, (pixel + 1) * n)
        - math.max(cell * pixels, pixel * n))
end

local function expected_pixel(values, p, q, width, height)
    local sum = 0
    for j = math.floor(q * ny / height), math.ceil((q + 1) * ny / height) - 1 do
        for i = math.floor(p * nx / width), math.ceil((p + 1) * nx / width) - 1 do
            local value = values[j * nx + i]
            if not value then return missing end
            sum = sum + value * common(i, p, nx, width) * common(j, q, ny, height)
        end
    end
    return map[math.floor(math.floor(sum / (nx * ny)) / 256)]
end

local function expected(data, width, height)
    local values, out = counted(data), {}
    for row = 0, height - 1 do
        for p = 0, width - 1 do
            out[row * width + p] = expected_pixel(values, p, height - 1 - row, width, height)
        end
    end
    return out
end

local function drawn(sim, variable, width, height)
    local shot = frames.new(sim, { variable = variable, width = width, height = height,
        range = range, map = map, missing = missing })
    shot:take(1)
    local pixels, out = shot:wait(1), {}
    for k = 0, width * height - 1 do out[k] = pixels[k] end
    shot:release()
    return out
end

-- Sizes that are finer, equal, coarser by an integer and by a fraction, and
-- stretched.
local sizes = { { 90, 60 }, { 45, 30 }, { 15, 10 }, { 17, 11 }, { 8, 70 }, { 1, 1 } }

describe('frames coloured on a device', function()
    it('are the means of the field in the colours of the map', function()
        local sim = simulation { 1, 1 }
        for _, size in ipairs(sizes) do
            assert.same(expected(sim:field 'rho', size[1], size[2]),
                drawn(sim, 'rho', size[1], size[2]))
        end
        assert.same(expected(sim:field 'vorticity', 33, 20), drawn(sim, 'vorticity', 33, 20))
        sim:release()
    end)

    it('do not depend on how the grid is divided, nor among which devices', function()
        local sim = simulation { 1, 1 }
        local whole, turning = drawn(sim, 'rho', 17, 11), drawn(sim, 'vorticity', 64, 7)
        sim:release()
        local two = { open(device), open(device) }      -- handles of one count as two devices
        local cases = { { { 2, 2 } }, { { 7, 1 } }, { { 1, 4 }, two }, { { 2, 2 }, two } }
        for _, case in ipairs(cases) do
            sim = simulation(case[1], case[2])
            assert.same(whole, drawn(sim, 'rho', 17, 11))
            assert.same(turning, drawn(sim, 'vorticity', 64, 7))
            sim:release()
        end
    end)

    it('show where there is no number, and cut what is beyond the range', function()
        local sim = simulation { 2, 1 }
        local state = sim.states[2]
        local at = state.layout:offset(0, 3, 4)
        state.now:upload({ 0 / 0, 1 / 0, -1e30 }, { offset = at, count = 3 })
        sim.version = sim.version + 1
        for _, size in ipairs { { 45, 30 }, { 20, 13 } } do
            local found = drawn(sim, 'rho', size[1], size[2])
            assert.same(expected(sim:field 'rho', size[1], size[2]), found)
            local n = 0
            for _, colour in pairs(found) do n = n + (colour == missing and 1 or 0) end
            assert.is_true(n >= 1 and n <= 2, n)
        end
        sim:release()
    end)

    it('may follow each other without a wait', function()
        local sim = simulation { 1, 1 }
        local shot = frames.new(sim, { variable = 'rho', width = 45, height = 30, range = range,
            map = map, missing = missing, slots = 2 })
        local fields = {}
        for slot = 1, 2 do
            sim:aim(slot * 0.01)
            sim:step(8)
            shot:take(slot)
            fields[slot] = expected(sim:field 'rho', 45, 30)
        end
        for slot = 1, 2 do
            local pixels = shot:wait(slot)
            for k = 0, 45 * 30 - 1 do assert.equal(fields[slot][k], pixels[k]) end
        end
        assert.not_same(fields[1], fields[2])
        shot:release()
        sim:release()
    end)

    it('want only programs that were begun with the simulation that shows them', function()
        -- Returns how many objects frames of a variable make, programs among them.
        local function made(variable, shown)
            local sim = simulation({ 1, 1 }, nil, shown)
            collectgarbage()
            collectgarbage()
            collectgarbage 'stop'       -- what it frees would be counted, too
            local before = live_objects()
            local shot = frames.new(sim, { variable = variable, width = 4, height = 4,
                range = range, map = map, missing = missing })
            local count = live_objects() - before
            collectgarbage 'restart'
            shot:release()
            sim:release()
            return count
        end
        for _, variable in ipairs { 'rho', 'vorticity' } do
            assert.equal(made(variable) - 2, made(variable, { variable }))
        end
    end)
end)

describe('a run', function()
    local function shown(options, picture)
        return camera.shown { scheme = mare.euler {}, options = options, picture = picture }
    end

    it('begins the programs of what its pictures show, if it has pictures', function()
        assert.same({ 'rho' }, shown { image = 'a.png' })
        assert.same({ 'p', 'vorticity', 'u', 'v' }, shown({ film = 'a.gif' }, { variable = 'p',
            contours = { variable = 'vorticity' }, vectors = { 'u', 'v' } }))
        assert.is_nil(shown {})
        assert.is_nil(shown({ image = 'a.png' }, function() end))
    end)
end)
