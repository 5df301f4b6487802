-- Integrates variables of a simulation over its domain, such as its mass, on
-- the devices and without stopping them (row_sums.lua). The host adds the sums
-- of rows from south to north, each times the area of a cell of its row. A scheme
-- keeps accounts of what is no integral of the state, such as what has flowed in
-- since the start.

local snapshot = require 'mare.array.snapshot'
local tables = require 'bindings.tables'

local integrals = {}

local Integrals = {}
Integrals.__index = Integrals

-- Returns the names of those variables that kernels must derive first, each once.
local function derived(scheme, list)
    local names, known = {}, tables.set(scheme.fields)
    for _, integral in ipairs(list) do
        local name = integral.variable
        if not known[name] then names[#names + 1] = name end
        known[name] = true
    end
    return names
end

-- Returns where each variable lies: in the fields, or in the samples.
local function sources_of(sim, list, samples)
    local unknown, sources = tables.set(sim.scheme.fields), {}
    for n, integral in ipairs(list) do
        local name = integral.variable
        sources[n] = { values = unknown[name] and sim.fields or samples, field = name }
    end
    return sources
end

-- all: { { name =, variable = }, ... }, as a scheme's `integrals`. At its end may be
-- { name =, account = the number of one of the sums of scheme:new_accounts(sim) }. most: whether
-- the largest sizes of the variables are wanted, not integrals
function integrals.new(sim, all, most)
    local list, accounted = {}, {}
    for _, integral in ipairs(all) do
        table.insert(integral.account and accounted or list, integral)
    end
    local self = setmetatable({ sim = sim, list = list, accounted = accounted, most = most },
        Integrals)
    self.accounts = accounted[1] and sim.scheme:new_accounts(sim)
    local names = derived(sim.scheme, list)
    self.samples = names[1] and snapshot.samples(sim, names)
    self.sums = sim.fields:reduce(sources_of(sim, list, self.samples), most)
    return self
end

-- Queues everything. The last values must have been fetched.
function Integrals:take()
    if self.samples then self.samples:run() end
    if self.accounts then self.accounts:take() end
    self.sums:take()
end

-- Waits for what was taken last, and adds the values to the list `into`.
function Integrals:fetch(into)
    local grid, data = self.sim.grid, self.sums:wait()
    for n = 1, #self.list do
        local sum = 0
        for j = 0, grid.ny - 1 do
            local of_row = data[(n - 1) * grid.ny + j]
            sum = self.most and math.max(sum, of_row) or sum + of_row * grid:cell_area(j)
        end
        into[#into + 1] = sum
    end
    local given = self.accounts and { self.accounts:sums() }
    for _, integral in ipairs(self.accounted) do into[#into + 1] = given[integral.account] end
end

function Integrals:release()
    if self.samples then self.samples:release() end
    if self.accounts then self.accounts:release() end
    self.sums:release()
end

return integrals
