-- peer.lua - times Mare and the same work in C (peer.h) in one process, by
-- medians.

local ffi = require 'ffi'
local home = require 'bindings.home'
local record = require 'tests.bench.record'

local peer = { rounds = 41 }

local declared = false

-- Returns the functions of peer.h and table1.h for a device.
function peer.library(device)
    local backend = device.name:match '^%a+'
    for _, name in ipairs(declared and {} or { 'peer.h', 'table1.h' }) do
        local file = assert(io.open(home.root .. '/tests/bench/' .. name))
        ffi.cdef(file:read '*a':match 'cdef:begin %*/(.-)/%* cdef:end')
        file:close()
    end
    declared = true
    local reason
    for _, folder in ipairs { '', 'mare/' } do      -- an installation has a folder of its own
        local name = home.library:gsub('libmare%.so[%d.]*$', folder .. 'peer_' .. backend .. '.so')
        local ok, library = pcall(ffi.load, name)
        if ok then return library end
        reason = reason or library
    end
    error(reason, 0)
end

-- Returns the functions of peer.h on the device that Mare calls device.name.
function peer.open(device)
    local library = peer.library(device)
    local failed = library.peer_open(tonumber(device.name:match '%d+$'))
    if failed ~= nil then error('peer: ' .. ffi.string(failed)) end
    return library
end

function peer.checked(seconds)
    if seconds < 0 then error 'peer: a call of the vendor failed' end
    return seconds
end

-- Returns the standard error of the median of sorted values, from their
-- quartiles as if they were normal.
function peer.uncertainty(sorted)
    local n = #sorted
    local spread = sorted[math.ceil(0.75 * n)] - sorted[math.ceil(0.25 * n)]
    return 1.2533 * spread / 1.349 / math.sqrt(n)
end

-- Times mine(count) and theirs(count) in alternating batches. Returns the
-- seconds of one of `count`: medians, the median difference of paired batches,
-- and its standard error.
function peer.compare(count, mine, theirs, rounds)
    rounds = record.few(rounds or peer.rounds, 2)
    for _ = 1, math.min(5, rounds) do mine(count) peer.checked(theirs(count)) end
    local own, other, added = {}, {}, {}
    for k = 1, rounds do
        if k % 2 == 0 then own[k] = mine(count) / count end
        other[k] = peer.checked(theirs(count)) / count
        if k % 2 == 1 then own[k] = mine(count) / count end
        added[k] = own[k] - other[k]
    end
    return record.median(own), record.median(other), record.median(added), peer.uncertainty(added)
end

-- Writes a record and its row; times in seconds, as compare returns them.
function peer.report(device, name, limit, own, other, added, wrong, more)
    local values = { benchmark = name, mare_us = 1e6 * own, c_us = 1e6 * other,
        added_us = 1e6 * added, error_us = 1e6 * wrong, limit = limit, rounds = peer.rounds }
    for key, value in pairs(more or {}) do values[key] = value end
    record.write(device, values,
        ('%-10s %-22s %10.4g us, C %.4g us, added %.1f +- %.1f ns (limit: %s)'):format(device.name,
            name, 1e6 * own, 1e6 * other, 1e9 * added, 1e9 * wrong, limit))
end

return peer
