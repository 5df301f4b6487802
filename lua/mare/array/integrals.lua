-- Integrals over the domain of variables of a simulation, such as mass and energy, summed on the
-- devices without stopping them. Only one number a row comes to the host, which adds these from
-- south to north, each with the area of a cell of its row. The order of every sum follows from the
-- whole grid, so the bits do not depend on its decomposition: parts take over the sums of a row
-- from their western neighbours; see kernels/array/sums.krn. What is no integral of the state, such
-- as what has come in since the start, a scheme keeps account of.

local snapshot = require 'mare.array.snapshot'
local source = require 'mare.base.source'

local integrals = {}

local Integrals = {}
Integrals.__index = Integrals

local lanes = 32            -- of sums.krn

-- Where a part finds a variable: buffer, first element, elements a row, and whether it is one of
-- the state.
local function place_of(self, k, name)
    local s = self.sim.states[k]
    for field, unknown in ipairs(self.sim.scheme.fields) do
        if unknown == name then
            return s[s.present], s.layout:offset(field - 1, 0, 0), s.layout.stride, true
        end
    end
    local piece, shot = self.shot.pieces[k], self.shot
    for n, derived in ipairs(shot.names) do
        if derived == name then
            return piece.staging, (n - 1) * piece.columns * piece.rows, piece.columns
        end
    end
end

local function bind_sums(self, program, k, sums)
    local s, launches, of_state = self.sim.states[k], {}, {}
    for n, integral in ipairs(self.list) do
        local src, origin, stride, is_field = place_of(self, k, integral.variable)
        of_state[n] = is_field
        launches[n] = program:kernel 'row_sums':bind {
            src = src, origin = origin, stride = stride, columns = s.part.nx, rows = s.part.ny,
            west = s.part.i0, sums = sums, global = { lanes, s.part.ny },
        }
    end
    return launches, of_state
end

-- The last part of a row of parts: { totals of each integral, launches, region on the host }.
local function new_end(self, program, s, sums)
    local rows, ny, count = s.part.ny, self.sim.grid.ny, #self.list
    local band = { device = s.device, launches = {},
        totals = s.device:buffer { type = 'double', count = count * rows, label = 'integrals' },
        region = { width = 8 * rows, height = count, src_pitch = 8 * rows, dst_pitch = 8 * ny,
            dst_offset = 8 * s.part.j0 } }
    for n = 1, count do
        band.launches[n] = program:kernel 'row_totals':bind {
            sums = sums, rows = rows, totals = band.totals, first = (n - 1) * rows, global = rows,
        }
    end
    return band
end

-- Parts west to east: each { state, launches, of_state = which of these read the state, copy =
-- { to, from } where its western neighbour is on another device, band = where it is the last of its
-- row }.
local function new_chain(self)
    local sums, last
    for k, s in ipairs(self.sim.states) do
        local copy
        if s.part.edge.west or last ~= s.device then
            local before = not s.part.edge.west and sums
            sums = s.device:buffer { type = 'double', count = lanes * s.part.ny,
                label = 'integrals' }
            self.buffers[#self.buffers + 1] = sums
            copy = before and { sums, before }
        end
        last = s.device
        local program = s.device:program(source.program('array/sums.krn', {
            defines = { MARE_REAL = self.sim.precision } }))
        local launches, of_state = bind_sums(self, program, k, sums)
        self.chain[k] = { state = s, launches = launches, of_state = of_state, copy = copy,
            band = s.part.edge.east and new_end(self, program, s, sums) or nil }
    end
end

-- What of the list has to be derived first, each once.
local function derived(scheme, list)
    local names, known = {}, {}
    for _, field in ipairs(scheme.fields) do known[field] = true end
    for _, integral in ipairs(list) do
        local name = integral.variable
        if not known[name] then names[#names + 1] = name end
        known[name] = true
    end
    return names
end

-- list: { { name =, variable = }, ... }, as a scheme's `integrals`, at the end of which may be
-- { name =, account = which number of those that scheme:new_accounts(sim) sums up }
function integrals.new(sim, all)
    local list, accounted = {}, {}
    for _, integral in ipairs(all) do
        table.insert(integral.account and accounted or list, integral)
    end
    local self = setmetatable({ sim = sim, list = list, chain = {}, buffers = {},
        of_state = {}, accounted = accounted }, Integrals)
    self.accounts = accounted[1] and sim.scheme:new_accounts(sim)
    local names, first = derived(sim.scheme, list), sim.members[1].device
    self.shot = names[1] and snapshot.new(sim, { variables = names, slots = 0 })
    self.host = first:host { type = 'double', count = #list * sim.grid.ny, label = 'integrals' }
    self.done = {}
    for k, member in ipairs(sim.members) do self.done[k] = member.device:event() end
    new_chain(self)
    return self
end

-- The sums of integral n over the rows of a part.
local function sum_rows(link, n, has_levels)
    local launch, s = link.launches[n], link.state
    if link.copy then link.copy[1]:copy(link.copy[2]) end
    if has_levels and link.of_state[n] then launch:set('src', s[s.present]) end
    launch:run()
    if link.band then link.band.launches[n]:run() end
end

-- Queues everything; the last values must have been fetched.
function Integrals:take()
    self.sim:find_state()
    if self.shot then self.shot:compute() end
    for n = 1, #self.list do
        for _, link in ipairs(self.chain) do sum_rows(link, n, self.sim.levels) end
    end
    for _, link in ipairs(self.chain) do
        local band = link.band
        if band then
            band.totals:download_region(self.host, band.region, band.device.stream)
        end
    end
    if self.accounts then self.accounts:take() end
    for k, member in ipairs(self.sim.members) do
        self.done[k]:record()
        member.device.stream:flush()
    end
end

-- Waits for what was taken last; the values are added to the list `into`.
function Integrals:fetch(into)
    for _, done in ipairs(self.done) do done:wait() end
    local grid, data = self.sim.grid, self.host.data
    for n = 1, #self.list do
        local sum = 0
        for j = 0, grid.ny - 1 do
            sum = sum + data[(n - 1) * grid.ny + j] * grid:cell_area(j)
        end
        into[#into + 1] = sum
    end
    local given = self.accounts and { self.accounts:sums() }
    for _, integral in ipairs(self.accounted) do into[#into + 1] = given[integral.account] end
end

function Integrals:release()
    if self.shot then self.shot:release() end
    if self.accounts then self.accounts:release() end
    for _, link in ipairs(self.chain) do
        for _, launch in ipairs(link.launches) do launch:release() end
        if link.band then
            for _, launch in ipairs(link.band.launches) do launch:release() end
            link.band.totals:release()
        end
    end
    for _, buffer in ipairs(self.buffers) do buffer:release() end
    for _, done in ipairs(self.done) do done:release() end
    self.host:release()
end

return integrals
