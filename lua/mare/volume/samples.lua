-- What a time series (run/series.lua) takes of a volume: integrals over the domain, and variables
-- at gauges. Integrals are summed slice by slice on the devices, in an order that follows from the
-- grid alone, so that their bits do not depend on slabs; the host adds slices from low to high, on
-- each rank all of them. A variable whose function becomes no kernel is summed on the host.

local bind = require 'mare.array.bind'
local collection = require 'mare.ranks.collection'
local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local lua_code = require 'mare.schemes.lua_code'
local memory = require 'bindings.memory'
local tables = require 'bindings.tables'
local variables = require 'mare.volume.variables'

local samples = { axes = { 'x', 'y', 'z' } }

samples.find = variables.find

-- Returns the cell that holds a place { x, y, z }, and the centre of that.
function samples.locate(grid, at)
    local i, j, k = grid:cell('x', at.x), grid:cell('y', at.y), grid:cell('z', at.z)
    return { i = i, j = j, k = k, x = grid:centre('x', i), y = grid:centre('y', j),
        z = grid:centre('z', k) }
end

-- ---- gauges ----

local Points = {}
Points.__index = Points

-- names: of the variables; gauges: with their cells
function samples.points(sim, names, gauges)
    return setmetatable({ sim = sim, names = names, gauges = gauges, data = {} }, Points)
end

-- Takes the values as they are now.
function Points:take()
    local at = 0
    for _, name in ipairs(self.names) do
        for _, gauge in ipairs(self.gauges) do
            local box = { i = gauge.i, j = gauge.j, k = gauge.k, nx = 1, ny = 1, nz = 1 }
            self.data[at], at = self.sim:field(name, box)[0], at + 1
        end
    end
end

function Points:wait() return self.data end

-- ---- integrals ----

local Sums = {}
Sums.__index = Sums

local width = 256       -- work-items of a slice; sums have other bits with another number

-- Returns the program of volume/sums.krn for these variables.
function samples.program(scheme, list, precision)
    return scheme.equation:program('volume/sums.krn', { math = 'strict',
        before = lua_code.values(scheme.equation, 'integrals', list),
        defines = tables.merged(scheme.defines, { MARE_REAL = precision, W = 1, GROUP = 32,
            TEAM = 32, WIDTH = width, SUMS = #list }) })
end

-- Returns whether a variable's function becomes a kernel.
local function is_summed(scheme, v)
    local ok, reason = pcall(lua_code.values, scheme.equation, 'integrals', { v })
    if not ok and not errors.is(reason) then error(reason, 0) end
    return ok
end

-- Returns those of a list of integrals that devices sum, and the others.
local function divided(sim, all)
    local summed, others = {}, {}
    for n, integral in ipairs(all) do
        local v = variables.find(sim.scheme, integral.variable)
        local list = is_summed(sim.scheme, v) and summed or others
        list[#list + 1] = { at = n, variable = v }
    end
    return summed, others
end

-- Binds the sums of a slab: for each of its buffers the launches in order.
local function bind_slab(sim, slab, program, count)
    local own = { {}, {}, count = count * slab.nz, first = count * slab.k0,
        sums = slab.device:buffer { type = 'double', count = width * count * slab.nz,
            label = 'integrals' },
        totals = slab.device:buffer { type = 'double', count = count * slab.nz,
            label = 'integrals' } }
    for way, from in ipairs { slab.state, slab.scratch } do
        local values = tables.merged(sim.scheme.equation:values(sim.scheme.numbers),
            sim:block(slab), { src = from, sums = own.sums, totals = own.totals })
        own[way][1] = bind(program:kernel 'slice_sums', values, { global = { width, slab.nz } })
        own[way][2] = bind(program:kernel 'slice_totals', values, { global = { count, slab.nz } })
    end
    return own
end

-- Returns what brings the sums of the slices of all ranks to each of them.
local function new_collection(sim, count)
    local boxes, bytes = {}, 8 * count
    for k, slab in ipairs(sim.fields.of_part) do
        boxes[k] = { rank = slab.rank, width = bytes * slab.nz, height = 1, depth = 1,
            dst_offset = bytes * slab.k0, dst_pitch = bytes * slab.nz, dst_slice = 0 }
    end
    return collection.new(boxes, bytes * sim.grid.nz, true)
end

-- all: { { name =, variable = }, ... }. All ranks make the same calls.
function samples.sums(sim, all)
    local summed, others = divided(sim, all)
    local self = setmetatable({ sim = sim, summed = summed, others = others, values = {},
        slabs = {} }, Sums)
    local list = tables.column(summed, 'variable')
    local program = list[1] and samples.program(sim.scheme, list, sim.precision)
    for k, slab in ipairs(program and sim.fields.list or {}) do
        self.slabs[k] = bind_slab(sim, slab, slab.device:program(program), #list)
    end
    self.collection = new_collection(sim, #list)
    return self
end

-- Queues everything. The last values must have been fetched.
function Sums:take()
    for _, own in ipairs(self.slabs) do
        for _, launch in ipairs(own[self.sim.fields.at]) do launch:run() end
    end
    for _, one in ipairs(self.others) do
        self.values[one.at] = self.sim:integral(one.variable.name)
    end
end

-- Returns the sums of all slices, those of one behind the other.
local function slices_of(self)
    local count = #self.summed * self.sim.grid.nz
    local data = memory.array('double', math.max(1, count))
    local at = 0                        -- where ranks have theirs before they are brought together
    for _, own in ipairs(self.slabs) do
        if here.rank == 0 then at = own.first end
        own.totals:download { into = data + at, count = own.count }
        at = at + own.count
    end
    if count > 0 then self.collection:run(data) end
    return data, count
end

-- Waits for what was taken last, and adds the values to the list `into`.
function Sums:fetch(into)
    local g, kinds = self.sim.grid, #self.summed
    for _, one in ipairs(self.summed) do self.values[one.at] = 0 end
    local data, count = slices_of(self)
    for at = 0, count - 1 do
        local n = self.summed[at % kinds + 1].at
        self.values[n] = self.values[n] + data[at]
    end
    for _, one in ipairs(self.summed) do
        self.values[one.at] = self.values[one.at] * g.dx * g.dy * g.dz
    end
    for _, value in ipairs(self.values) do into[#into + 1] = value end
end

function Sums:release()
    for _, own in ipairs(self.slabs) do
        for way = 1, 2 do
            for _, launch in ipairs(own[way]) do launch:release() end
        end
        own.sums:release()
        own.totals:release()
    end
end

return samples
