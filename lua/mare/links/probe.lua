-- Finds how memory gets from each rank to each other one, by trying it: each rank
-- lends some memory of its device, and the others of its machine open it and read it.

local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local reach = require 'mare.links.reach'
local system = require 'bindings.system'

local probe = {}

local count = 64            -- numbers that each rank shows
local allowed = { auto = true, staged = true }

-- Returns the number at place k of what a rank shows.
local function number(rank, k) return 1000 * rank + k end

-- Returns why this rank lends nothing, or nil.
local function refusal(device, reason)
    local wanted = system.setting 'MARE_TRANSPORT' or 'auto'
    if not allowed[wanted] then
        errors.usage('MARE_TRANSPORT=%s (allowed: auto, staged)', wanted)
    end
    if wanted == 'staged' then return 'MARE_TRANSPORT=staged' end
    if not device then return reason end
    return not device.info.has_sharing and device.name .. ' shares no memory between processes'
        or nil
end

-- Returns what the others are told, and the memory that it is about.
local function offer(device, why_none)
    local reason = refusal(device, why_none)
    if reason then return { reason = reason } end
    local shown, values = nil, {}
    for k = 1, count do values[k] = number(here.rank, k) end
    local ok, text = pcall(function()
        shown = device:buffer { type = 'int32', count = count, label = 'shown to other ranks' }
        shown:upload(values)
        return shown:share()
    end)
    if not ok then return { reason = errors.text(text) }, shown end
    return { name = text, place = here.place }, shown
end

local function read(device, text, rank)
    local opened = device:open_buffer(text, ('what rank %d shows'):format(rank))
    local found = opened:totable()
    opened:release()
    for k = 1, count do
        if found[k] ~= number(rank, k) then error 'the memory that was opened is another' end
    end
end

-- Returns true, or why this rank cannot read what another one shows.
local function try(device, own, theirs, rank)
    if own.reason then return own.reason end
    if theirs.reason then return theirs.reason end
    if theirs.place ~= own.place then return 'it is on another machine' end
    local ok, failure = pcall(read, device, theirs.name, rank)
    return ok or errors.text(failure)
end

-- Returns a table by rank of { way = 'shared' or 'staged', reason = why not shared };
-- { way = 'place' } for this one.
-- All ranks call it, and both of each two come to the same. device: that of all parts
-- of this rank; nil where there is not one, and then why_none
function probe.ways(device, why_none)
    local own, shown = offer(device, why_none)
    local found, ways = {}, {}
    for k, theirs in ipairs(here.all(own)) do
        found[k] = k - 1 == here.rank or try(device, own, theirs, k - 1)
    end
    local found_by = here.all(found)        -- none reads any more
    if shown then shown:release() end
    for k, theirs in ipairs(found_by) do
        local reason = found[k] ~= true and found[k] or theirs[here.rank + 1]
        ways[k - 1] = reason == true and { way = 'shared' } or { way = 'staged', reason = reason }
    end
    ways[here.rank] = { way = 'place' }
    return ways
end

-- Returns whether a device reads what another one of this process shows, by trying it.
function probe.reads(device, other)
    if not reach(device, other) then return false end
    local shown = other:buffer { type = 'int32', count = count, label = 'shown to another device' }
    local found = device:buffer { type = 'int32', count = count, label = 'found' }
    local values = {}
    for k = 1, count do values[k] = number(1, k) end
    shown:upload(values)
    local ok = pcall(found.copy, found, shown)
    local seen = ok and found:totable() or {}
    shown:release()
    found:release()
    for k = 1, count do ok = ok and seen[k] == values[k] end
    return ok
end

return probe
