-- Rayleigh-Taylor instability: dense gas lies on light gas, falls through it as a spike, and the
-- light gas rises in bubbles. Set-up of Holm, Brodtkorb and Saetra (2020), with walls all around.
--
--   interface   the interface between the gases is bent, 0.01 cos(4 pi x), and the gas is at rest
--   velocity    the interface is flat, and the gas moves up and down, less so away from it

local mare = require 'mare'

local o = mare.options {
    title = 'Rayleigh-Taylor instability',
    help = 'Dense gas falls through light gas under gravity.',
    mare.options.simulation, mare.euler.options,
    { name = 'nx', default = 200 },
    { name = 'ny', default = 600 },
    { name = 'image', default = 'rayleigh_taylor.png' },
    { name = 't-end', default = 10 },
    { name = 'gravity', default = 0.1, type = 'number', range = { 0, 10 },
        help = 'gravity, towards -y' },
    { name = 'perturbation', default = 'interface', choices = { 'interface', 'velocity' },
        help = 'what is perturbed initially' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { -0.25, 0.25 }, y = { -0.75, 0.75 } }

local light, dense, pressure = 1, 2, 2.5    -- densities below and above; pressure between them
local bent = o.perturbation == 'interface'

-- Returns means over the cell, so that the interface is not a staircase.
local function initial(x, y)
    local height = bent and 0.01 * math.cos(4 * math.pi * x) or 0
    local above = math.max(0, math.min(1, 0.5 + (y - height) / grid.dy))
    local rho = light + (dense - light) * above
    local v = bent and 0
        or 0.01 * (1 + math.cos(4 * math.pi * x)) * (1 + math.cos(4 / 3 * math.pi * y)) / 4
    return rho, 0, v, pressure - rho * o.gravity * y
end

local sim = mare.run {
    title = 'Rayleigh-Taylor instability', options = o, grid = grid, boundaries = 'reflective',
    scheme = mare.euler { gamma = 1.4, gravity = o.gravity, options = o },
    initial = initial,
    picture = { variable = 'rho', label = 'density', range = { 0.9, 2.1 } },
}
return { sim = sim }
