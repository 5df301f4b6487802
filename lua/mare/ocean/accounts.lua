-- What came in through the cells of a tide since the start of a run, exactly: for each of them
-- kernels/physics/ocean/prescribe.krn keeps account of the changes of eta that it made, and of
-- work. The host adds them up in the order of the list of cells, so that the sums do not depend on
-- how the grid is split.

local errors = require 'bindings.errors'
local accounts = {}

local Accounts = {}
Accounts.__index = Accounts

-- Returns the account of a part, which of the cells it sees, and how many of these are its own.
local function share_of(state)
    local cells = state.domain.cells
    if cells then return cells.gained, cells.numbers, cells.own end
end

function accounts.new(sim)
    return setmetatable({ sim = sim, entries = sim.fields:entries {
        columns = 2, of = share_of, label = 'account' } }, Accounts)
end

-- Queues everything.
function Accounts:take() self.entries:take() end

-- Waits for what was taken last. Returns two numbers a cell, in the order of the list.
function Accounts:list() return self.entries:list() end

-- Returns the same as volume (m3) and energy (m5 s-2, by density).
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
    local count = 2 * #self.sim.scheme.tide.cells
    if #list ~= count then
        errors.usage('accounts: the checkpoint has %d values of the tide, must have %d', #list,
            count)
    end
    self.entries:load(list)
end

function Accounts:release() self.entries:release() end

return accounts
