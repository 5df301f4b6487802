-- The clock: dt from the maxima, the target hit exactly, failures noticed. And the first maxima.

local part = require 'tests.kernels.part'
local sample = require 'tests.sample'

-- Slots of clock.h, plus one.
local time, step, target, count, rate, failed, hold = 1, 2, 3, 5, 6, 7, 8

local function new_clock(device, group)
    local defines = { MARE_REAL = 'float', GROUP = group }
    local clock = {
        buffer = device:buffer { type = 'double', count = 10 },
        maxima = device:buffer { type = 'float', count = 100 },
    }
    local launch = part.program(device, 'array/clock.krn', defines):kernel 'clock_tick':bind {
        clock = clock.buffer, maxima = clock.maxima, count = 100, global = group, group = group,
    }
    clock.buffer:upload { 0, 0, 1, 0.5, 0, 0, 0, 0, 0, 0 }

    function clock.tick(largest)
        local maxima = {}
        for k = 1, 100 do maxima[k] = k == 77 and largest or largest / 2 end
        clock.maxima:upload(maxima)
        launch:run()
        return clock.buffer:totable()
    end
    return clock
end

for _, device in ipairs(part.devices()) do
    describe('clock on ' .. device.name, function()
        for _, group in ipairs { 1, 7, 64 } do
            it('steps to the target and stops there, with groups of ' .. group, function()
                local clock = new_clock(device, group)
                local t, steps, last = 0, 0, nil
                for _ = 1, 20 do
                    local now = clock.tick(4)
                    last = now[step] > 0 and now[step] or last
                    t, steps = now[time], now[count]
                    if now[step] == 0 then break end
                end
                assert.equal(1, t)
                assert.equal(8, steps)
                assert.equal(0.125, last)
            end)
        end

        it('shares what remains between the last two steps', function()
            local clock = new_clock(device, 16)
            local lengths = {}
            for k = 1, 5 do lengths[k] = clock.tick(1.25)[step] end     -- 0.4 leaves 0.6
            for k, length in ipairs { 0.4, 0.3, 0.3, 0, 0 } do
                assert.near(length, lengths[k], 1e-15)
            end
        end)

        it('holds before the steps that the target would cut, until it is let go', function()
            local clock = new_clock(device, 16)
            clock.buffer:upload({ 1 }, { offset = hold - 1 })
            local now
            for k, length in ipairs { 0.4, 0, 0 } do
                now = clock.tick(1.25)
                assert.near(length, now[step], 1e-15, k)
            end
            assert.same({ 0.4, 1 }, { now[time], now[count] })
            clock.buffer:upload({ 0 }, { offset = hold - 1 })
            assert.near(0.3, clock.tick(0)[step], 1e-15)
        end)

        it('takes the maxima away and keeps the rate where none came', function()
            local clock = new_clock(device, 16)
            clock.tick(2)
            for _, left in ipairs(clock.maxima:totable()) do assert.equal(0, left) end
            assert.equal(2, clock.tick(0)[rate])
        end)

        local failures = { ['a NaN'] = 0 / 0, ['minus NaN'] = -(0 / 0), infinity = math.huge }
        for name, bad in pairs(failures) do
            it('stops and says so at ' .. name, function()
                local clock = new_clock(device, 16)
                clock.tick(2)
                local now = clock.tick(bad)
                assert.equal(1, now[failed])
                assert.equal(0, now[step])
                assert.equal(0, clock.tick(0)[step])
                assert.equal(1, now[target])
            end)
        end
    end)

    describe('maxima on ' .. device.name, function()
        -- One cell is fastest, moving along u or v; another may be poisoned, with a NaN by default.
        local function new_part(precision, fast_i, fast_j, along, poison, bad_cell)
            local function cells(i, j)
                local fast = i == fast_i and j == fast_j
                local u = fast and along == 'u' and 9 or 0.5
                local v = fast and along == 'v' and -9 or 0.25
                local bad = poison and i == poison[1] and j == poison[2]
                if bad then return unpack(bad_cell or { 1, u, v, 0 / 0 }) end
                return 1, u, v, 100
            end
            return part.new {
                device = device, nx = 37, ny = 11, dx = 0.5, dy = 0.25, precision = precision,
                cells = cells,
            }
        end

        local function expected(along)
            local u, v = along == 'u' and 9 or 0.5, along == 'v' and 9 or 0.25
            local c = math.sqrt(1.4 * 0.4 * (100 - (u * u + v * v) / 2))
            local calm = math.sqrt(1.4 * 0.4 * (100 - (0.5 ^ 2 + 0.25 ^ 2) / 2))
            return math.max((u + c) / 0.5, (v + c) / 0.25, (0.25 + calm) / 0.25)
        end

        it('are the largest rate for any groups, wherever it is', function()
            for _, groups in ipairs { { 1, 1, 64 }, { 2, 3, 5 }, { 37, 11, 1 }, { 4, 1, 16 } } do
                for _, place in ipairs { { 0, 0 }, { 36, 10 }, { 36, 0 }, { 17, 5 } } do
                    for _, along in ipairs { 'u', 'v' } do
                        local p = new_part('double', place[1], place[2], along)
                        local rate_found = p:measure(groups[1], groups[2], groups[3])
                        assert.near(expected(along), rate_found, 1e-12)
                    end
                end
            end
        end)

        it('are NaN if one cell is', function()
            for _, place in ipairs { { 0, 0 }, { 36, 10 }, { 20, 3 } } do
                local p = new_part('float', 5, 5, 'u', place)
                local largest = p:measure(2, 3, 5)
                assert.is_true(largest ~= largest)
            end
        end)

        it('are no number where density or pressure is not one that can be', function()
            local bad = { { -1, 0.5, 0.25, -100 }, { -1, 0.5, 0.25, 100 }, { 0, 0, 0, 1 },
                { 0, 0, 0, 0 }, { 1, 0, 0, 0 }, { 1, 9, 0, 1 }, { math.huge, 0.5, 0.25, 100 },
                { -math.huge, 0, 0, -100 }, { 1, 0, 0, math.huge }, { 1, math.huge, 0, 100 },
                { 1, 0, -math.huge, 100 }, { math.huge, 0, 0, math.huge } }
            for _, precision in ipairs { 'float', 'double' } do
                for _, cell in ipairs(bad) do
                    local p = new_part(precision, 5, 5, 'u', { 20, 3 }, cell)
                    local largest = p:measure(2, 3, 5)
                    assert.is_true(largest - largest ~= 0, table.concat(cell, ', '))
                end
            end
        end)

        it('of a last sweep are those of the state it leaves', function()
            for _, order in ipairs { 'xy', 'yx' } do
                for _, shape in ipairs(sample(part.shapes, 1)) do
                    local p = new_part('float', 36, 10, 'v')
                    p:advance(order, 1e-3, shape, 'hllc', 'mc')
                    assert.equal(p:largest_rate(), p:measure(1, 1, 64))
                end
            end
        end)

        it('of a last sweep are NaN if one cell is', function()
            local p = new_part('float', 36, 10, 'v', { 20, 3 })
            p:advance('xy', 1e-3, part.shapes[1], 'hllc', 'mc')
            local largest = p:largest_rate()
            assert.is_true(largest ~= largest)
        end)
    end)
end
