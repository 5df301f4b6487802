-- A sample of tests/long/readers.lua: damaged files are refused in words by every reader.

local mutate = require 'tests.mutate'
local trial = require 'tests.scenarios.trial'

local sample = { literal = 200, tuned = 200, tuning = 100, gauges = 200, wind = 60, roms = 40,
    checkpoint = 20, netcdf = 60, cache = 10, boundary = 20 }

-- Seeds of cases that once crashed, hung or showed an error of Lua.
local known = { netcdf = { 3013 }, checkpoint = { 1874 }, roms = { 6166, 4517 } }

local function seeds(kind)
    local list = {}
    for seed = 1, sample[kind] do list[seed] = seed end
    for _, seed in ipairs(known[kind] or {}) do list[#list + 1] = seed end
    return list
end

describe('a damaged file', function()
    for kind in pairs(mutate.kinds) do
        it('of the kind ' .. kind .. ' shows no error of Lua', function()
            local folder = trial.new_folder()
            local found = {}
            for _, seed in ipairs(seeds(kind)) do
                math.randomseed(seed)
                local problem = mutate.case(kind, folder)
                if problem then found[#found + 1] = ('%d: %s'):format(seed, problem) end
            end
            trial.remove(folder)
            assert.same({}, found)
        end)
    end

    it('that ends in an error of Lua is found', function()
        mutate.kinds.planted = function() return nil .. '' end
        assert.matches('attempt to concatenate', mutate.case('planted'))
        mutate.kinds.planted = function() error('x.nc: is no file', 0) end
        assert.is_nil(mutate.case 'planted')
        mutate.kinds.planted = nil
    end)
end)
