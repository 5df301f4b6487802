-- Brings strips of cells into pinned memory of the host: rows that are long as they are, short ones
-- packed on their device first, since each row takes a transfer some time.

local pinned = {}

local long = 4096       -- bytes of a row

-- Returns a buffer to pack a strip into, or nil where it goes without.
function pinned.packed(strip, label)
    if not strip.region or strip.region.width >= long then return nil end
    return strip.buffer.device:buffer { type = strip.type, count = strip.count, label = label }
end

-- Queues what brings a strip, or without a region its whole buffer, into host memory. packed: as
-- above; streams: by device, those that it is queued on, or nil
function pinned.download(strip, packed, host, streams)
    local from, device = packed or strip.buffer, strip.buffer.device
    local stream = streams and streams[device] or device.stream
    if packed then packed:copy_region(strip.buffer, strip.region, stream) end
    if strip.region and not packed then from:download_region(host, strip.region, stream)
    else from:download { into = host, stream = stream } end
end

return pinned
