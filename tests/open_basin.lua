-- open_basin.lua - an ocean with all that a split of the grid could disturb: open sides of three
-- kinds, a tide, wind, friction and rotation, on a plane or a sphere.

local mare = require 'mare'

local wave = { { name = 'M2', amplitude = function(_, y) return 0.1 + y / 1e6 end, phase = 40,
    current_amplitude = 0.02, current_phase = 10 } }

-- Returns fields of mare.simulation, all but options. turns: the seconds at which the wind and what
-- is known in the west and in the north change
return function(scheme, is_sphere, turns)
    return {
        grid = mare.grid(is_sphere and { nx = 26, ny = 22, x = { 0, 0.5 }, y = { 60, 60.2 },
            coordinates = 'longitude-latitude' }
            or { nx = 26, ny = 22, x = { 0, 26e3 }, y = { 0, 22e3 } }),
        scheme = mare.ocean {
            scheme = scheme, depth = function(x, y) return 40 + x / 1e3 + y / 2e3 end,
            coriolis = is_sphere and 'latitude' or { f = 1e-4, beta = 2e-11 },
            friction = { kind = 'quadratic', coefficient = 2.5e-3 },
            wind = { times = { 0, turns[1], 2500 },
                value = function(x, _, t) return x / 1e5, t / 1e4 end },
        },
        boundaries = {
            west = { kind = 'sponge', width = 9, hv = 1,
                eta = { times = { 0, turns[2], 3000 }, series = { 0, 0.2, -0.1 } } },
            east = { kind = 'flather', constituents = wave },
            north = { kind = 'elevation', eta = { times = { 0, turns[3], 1400 },
                value = function(x, _, t) return x * t / 1e9 end } },
            south = 'reflective',
        },
        initial = function(x, y) return 0.1 * math.sin(x / 3e3) * math.cos(y / 4e3), 0, 0 end,
    }
end
