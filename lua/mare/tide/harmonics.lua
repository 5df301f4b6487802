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
local tides = require 'mare.forcing.tides'

local harmonics = {}

local Harmonics = {}
Harmonics.__index = Harmonics

local fields = { constituents = 'table', variable = 'string', from = 'number', arguments = 'table' }

-- desc: { constituents = { names }, variable = an unknown of the scheme
-- (default: the first), from = the time (s) of the first sample (0), arguments
-- = { NAME = of tides.argument, ... } at t = 0, or nil }.
function harmonics.new(desc)
    errors.fields('harmonics', desc, fields)
    return setmetatable({
        fit = tides.fit(desc.constituents or { 'M2' }), variable = desc.variable,
        from = desc.from or 0, arguments = desc.arguments, pieces = {},
    }, Harmonics)
end

local function plane_of(self, scheme)
    for k, name in ipairs(scheme.fields) do
        if name == (self.variable or scheme.fields[1]) then return k - 1 end
    end
    errors.argument("harmonics: variable '%s' (there are: %s)", self.variable,
        table.concat(scheme.fields, ', '))
end

-- Makes what all parts on a device share.
local function new_lane(self, member, precision)
    local device, speeds = member.device, self.fit.speeds
    local program = device:program(source.program('tide/harmonics.krn',
        { defines = { MARE_REAL = precision } }))
    local lane = { program = program,
        speeds = device:buffer { type = 'double', count = #speeds, label = 'speeds of tides' },
        basis = device:buffer { type = 'double', count = self.fit.size, label = 'harmonics' } }
    lane.speeds:upload(speeds)
    lane.launch = program:kernel 'harmonic_basis':bind { clock = member.clock.buffer,
        speeds = lane.speeds, waves = #speeds, basis = lane.basis, global = { #speeds + 1 } }
    return lane
end

local function new_piece(self, lane, s, plane)
    local nx, ny, size = s.part.nx, s.part.ny, self.fit.size
    local sums = s.device:buffer { type = 'double', count = size * nx * ny,
        label = 'sums of part ' .. s.part.index }
    sums:fill(0)
    return { state = s, sums = sums, launch = lane.program:kernel 'harmonic_sums':bind {
        src = s.now, origin = s.layout:offset(plane, 0, 0), stride = s.layout.stride, nx = nx,
        ny = ny, basis = lane.basis, functions = size, sums = sums, global = { nx, ny } } }
end

local function attach(self, sim)
    local plane = plane_of(self, sim.scheme)
    self.sim, self.lanes = sim, {}
    for k, member in ipairs(sim.members) do
        self.lanes[k] = new_lane(self, member, sim.precision)
        for _, s in ipairs(sim.states) do
            if s.member == member then
                self.pieces[#self.pieces + 1] = new_piece(self, self.lanes[k], s, plane)
            end
        end
    end
end

-- Adds the present state, unless it is too early. A run calls this.
function Harmonics:take(sim)
    if sim.now.t < self.from then return end
    if not self.sim then attach(self, sim) end
    sim:find_state()
    for _, lane in ipairs(self.lanes) do lane.launch:run() end
    for _, piece in ipairs(self.pieces) do
        piece.launch:set('src', piece.state[piece.state.present])
        piece.launch:run()
    end
    self.fit:add(sim.now.t)
end

-- Downloads the sums of the whole grid: one plane after the other, x fastest.
local function download(self, host)
    local g, size = self.sim.grid, self.fit.size
    for _, piece in ipairs(self.pieces) do
        local part = piece.state.part
        piece.sums:download_region(host, { width = 8 * part.nx, height = part.ny, depth = size,
            src_pitch = 8 * part.nx, src_slice = 8 * part.nx * part.ny, dst_pitch = 8 * g.nx,
            dst_slice = 8 * g.cells, dst_offset = 8 * (part.j0 * g.nx + part.i0) })
    end
end

-- ---- checkpoints ----

-- Returns the bytes that save() writes.
function Harmonics:saved_bytes(grid)
    return 8 * self.fit.size * grid.cells
end

-- Writes the sums to the pointer `host`. Returns the plain values that a
-- checkpoint must keep too. Waits for the devices.
function Harmonics:save(host)
    if self.sim then download(self, host) end
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

-- Continues from what save() has left. host: a pointer to the sums. Raises an
-- error if they belong to other constituents, another unknown or another
-- starting time.
function Harmonics:load(sim, host, kept)
    check_same(self, sim, kept)
    if kept.count == 0 then return end
    attach(self, sim)
    self.fit.count, self.fit.sums = kept.count, kept.sums
    local g, size = sim.grid, self.fit.size
    for _, piece in ipairs(self.pieces) do
        local part = piece.state.part
        piece.sums:upload_region(host, { width = 8 * part.nx, height = part.ny, depth = size,
            dst_pitch = 8 * part.nx, dst_slice = 8 * part.nx * part.ny, src_pitch = 8 * g.nx,
            src_slice = 8 * g.cells, src_offset = 8 * (part.j0 * g.nx + part.i0) })
    end
end

-- ---- results ----

-- Returns a function from the number of a cell to an array of its mean and then
-- A cos g and A sin g of each constituent. Waits for the devices.
local function solution(self)
    if not self.sim then errors.raise('MARE_ERROR_STATE', 'harmonics: no sample was taken') end
    local cells, size, right = self.sim.grid.cells, self.fit.size, {}
    local solve = self.fit:solver(self.arguments)
    local sums = memory.array('double', size * cells)
    download(self, sums)
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
    for _, piece in ipairs(self.pieces) do
        piece.launch:release()
        piece.sums:release()
    end
    for _, lane in ipairs(self.lanes or {}) do
        for _, name in ipairs { 'launch', 'speeds', 'basis' } do lane[name]:release() end
    end
end

return harmonics
