-- Memory that ranks show each other for as long as they use it:
--
--     swap = swaps.new(device, own, wants)    own: { name = buffer }; wants: which of others' names
--     swap.opened[name]                       a buffer of another rank
--     swap:release()                          closes those, and releases its own when others have
--
-- All ranks call it, each with names of its own.

local here = require 'mare.ranks.here'
local lending = require 'mare.links.lending'

local swaps = {}

local Swap = {}
Swap.__index = Swap

local function open(self, device, shown, wants)
    for k, theirs in ipairs(shown) do
        for name, text in pairs(theirs) do
            if k - 1 ~= here.rank and wants[name] then
                self.opened[name] = device:open_buffer(text, ('%s of rank %d'):format(name, k - 1))
                self.from[name] = { text = text, rank = k - 1 }
            end
        end
    end
end

-- wants: { name = true } of others. Every name belongs to one rank.
function swaps.new(device, own, wants)
    local self = setmetatable({ own = own, opened = {}, from = {}, texts = {}, users = {} }, Swap)
    for name, buffer in pairs(own) do
        self.texts[name], self.users[name] = buffer:share(), {}
    end
    open(self, device, here.all(self.texts), wants)
    local opened = {}
    for name in pairs(self.opened) do opened[name] = true end
    for k, names in ipairs(here.all(opened)) do
        for name in pairs(names) do
            if own[name] then table.insert(self.users[name], k - 1) end
        end
    end
    return self
end

function Swap:release()
    for name, buffer in pairs(self.opened) do
        lending.close(buffer, self.from[name].text, self.from[name].rank)
    end
    for name, buffer in pairs(self.own) do
        if here.world:is_closed() or #self.users[name] == 0 then
            buffer:release()
        else
            lending.lend(buffer, self.texts[name], self.users[name])
        end
    end
end

return swaps
