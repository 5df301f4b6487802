-- Barriers of devices, of which all but the last do not wait here: the last finds the words of the
-- others, and with them the largest rate.

local bind = require 'mare.array.bind'
local part = require 'tests.kernels.part'

local step, failed, slots = 2, 7, 10
local group = 16

-- Makes `count` devices of the barrier, all in memory of one. Returns a table of functions.
local function new(device, precision, count)
    local program = part.program(device, 'array/barrier.krn',
        { MARE_REAL = precision, GROUP = group })
    local all, words = {}, {}
    for k = 0, 7 do
        words['w' .. k] = device:buffer { type = 'uint32', count = 64 }
        words['w' .. k]:fill(0)
        words['w' .. k]:upload { 2 }
    end
    for k = 1, count do
        local one = { clock = device:buffer { type = 'double', count = slots },
            maxima = device:buffer { type = precision, count = 5 } }
        local site = { own = k - 1, devices = count, patience = 3 }
        local function launch(kernel)
            local values = { clock = one.clock, maxima = one.maxima, count = 5, s = site }
            for name, buffer in pairs(words) do values[name] = buffer end
            return bind(program:kernel(kernel), values, { global = group, group = group })
        end
        one.tick, one.wait = launch 'clock_meet', launch 'device_barrier'
        all[k] = one
    end
    function all.begin()
        for k = 1, count do all[k].clock:upload { 0, 0, 1, 0.5, 0, 0, 0, 0, 0, 0 } end
    end
    -- Ticks in this order; the rate of device k is rates[k].
    function all.tick(order, rates)
        all.begin()
        for _, k in ipairs(order) do
            all[k].maxima:upload { 0, 0, rates[k], 0, 0 }
            all[k].tick:run()
        end
        local clocks = {}
        for k = 1, count do clocks[k] = all[k].clock:totable() end
        return clocks
    end
    return all
end

local function case(device, precision)
    it('find the largest rate in ' .. precision, function()
        local all, orders = new(device, precision, 3), { { 1, 2, 3 }, { 3, 1, 2 }, { 2, 3, 1 } }
        for round = 1, 6 do
            local order = orders[round % 3 + 1]
            local last = order[3]
            local clocks = all.tick(order, { 2 + round, 4, 1 / 3 })
            assert.equal(0.5 / math.max(2 + round, 4), clocks[last][step])
            assert.equal(0, clocks[last][failed])
        end
        local third = all.tick({ 1, 2, 3 }, { 0.125, 0.125, 26 / 3 })[3][step]
        assert.near(1.5 / 26, third, 1e-8)
        assert.equal(precision == 'double', third == 0.5 / (26 / 3))
    end)

    it('keep what is no number in ' .. precision, function()
        local all = new(device, precision, 2)
        local clocks = all.tick({ 2, 1 }, { 1, 0 / 0 })
        assert.equal(0, clocks[1][step])
        assert.equal(1, clocks[1][failed])
    end)

    it('stop the clock where a device does not come in ' .. precision, function()
        local all = new(device, precision, 2)
        local clocks = all.tick({ 1 }, { 1 })
        assert.equal(0, clocks[1][step])
        assert.equal(3, clocks[1][failed])      -- 2 + 1: the second one
        clocks = all.tick({ 2 }, { nil, 8 })
        assert.equal(0.5 / 8, clocks[2][step])  -- it finds what the first one has left
        all.begin()
        all[1].wait:run()
        all[2].wait:run()
        assert.equal(3, all[1].clock:totable()[failed])
        assert.equal(0, all[2].clock:totable()[failed])
    end)

    it('take no old word for a new one later in ' .. precision, function()
        local all = new(device, precision, 2)
        all.begin()
        for _ = 1, 4 do
            all[1].maxima:upload { 0, 0, 1, 0, 0 }
            all[1].tick:run()
            local clock = all[1].clock:totable()
            assert.equal(0, clock[step])
            assert.equal(3, clock[failed])
        end
    end)
end

for _, device in ipairs(part.devices()) do
    describe('barriers of devices on ' .. device.name, function()
        if not device.info.has_scopes then return pending 'it has no words of scopes' end
        for _, precision in ipairs { 'float', 'double' } do case(device, precision) end
    end)
end
