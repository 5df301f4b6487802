-- The open boundary of a basin as a chain of knots with linear interpolation,
-- and the tide inside the basin for given values at the knots. Many copies of a
-- small basin are computed side by side in one run (basin.lua, beside), since
-- one alone would leave the device idle. A boundary is { NAME = { { A cos g, A
-- sin g } of each knot }, ... } by constituent.

local files = require 'bindings.files'
local harmonics = require 'mare.tide.harmonics'
local errors = require 'bindings.errors'
local loop = require 'mare.run.loop'
local simulation = require 'mare.run.simulation'
local tides = require 'mare.forcing.tides'

local chain = {}

local Chain = {}
Chain.__index = Chain

-- desc: { basin =, spacing = cells between knots, gauges = { { i, j }, ... }
-- where the tide is wanted, sea = function(depth, tide, more) -> scheme,
-- options = of mare.simulation, together = copies in a run (20) }. The result
-- has `knots`, their number, and `smoothness`, see Basin:edge.
function chain.new(desc)
    errors.fields('chain', desc, { basin = 'table', spacing = 'number', gauges = 'table',
        sea = 'function', options = 'table', together = 'number' })
    errors.needs('chain', desc, { 'basin', 'spacing', 'gauges', 'sea' })
    local self = setmetatable({ basin = desc.basin, gauges = desc.gauges, sea = desc.sea,
        options = desc.options, together = desc.together or 20 }, Chain)
    self.cells, self.knots, self.smoothness = desc.basin:edge(desc.spacing)
    return self
end

-- Returns amplitude and phase in each open cell for values at the knots.
function Chain:spread(values)
    local amplitude, phase = {}, {}
    for n, cell in ipairs(self.cells) do
        local re, im = 0, 0
        for k, share in pairs(cell.shares) do
            re, im = re + share * values[k][1], im + share * values[k][2]
        end
        amplitude[n], phase[n] = tides.polar(re, im)
    end
    return amplitude, phase
end

-- Returns the tide of copies that are `pitch` columns apart, for mare.ocean.
local function tide_of(self, boundaries, names, pitch, ramp)
    local cells, constituents = {}, {}
    for m = 1, #boundaries do
        for _, cell in ipairs(self.cells) do
            cells[#cells + 1] = { cell[1] + (m - 1) * pitch, cell[2] }
        end
    end
    for c, name in ipairs(names) do
        local wave = { name = name, amplitude = {}, phase = {} }
        for m, boundary in ipairs(boundaries) do
            local amplitude, phase = self:spread(boundary[name])
            for n = 1, #self.cells do
                local at = (m - 1) * #self.cells + n
                wave.amplitude[at], wave.phase[at] = amplitude[n], phase[n]
            end
        end
        constituents[c] = wave
    end
    return { cells = cells, ramp = ramp, constituents = constituents }
end

local function run(self, boundaries, names, times, more)
    local grid, depth, pitch = self.basin:beside(#boundaries)
    local analysis = harmonics.new { constituents = names, from = times.from }
    local sim = simulation.new {
        options = self.options, grid = grid, boundaries = 'reflective',
        initial = function() return 0, 0, 0 end,
        scheme = self.sea(depth, tide_of(self, boundaries, names, pitch, times.ramp), more),
    }
    loop.run(sim, { t_end = times.last, quiet = true,
        every_steps = { { 20, function(s) analysis:take(s) end } } })
    local cells = {}
    for m = 1, #boundaries do
        for _, cell in ipairs(self.gauges) do
            cells[#cells + 1] = { cell[1] + (m - 1) * pitch, cell[2] }
        end
    end
    local waves = analysis:at(cells)
    analysis:release()
    sim:release()
    return waves
end

-- Returns the tide at the gauges: { { { NAME = { A cos g, A sin g }, ... } of
-- each gauge, ... } of each boundary. times: { last =, from = the start of the
-- analysis, ramp = until the tide has its full height }, in s. more: for `sea`.
function Chain:compute(boundaries, names, times, more)
    local list = {}
    for first = 1, #boundaries, self.together do
        local some = {}
        for m = first, math.min(first + self.together - 1, #boundaries) do
            some[#some + 1] = boundaries[m]
        end
        local waves = run(self, some, names, times, more)
        for m = 1, #some do
            local seen = {}
            for g = 1, #self.gauges do seen[g] = waves[(m - 1) * #self.gauges + g] end
            list[#list + 1] = seen
        end
    end
    return list
end

-- Writes a boundary as a table for mare.basin:
-- i,j,NAME_amplitude_m,NAME_phase_deg.
function Chain:write(path, names, boundary)
    local lines, waves = { 'i,j' }, {}
    for c, name in ipairs(names) do
        lines[1] = lines[1] .. (',%s_amplitude_m,%s_phase_deg'):format(name, name)
        waves[c] = { self:spread(boundary[name]) }
    end
    for n, cell in ipairs(self.cells) do
        local line = { ('%d,%d'):format(cell[1], cell[2]) }
        for c, wave in ipairs(waves) do
            line[c + 1] = ('%.4f,%.2f'):format(wave[1][n], wave[2][n])
        end
        lines[n + 1] = table.concat(line, ',')
    end
    local temporary = files.temporary(path)
    temporary:append(table.concat(lines, '\n') .. '\n')
    temporary:commit()
end

return chain
