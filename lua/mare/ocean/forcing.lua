-- Wind stress and air pressure on the water. The device has them at two times, between which
-- kernels interpolate; the simulation stops exactly at each time of a record, and renews them. See
-- FORCE_* in base/constants.lua, whose order their values are in.

local constants = require 'mare.base.constants'
local layout = require 'mare.array.layout'
local memory = require 'bindings.memory'
local records = require 'mare.forcing.records'
local timeline = require 'mare.forcing.timeline'

local forcing = {}

local Forcing = {}
Forcing.__index = Forcing

local forces = constants.FORCES

-- options: { wind = along x and y (N/m2), pressure = (Pa), rho = of water (kg/m3) }, both as
-- timeline.new takes them
function forcing.new(options, grid, boundaries)
    local wind = timeline.new('wind', options.wind, 2)
    local pressure = timeline.new('pressure', options.pressure, 1)
    local list = {}
    for _, given in ipairs { wind or false, pressure or false } do
        if given then list[#list + 1] = given end
    end
    local self = setmetatable({
        grid = grid, boundaries = boundaries, wind = wind, pressure = pressure, rho = options.rho,
        times = timeline.union(list), files = timeline.records(list), uniform = true,
    }, Forcing)
    for _, one in ipairs(list) do self.uniform = self.uniform and one.uniform end
    self:at((timeline.around(self.times, 0)), grid:x_centre(0), grid:y_centre(0))    -- or raises
    return self
end

-- Returns FORCING of the kernels.
function Forcing:kind()
    if not self.wind and not self.pressure then return 0 end
    return self.uniform and constants.FORCING_UNIFORM or constants.FORCING_BY_CELL
end

-- Returns stress along x and y and pressure over the density, at a place.
function Forcing:at(t, x, y)
    local tau_x, tau_y, p = 0, 0, 0
    if self.wind then tau_x, tau_y = self.wind.at(t, x, y) end
    if self.pressure then p = self.pressure.at(t, x, y) end
    return tau_x / self.rho, tau_y / self.rho, p / self.rho
end

-- All forces of a part at time t into an array: planes of its layout, or one number each.
local function level(self, state, t)
    local l, part, g = state.layout, state.part, self.grid
    if self.uniform then return { self:at(t, g:x_centre(0), g:y_centre(0)) } end
    local data = memory.array(state.precision, forces * l.plane)
    for j = -l.halo, l.ny + l.halo - 1 do
        for i = -l.halo, l.nx + l.halo - 1 do
            local a, b = g:wrapped(self.boundaries, part.i0 + i, part.j0 + j)
            local k = l:offset(0, i, j)
            data[k], data[k + l.plane], data[k + 2 * l.plane] =
                self:at(t, g:x_centre(a), g:y_centre(b))
        end
    end
    return data
end

-- Makes a part's records, with room for the last work-item of a row to read past their end.
function Forcing:records(state)
    return records.new {
        device = state.device, precision = state.precision, times = self.times,
        count = forces * (self.uniform and 1 or state.layout.plane), room = layout.tail,
        label = 'forcing of part ' .. state.part.index,
        at = function(t) return level(self, state, t) end,
    }
end

return forcing
