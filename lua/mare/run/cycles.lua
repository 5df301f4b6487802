-- Steps of a fixed dt whose parts fetch cells of others once in `every` steps. Parts lie along y
-- alone; each has twice as many rows of its neighbours as there are steps, and takes the steps of
-- those itself, of two rows fewer on either side each time. So cells are computed twice, and the
-- host waits for others, and for the largest rate, once a cycle.

local constants = require 'mare.base.constants'
local division = require 'mare.run.division'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local here = require 'mare.ranks.here'
local links = require 'mare.links'

local cycles = {}

local Cycle = {}
Cycle.__index = Cycle

local reach, pad = constants.REACH, constants.PAD
local aligned = 64      -- elements of which rows have a multiple: two are where a view may begin

local function refuse(...)
    errors.usage('option --exchange-every: ' .. (...), select(2, ...))
end

local function check(sim, parts)
    local every, can = sim.exchange_every, sim.levels ~= nil and sim.scheme.edge_rows ~= nil
    for _, kind in pairs(sim.boundaries) do
        if kind ~= 'periodic' then refuse 'the domain must be periodic along x and y' end
    end
    if sim.decompose[1] > 1 then refuse 'parts must lie along y alone, as --decompose 1xN says' end
    for _, part in ipairs(parts) do
        if part.ny < reach * every then
            refuse('%d, but a part of %d rows has fewer than the %d that its neighbours want',
                every, part.ny, reach * every)
        end
        can = can and (part.rank ~= nil or division.may_view(part.device))
    end
    for _, one in ipairs(here.all(can)) do
        if not one then refuse 'steps must go over the state in one pass, as on GPUs' end
    end
end

-- Tells parts of a simulation whose cells go through the host how many rows they have beyond those
-- that a step reads, `margin`, and of how much room. All ranks call it.
function cycles.plan(sim, parts)
    local every = sim.exchange_every
    if every == 1 then return end
    if not sim.dt then
        refuse 'only with --dt: else each step needs the largest rate of all'
    elseif not links.are_by_host(parts) then
        if here.rank == 0 then
            events.warn('--exchange-every %d has no effect: no cells go through the host', every)
        end
        return
    end
    check(sim, parts)
    local margin = reach * (every - 1)
    for _, part in ipairs(parts) do
        local stride = math.ceil((pad + part.nx + reach + margin) / aligned) * aligned
        part.margin, part.room = margin, { nx = stride - pad - reach, ny = part.ny + 2 * margin }
    end
end

-- Returns what queues steps of a simulation in cycles, or nil. Its exchanges are added to those of
-- the simulation. step(axis, left): queues one of all parts, which so many follow in the cycle
function cycles.new(sim, step)
    local wide = sim.fields.wide
    if not wide then return nil end
    local self = setmetatable({ every = sim.exchange_every, clocks = sim.clocks,
        step = step, exchanges = {} }, Cycle)
    wide.moves = true
    for axis, which in pairs { [sim.first] = 'now', [sim.first == 'x' and 'y' or 'x'] = 'other' } do
        self.exchanges[axis] = wide:exchange(sim.boundaries, sim.scheme, which)
        sim.exchange_of[which .. ', wide'] = self.exchanges[axis]
    end
    return self
end

-- Queues so many steps, the first of which sweeps along `axis` first.
function Cycle:queue(axis, count)
    local every, clocks = self.every, self.clocks
    for k = 0, count - 1 do
        local left = math.min(every - 1 - k % every, count - 1 - k)
        local other = axis == 'x' and 'y' or 'x'
        if k % every == 0 then self.exchanges[axis]:run(false, true) end
        self.step(axis, left)
        if left > 0 then clocks:go_on()
        else clocks:tick(k < count - 1 and self.exchanges[other] or nil) end
        axis = other
    end
end

return cycles
