-- links: bring strips of cells from one part to a buffer beside another, in one of
-- the ways that there are. A link is one strip that is moved again and again. It has
--
--     pack(streams)       queues what brings the strip out of its part
--     start()             once the devices of all packed links are done
--     finish(streams)     queues, or has done, what makes the strip ready in `buffer`
--     settle()            behind all that, if there is such a thing: waits until the other rank has
--                         it
--
-- and array/exchange.lua calls these in turn for all links of an axis. Those through the host queue
-- on `streams`, by device, where they are given, else on the devices' own. Between ranks each of
-- the two has one half of a link: send or receive. Strips that go by `relay` are no links of their
-- own: they are together in parcels (parcels.lua).

local barrier = require 'mare.links.barrier'
local copied = require 'mare.links.copied'
local here = require 'mare.ranks.here'
local probe = require 'mare.links.probe'
local reach = require 'mare.links.reach'
local shared = require 'mare.links.shared'
local staged = require 'mare.links.staged'

local links = {}

-- By name, what links of that kind do.
links.texts = {
    place = 'read where it lies',
    copy = 'copied between devices of one process',
    relay = 'through pinned memory',
    shared = 'through memory of the device that two processes share',
    staged = 'through pinned memory and MPI',
}

local between_ranks = { shared = shared, staged = staged }

-- Returns the ways between this rank and others, by rank: of probe.lua. All ranks call it, each
-- with its devices.
function links.of_ranks(devices)
    return probe.ways(#devices == 1 and devices[1] or nil, 'it has parts on several devices')
end

-- Whether all ranks reach each other's memory, and can have a barrier.
local function are_joint(ways, devices)
    local all_share = true
    for rank, found in pairs(ways) do
        all_share = all_share and (rank == here.rank or found.way == 'shared')
    end
    for _, one in ipairs(here.all(all_share)) do all_share = all_share and one end
    return all_share and barrier.can_join(devices[1])
end

-- Finds the ways between ranks and notes them in the parts of others: part.way. All
-- ranks call it, each with the devices of its own parts. Returns the barrier of all
-- devices, or nil where they have none.
function links.find(parts, devices)
    if here.size == 1 then return barrier.new(devices) end
    local ways = links.of_ranks(devices)
    for _, part in ipairs(parts) do
        if part.rank then part.way = ways[part.rank].way end
    end
    return are_joint(ways, devices) and barrier.of_ranks(devices[1]) or nil
end

-- Returns the name of the way between two devices without a barrier.
local function way_to(device, from)
    return device == from and 'place' or reach(device, from) and 'copy' or 'relay'
end

-- Whether those of this rank do; another rank may be beside one whose memory it reaches.
local function are_by_host_here(parts)
    local is_crossed = false
    for _, a in ipairs(parts) do
        if a.rank and a.way ~= 'staged' then return false end
        is_crossed = is_crossed or a.rank ~= nil
        for _, b in ipairs(parts) do
            local on, other = a.device, b.device
            if on and other and on ~= other then
                if reach(on, other) then return false end
                is_crossed = true
            end
        end
    end
    return is_crossed
end

-- Whether cells of all ranks go from device to device and from rank to rank through the host alone.
-- All ranks call it.
function links.are_by_host(parts)
    for _, one in ipairs(here.all(are_by_host_here(parts))) do
        if not one then return false end
    end
    return true
end

-- Returns the name of the way from one part to another. is_joint: whether their
-- devices have a barrier
function links.between(from, to, is_joint)
    if is_joint then return 'place' end
    if from:is_elsewhere() then return from.part.way end
    if to:is_elsewhere() then return to.part.way end
    return way_to(to.device, from.device)
end

-- Returns in words the ways that any rank takes, each once. own: { way = true } of this rank. All
-- ranks call it.
function links.taken(own)
    local seen, list = {}, {}
    for _, theirs in ipairs(here.all(own)) do
        for way in pairs(theirs) do seen[way] = true end
    end
    for way in pairs(seen) do list[#list + 1] = links.texts[way] end
    table.sort(list)
    return table.concat(list, ', ')
end

-- Returns in words the ways between all ranks, or between several devices of one
-- process, each once. All ranks call it, each with its devices.
function links.describe(devices)
    if here.size == 1 then
        local way = barrier.way_of(devices) and 'place' or way_to(devices[1], devices[2])
        return links.texts[way]
    end
    local own, ways = {}, links.of_ranks(devices)
    if are_joint(ways, devices) then return links.texts.place end
    for rank, found in pairs(ways) do
        if rank ~= here.rank then own[found.way] = true end
    end
    return links.taken(own)
end

-- Returns the ways between each two ranks: { first, second, way =, reason = why they
-- share no memory }. All ranks call it. arguments: of probe.ways
function links.pairs(...)
    local own, list = {}, {}
    for rank, found in pairs(probe.ways(...)) do own[rank + 1] = found end
    for a, ways in ipairs(here.all(own)) do
        for b = a + 1, here.size do
            list[#list + 1] = { a - 1, b - 1, way = ways[b].way, reason = ways[b].reason }
        end
    end
    return list
end

-- Copies a strip to another device of this process. strip: { buffer, region = a box in it, type,
-- count = of elements }
function links.copy(strip, device, label) return copied.new(strip, device, label) end

-- Sends a strip, or without a region a buffer as it is, to a rank.
function links.send(way, strip, rank, tag, label)
    return between_ranks[way].send(strip, rank, tag, label)
end

-- Receives what a rank sends into a new buffer. desc: { device, type, count }
function links.receive(way, desc, rank, tag, label)
    return between_ranks[way].receive(desc, rank, tag, label)
end

return links
