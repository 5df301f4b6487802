-- Integrals over the domain of variables of a simulation, such as mass and energy, summed on the
-- devices without stopping them (row_sums.lua): the host adds the sums of rows from south to north,
-- each with the area of a cell of its row. What is no integral of the state, such as what has come
-- in since the start, a scheme keeps account of.

local snapshot = require 'mare.array.snapshot'

local integrals = {}

local Integrals = {}
Integrals.__index = Integrals

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

-- Where each variable is: in the fields, or among what is derived.
local function sources_of(sim, list, samples)
    local unknown, sources = {}, {}
    for _, field in ipairs(sim.scheme.fields) do unknown[field] = true end
    for n, integral in ipairs(list) do
        local name = integral.variable
        sources[n] = { values = unknown[name] and sim.fields or samples, field = name }
    end
    return sources
end

-- list: { { name =, variable = }, ... }, as a scheme's `integrals`, at the end of which may be
-- { name =, account = which number of those that scheme:new_accounts(sim) sums up }
function integrals.new(sim, all)
    local list, accounted = {}, {}
    for _, integral in ipairs(all) do
        table.insert(integral.account and accounted or list, integral)
    end
    local self = setmetatable({ sim = sim, list = list, accounted = accounted }, Integrals)
    self.accounts = accounted[1] and sim.scheme:new_accounts(sim)
    local names = derived(sim.scheme, list)
    self.samples = names[1] and snapshot.samples(sim, names)
    self.sums = sim.fields:reduce(sources_of(sim, list, self.samples))
    return self
end

-- Queues everything; the last values must have been fetched.
function Integrals:take()
    if self.samples then self.samples:run() end
    if self.accounts then self.accounts:take() end
    self.sums:take()
end

-- Waits for what was taken last; the values are added to the list `into`.
function Integrals:fetch(into)
    local grid, data = self.sim.grid, self.sums:wait()
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
    if self.samples then self.samples:release() end
    if self.accounts then self.accounts:release() end
    self.sums:release()
end

return integrals
