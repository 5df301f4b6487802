-- division.lua - among how many parts a grid is divided, and how much of it each has.

local bandwidth = require 'mare.measure.bandwidth'
local devices = require 'mare.array.devices'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local here = require 'mare.ranks.here'
local sharers = require 'mare.ranks.sharers'

local division = {}

-- Cells up to which one launch steps over all parts on a device: on an H200 it takes 721 us for two
-- of 8192 x 4096 cells, and 694 where they take turns; for two of 2048 x 1024 52.5 and 63.2.
local most_joined = 2 ^ 24

-- Bytes of which what begins within a buffer has a multiple.
local alignment = 512

-- Whether views of a device's buffers may begin at multiples of that.
function division.may_view(device) return alignment % device.info.view_alignment == 0 end

-- Returns the grid as the one part over which steps go that read cells of parts beside them, or nil
-- where they go part by part. Those are of one size and lie on one device. sim: { grid, decompose
-- }; bytes: of all their states
function division.whole(sim, parts, bytes)
    local g, px, py, info = sim.grid, sim.decompose[1], sim.decompose[2], parts[1].device.info
    if g.cells > most_joined or g.nx % px > 0 or g.ny % py > 0 or bytes > info.max_buffer
        or not division.may_view(parts[1].device) then
        return nil
    end
    return { nx = g.nx, ny = g.ny, cells = g.cells, px = px, py = py }
end

-- Returns the numbers of parts along x and y: as the option says or, on several ranks
-- or devices, one for each. list: the devices of this rank
function division.numbers(grid, wanted, list)
    local count = here.size > 1 and here.size or #list
    if count == 1 or wanted[1] * wanted[2] > 1 then return wanted end
    return { grid:division(count, here.size > 1 and 'ranks' or 'devices') }
end

-- Returns an array of the numbers in a text such as '3,1'.
local function numbers_of(text, count)
    local list = {}
    for word in (text .. ','):gmatch '%s*([^,]*),' do
        local weight = tonumber(word)
        if not (weight and weight > 0 and weight < math.huge) then
            errors.usage("option --weights: '%s': 'equal', 'auto' or numbers above 0 are wanted",
                text)
        end
        list[#list + 1] = weight
    end
    if #list ~= count then
        errors.usage('option --weights: %s are %d, for %d parts (--decompose)', text, #list, count)
    end
    return list
end

-- Returns, rank by rank, the rate of each device, or false. Ranks measure at once, and so
-- see what sharing a device costs; one that is twice in a list is half as fast each time.
-- rate(device): of one of this rank. All ranks call it.
local function rates_of_all(list, rate)
    local own, times = {}, {}
    for _, device in ipairs(list) do times[device.name] = (times[device.name] or 0) + 1 end
    for k, device in ipairs(list) do
        local found = rate(device)
        own[k] = found and found / times[device.name] or false
    end
    return here.all(own)
end

-- Returns the weights of so many parts by the rates of the devices that devices.assign
-- gives them; nil if a rate is not known.
local function by_rates(count, rates)
    local taken, places, parts_at, weights = {}, {}, {}, {}
    for k = 1, count do
        local rank = devices.rank_of(k, count)
        local at = (taken[rank] or 0) % #rates[rank + 1] + 1
        taken[rank] = (taken[rank] or 0) + 1
        places[k] = { rank + 1, at, key = rank .. ' ' .. at }
        parts_at[places[k].key] = (parts_at[places[k].key] or 0) + 1
    end
    for k, place in ipairs(places) do
        local rate = rates[place[1]][place[2]]
        if not rate then return nil end
        weights[k] = rate / parts_at[place.key]
    end
    return weights
end

-- Returns how much of the grid each of so many parts is to have, nil: as much as others.
-- text: of the option --weights; list: the devices of this rank; rate(device): how fast one
-- takes steps, or false; then how fast they copy memory decides. All ranks call it.
function division.weights(text, count, list, rate)
    if text == 'equal' then return nil end
    if text ~= 'auto' then return numbers_of(text, count) end
    local weights = by_rates(count, rates_of_all(list, rate))
        or by_rates(count, rates_of_all(list, bandwidth.of))
    if not weights then
        errors.usage "option --weights: 'auto', but a device does not tell how fast it is"
    end
    return weights
end

local told = {}         -- what has been said in this process

-- Warns where ranks share a GPU. list: the devices of this rank. All ranks call it.
function division.tell_shared(list)
    local own = {}
    for k, device in ipairs(list) do
        own[k] = device.info.kind == 'gpu' and ('%s of %s'):format(device.name, here.machine)
            or false
    end
    for _, text in ipairs(sharers(here.all(own))) do
        if here.rank == 0 and not told[text] then events.warn('%s', text) end
        told[text] = true
    end
end

return division
