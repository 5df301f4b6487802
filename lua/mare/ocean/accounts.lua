-- What came in through the cells of a tide since the start of a run, exactly: for each of them
-- kernels/physics/ocean/prescribe.krn keeps account of the changes of eta that it made, and of
-- work. The host adds them up in the order of the list of cells, so that the sums do not depend on
-- how the grid is split.

local accounts = {}

local Accounts = {}
Accounts.__index = Accounts

function accounts.new(sim)
    local self = setmetatable({ sim = sim, shares = {}, done = {} }, Accounts)
    for _, s in ipairs(sim.states) do
        local cells = s.domain.cells
        if cells and cells.own > 0 then
            self.shares[#self.shares + 1] = { cells = cells, stream = s.device.stream,
                host = s.device:host { type = 'double', count = 2 * cells.own, label = 'account' } }
        end
    end
    for k, member in ipairs(sim.members) do self.done[k] = member.device:event() end
    return self
end

-- Queues everything.
function Accounts:take()
    for _, share in ipairs(self.shares) do
        share.cells.gained:download { into = share.host, count = 2 * share.cells.own,
            stream = share.stream }
    end
    for k, member in ipairs(self.sim.members) do
        self.done[k]:record()
        member.device.stream:flush()
    end
end

-- Waits for what was taken last: two numbers a cell, in the order of the list.
function Accounts:list()
    local list = {}
    for _, done in ipairs(self.done) do done:wait() end
    for _, share in ipairs(self.shares) do
        local own, data = share.cells.own, share.host.data
        for k = 1, own do
            local at = 2 * share.cells.numbers[k]
            list[at - 1], list[at] = data[k - 1], data[own + k - 1]
        end
    end
    return list
end

-- The same as volume (m3) and energy (m5 s-2, by density).
function Accounts:sums()
    local g, scheme, volume, energy = self.sim.grid, self.sim.scheme, 0, 0
    local list = self:list()
    for k, cell in ipairs(scheme.tide.cells) do
        local area = g:cell_area(cell[2])
        volume = volume + area * list[2 * k - 1]
        energy = energy + area * 0.5 * scheme.g * list[2 * k]
    end
    return volume, energy
end

-- Goes on from such a list.
function Accounts:load(list)
    for _, share in ipairs(self.shares) do
        local own, data = share.cells.own, {}
        for k = 1, own do
            local at = 2 * share.cells.numbers[k]
            data[k], data[own + k] = list[at - 1], list[at]
        end
        share.cells.gained:upload(data)
    end
end

function Accounts:release()
    for _, share in ipairs(self.shares) do share.host:release() end
    for _, done in ipairs(self.done) do done:release() end
end

return accounts
