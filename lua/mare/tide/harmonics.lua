-- Harmonic analysis of a run, in every cell, during the run. The devices sum an
-- unknown times cosine and sine of each constituent
-- (kernels/tide/harmonics.krn) without being stopped. The host keeps the normal
-- equations of these functions (tides.lua) and solves for amplitudes and phases
-- at the end. The sums of a cell do not depend on the decomposition. A run with
-- an analysis keeps the sums in its checkpoints, and continues with the same
-- bits.
--
--     local analysis = mare.harmonics { constituents = { 'M2', 'S2' }, from = days }
--     mare.run { analyses = { analysis },
--         every_steps = { { 20, function(sim) analysis:take(sim) end } }, ... }
--     local found = analysis:result()     -- found.M2.amplitude[k], .phase[k], found.mean[k]

local errors = require 'bindings.errors'
local memory = require 'bindings.memory'
local source = require 'mare.base.source'
local structure = require 'mare.base.structure'
local tides = require 'mare.forcing.tides'

local harmonics = {}

local Harmonics = {}
Harmonics.__index = Harmonics

local allowed = {
    constituents = 'table', variable = 'string', from = 'number', arguments = 'table',
}

-- desc: { constituents = { names }, variable = an unknown of the scheme
-- (default: the first), from = the time (s) of the first sample (0), arguments
-- = { NAME = of tides.argument, ... } at t = 0, or nil }.
function harmonics.new(desc)
    errors.fields('harmonics', desc, allowed)
    return setmetatable({
        fit = tides.fit(desc.constituents or { 'M2' }), variable = desc.variable,
        from = desc.from or 0, arguments = desc.arguments,
    }, Harmonics)
end

-- The unknown that is analysed.
local function variable_of(self, scheme)
    for _, name in ipairs(scheme.fields) do
        if name == (self.variable or scheme.fields[1]) then return name end
    end
    errors.argument("harmonics: variable '%s' (there are: %s)", self.variable,
        table.concat(scheme.fields, ', '))
end

