-- Memory of a device that other ranks have open: it is released when all of them have said that
-- they have closed it.

local here = require 'mare.ranks.here'
local memory = require 'bindings.memory'

local lending = {}

lending.name_bytes = 128    -- of buffer:share()

local closed_tag = 15       -- of messages that memory has been closed

-- Returns memory for messages with the text of a name, or nothing yet.
function lending.name(text)
    local name = memory.array('uint8', lending.name_bytes)
    for k = 1, text and #text or 0 do name[k - 1] = text:byte(k) end
    return name
end

-- Returns the text in such memory.
function lending.text(name)
    local bytes = {}
    for k = 1, lending.name_bytes do bytes[k] = string.char(name[k - 1]) end
    return table.concat(bytes)
end

local lent = {}                 -- { buffer =, left = how many have it open } by name
local closed = {}               -- how many have closed it
local awaited, sent = {}, {}    -- messages that memory was closed: { name =, request = }

-- Releases what others have closed. Messages of a rank come in the order in which it
-- closes, which may be another one than that of the releases here.
function lending.settle()
    local world = here.world
    if not world or world:is_closed() then return end
    for _, list in ipairs { awaited, sent } do
        for k = #list, 1, -1 do
            if world:is_done(list[k].request, 'closed memory') then
                local text = lending.text(table.remove(list, k).name)
                if list == awaited then closed[text] = (closed[text] or 0) + 1 end
            end
        end
    end
    for text, count in pairs(closed) do
        if lent[text] and lent[text].left == count then
            lent[text].buffer:release()
            lent[text], closed[text] = nil, nil
        end
    end
end

-- Takes a buffer that ranks have opened, and releases it when all have closed it.
function lending.lend(buffer, text, ranks)
    lent[text] = { buffer = buffer, left = #ranks }
    for _, rank in ipairs(ranks) do
        local word = { name = lending.name() }
        word.request = here.world:receive(word.name, lending.name_bytes, rank, closed_tag)
        awaited[#awaited + 1] = word
    end
    lending.settle()
end

-- Closes a buffer of another rank, which is told.
function lending.close(opened, text, rank)
    opened:release()
    if here.world:is_closed() then return end
    local word = { name = lending.name(text) }
    word.request = here.world:send(word.name, lending.name_bytes, rank, closed_tag)
    sent[#sent + 1] = word
    lending.settle()
end

-- Returns how many buffers wait until others have closed them.
function lending.count()
    lending.settle()
    local count = 0
    for _ in pairs(lent) do count = count + 1 end
    return count
end

return lending
