-- Fetches numbers that parts keep for the entries of one list, such as cells of a
-- tide. On the host they are in the order of the list, whichever part has which.
-- The buffer of a part begins with a column of one number for each of its own
-- entries. The next columns follow.

local here = require 'mare.ranks.here'

local entries = {}

local Entries = {}
Entries.__index = Entries

-- desc: { columns = how many numbers an entry has, label, of = function }. of(state)
-- returns the buffer of a part, an array of the places of its entries in the list,
-- from 1, and how many of these are its own; or nil if it has none.
function entries.new(fields, desc)
    local self = setmetatable({ fields = fields, columns = desc.columns, shares = {}, done = {} },
        Entries)
    for _, s in ipairs(fields.states) do
        local buffer, places, own = desc.of(s)
        if buffer and own > 0 then
            self.shares[#self.shares + 1] = { buffer = buffer, places = places, own = own,
                stream = s.device.stream, host = s.device:host { type = buffer.type,
                    count = desc.columns * own, label = desc.label } }
        end
    end
    for k, device in ipairs(fields.devices) do self.done[k] = device:event() end
    return self
end

-- Queues everything.
function Entries:take()
    for _, share in ipairs(self.shares) do
        share.buffer:download { into = share.host, count = share.host.count,
            stream = share.stream }
    end
    for k, device in ipairs(self.fields.devices) do
        self.done[k]:record()
        device.stream:flush()
    end
end

-- Calls f(place in the list, place in the part's buffer) for all that a part has.
local function each(self, share, f)
    for k = 1, share.own do
        for column = 0, self.columns - 1 do
            f(self.columns * (share.places[k] - 1) + column + 1, column * share.own + k)
        end
    end
end

-- Returns the numbers of this rank's entries, and their places in the whole list.
local function own(self)
    local values, places = {}, {}
    for _, done in ipairs(self.done) do done:wait() end
    for _, share in ipairs(self.shares) do
        local data = share.host.data
        each(self, share, function(at, from)
            values[#values + 1], places[#places + 1] = data[from - 1], at
        end)
    end
    return { values, places }
end

-- Waits for what was taken last. Returns an array of the numbers of each entry, one
-- after the other, on all ranks.
function Entries:list()
    local list = {}
    for _, share in ipairs(here.all(own(self))) do
        local values, places = share[1], share[2]
        for k, at in ipairs(places) do list[at] = values[k] end
    end
    return list
end

-- Writes an array as of list() to the devices.
function Entries:load(list)
    for _, share in ipairs(self.shares) do
        local data = {}
        each(self, share, function(from, at) data[at] = list[from] end)
        share.buffer:upload(data)
    end
end

function Entries:release()
    for _, share in ipairs(self.shares) do share.host:release() end
    for _, done in ipairs(self.done) do done:release() end
end

return entries