-- Makes the sums of each part and, on each device, the values of the functions at the state's time.
local function attach(self, sim)
    local variable = variable_of(self, sim.scheme)
    local fields, names, size = sim.fields, {}, self.fit.size
    local program = source.program('tide/harmonics.krn', {
        defines = { MARE_REAL = sim.precision } })
    for k = 1, size do names[k] = 'function ' .. k end
    self.sim, self.sums = sim, fields:like { names = names, precision = 'double', packed = true,
        label = 'sums' }
    self.speeds = fields:replicate { type = 'double', count = #self.fit.speeds,
        values = self.fit.speeds, label = 'speeds of tides' }
    self.basis = fields:replicate { type = 'double', count = size, label = 'harmonics' }
    self.compute = self.basis:map { program = program, kernel = 'harmonic_basis',
        global = #self.fit.speeds + 1,
        values = { speeds = self.speeds, waves = #self.fit.speeds, basis = self.basis } }
    self.add = fields:map { program = program, kernel = 'harmonic_sums', field = variable,
        values = { basis = self.basis, functions = size, sums = self.sums } }
end

-- Adds the present state, unless it is too early. A run calls this.
function Harmonics:take(sim)
    if sim.now.t < self.from then return end
    if not self.sim then attach(self, sim) end
    sim.fields:settle()
    self.compute:run()
    self.add:run()
    self.fit:add(sim.now.t)
end

-- ---- checkpoints ----

-- Returns the bytes that save() writes.
function Harmonics:saved_bytes(grid)
    return 8 * self.fit.size * grid.cells
end

-- Writes the sums to the pointer `host`. Returns the plain values that a
-- checkpoint must keep too. Waits for the devices.
function Harmonics:save(host)
    if self.sim then self.sums:save(host) end
    return { names = self.fit.names, variable = self.variable, from = self.from,
        count = self.fit.count, sums = self.fit.sums }
end

-- Raises an error if the sums of a checkpoint belong to another analysis. Its
-- starting time may still change before the first sample.
local function check_same(self, sim, kept)
    local names, before = table.concat(self.fit.names, ','), table.concat(kept.names, ',')
    if names ~= before then
        errors.usage('harmonics: the checkpoint has sums for %s, the run wants %s', before, names)
    end
    local first = sim.scheme.fields[1]
    local variable, earlier = self.variable or first, kept.variable or first
    if variable ~= earlier then
        errors.usage("harmonics: the checkpoint has sums of '%s', the run wants '%s'", earlier,
            variable)
    end
    if kept.from ~= self.from and math.min(kept.from, self.from) < sim.now.t then
        errors.usage('harmonics: the checkpoint, at t = %.14g, has sums from t = %.14g, the run '
            .. 'wants them from %.14g (is --spin-up another?)', sim.now.t, kept.from, self.from)
    end
end

-- What a checkpoint holds of an analysis beside its sums of each cell. size: of
-- the fit.
local function kept_rule(size)
    return { names = structure.list(structure.text), variable = structure.optional(structure.text),
        from = structure.number, count = structure.whole,
        sums = structure.list(structure.number, size ^ 2) }
end

-- Continues from what save() has left. host: a pointer to the sums. Raises an
-- error if they belong to other constituents, another unknown or another
-- starting time.
function Harmonics:load(sim, host, kept)
    local fault = structure.fault(kept, kept_rule(self.fit.size))
    if fault then errors.usage('harmonics: the checkpoint is damaged: %s', fault) end
    check_same(self, sim, kept)
    if kept.count == 0 then return end
    attach(self, sim)
    self.fit.count, self.fit.sums = kept.count, kept.sums
    self.sums:load(host)
end

-- ---- results ----

-- Returns a function from the number of a cell to an array of its mean and then
-- A cos g and A sin g of each constituent. Waits for the devices.
local function solution(self)
    if not self.sim then errors.raise('MARE_ERROR_STATE', 'harmonics: no sample was taken') end
    local cells, size, right = self.sim.grid.cells, self.fit.size, {}
    local solve = self.fit:solver(self.arguments)
    local sums = memory.array('double', size * cells)
    self.sums:save(sums, nil, nil, true)
    return function(n)
        for k = 1, size do right[k] = sums[(k - 1) * cells + n] end
        return solve(right)
    end
end

-- Returns { mean = array, NAME = { amplitude = array, phase = array (degrees)
-- }, ... }. Arrays have one double per cell, from 0, x fastest, south first.
-- Waits for the devices.
function Harmonics:result()
    local solve, names = solution(self), self.fit.names
    local cells = self.sim.grid.cells
    local found = { mean = memory.array('double', cells) }
    for _, name in ipairs(names) do
        found[name] = { amplitude = memory.array('double', cells),
            phase = memory.array('double', cells) }
    end
    for n = 0, cells - 1 do
        local x = solve(n)
        found.mean[n] = x[1]
        for k, name in ipairs(names) do
            local wave = found[name]
            wave.amplitude[n], wave.phase[n] = tides.polar(x[2 * k], x[2 * k + 1])
        end
    end
    return found
end

-- Returns the analysis of single cells { { i, j }, ... }, counted from 0: { {
-- NAME = { A cos g, A sin g }, ... }, ... }. Waits for the devices.
function Harmonics:at(cells)
    local solve, list = solution(self), {}
    for n, cell in ipairs(cells) do
        local x, waves = solve(cell[2] * self.sim.grid.nx + cell[1]), {}
        for k, name in ipairs(self.fit.names) do waves[name] = { x[2 * k], x[2 * k + 1] } end
        list[n] = waves
    end
    return list
end

-- Releases the memory.
function Harmonics:release()
    if not self.sim then return end
    for _, name in ipairs { 'compute', 'add', 'basis', 'speeds', 'sums' } do
        self[name]:release()
    end
end

return harmonics
