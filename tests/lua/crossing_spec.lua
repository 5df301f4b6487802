-- Copies between two devices of a process: in order with the work of both, queued where one reaches
-- the other's memory. Two handles of a device count as two devices.

local crossing = require 'mare.links.crossing'
local device = require 'bindings.device'
local devices = require 'tests.devices'

for _, info in ipairs(devices()) do
    describe('copies between handles of ' .. info.name, function()
        local one, other = device.open(info.name), device.open(info.name)
        local rounds, count = 20, 4096

        local function buffers(call, how)
            local from = one:buffer { type = 'int32', count = count }
            local to = other:buffer { type = 'int32', count = count }
            local all = other:buffer { type = 'int32', count = count * rounds }
            return crossing.new(to, from, call, how), from, to, all
        end

        local box = { width = 4 * 64, height = count / 64, src_pitch = 4 * 64 }

        for call, how in pairs { copy = { count = count }, copy_region = box } do
            it('see what came before, and nothing later: ' .. call, function()
                local copy, from, to, all = buffers(call, how)
                for k = 1, rounds do
                    from:fill(k, { stream = one.stream })
                    copy:run()
                    from:fill(-1, { stream = one.stream })
                    all:copy(to, { offset = (k - 1) * count, stream = other.stream })
                end
                local found = all:totable()
                for k = 1, rounds do
                    for _, at in ipairs { 1, 64, count } do
                        assert.equal(k, found[(k - 1) * count + at])
                    end
                end
                for _, object in ipairs { copy, from, to, all } do object:release() end
            end)
        end

        it('go both ways at once', function()
            local there, a, b = buffers('copy', { count = count / 2 })
            local back = crossing.new(a, b, 'copy', { offset = count / 2, src_offset = count / 2,
                count = count / 2 })
            for k = 1, rounds do
                a:fill(k, { stream = one.stream })
                b:fill(-k, { stream = other.stream })
                crossing.run_all { there, back }
                a:fill(k, { count = count / 2, stream = one.stream })
                local left, right = a:totable(), b:totable()
                assert.same({ k, -k, k, -k }, { left[1], left[count], right[1], right[count] })
            end
            for _, object in ipairs { there, back, a, b } do object:release() end
        end)

        it('can be queued where they are peers', function()
            local copy, from, to, all = buffers 'copy'
            assert.equal(other:can_reach(one), copy.written ~= nil)
            for _, object in ipairs { copy, from, to, all } do object:release() end
        end)
    end)
end
