-- Keeps the memory of arrays, as versions. A version is written while nothing that is still
-- to be computed reads it. Otherwise what is written becomes the next version of
-- the array, and the older one stays as it is until its readers are done:
--
--     { cell, type, device, count
--       bytes      size of the memory; 0 if it must stay there, as a buffer's must
--       refs       leaves that show it
--       readers    pending operations that read it
--       moved      the next version, once there is one }

local bound = require 'bindings.array'

local memory = {}

-- Returns a version with new memory for `count` elements.
function memory.new(device, type, count)
    local bytes = (count > 0 and count or 1) * type.size
    return { cell = bound.allocate(device, type.name, bytes), type = type, device = device,
        count = count, bytes = bytes, refs = 0, readers = 0, moved = false }
end

-- Returns a version that is the memory of a buffer. is_odd: kernels cannot load several of its
-- elements at once, since it does not begin where 16 bytes do
function memory.of_buffer(buffer, type)
    local version = { cell = bound.share(buffer), type = type, device = buffer.device,
        count = buffer.size / type.size, bytes = 0, refs = 0, readers = 0, moved = false }
    if not bound.is_aligned(version.cell, 16) then version.is_odd = true end
    return version
end

-- Lets a version stay where it is from now on: others write or read its memory, too.
function memory.stay(version)
    bound.lend(version.device, version.bytes)
    version.bytes = 0
end

-- Returns the newest version of the same array.
function memory.newest(version)
    while version.moved do version = version.moved end
    return version
end

-- Makes `next_one` the next version of an array. The older one holds it for the
-- arrays that still show the older one.
function memory.move(version, next_one)
    version.moved = next_one
    next_one.refs = next_one.refs + 1
end

-- Gives up a reference; with the last one the memory goes back.
function memory.release(version)
    local refs = version.refs - 1
    version.refs = refs
    if refs == 0 then
        bound.free(version.device, version.cell, version.bytes)
        version.cell = nil
        if version.moved then memory.release(version.moved) end
    end
end

-- Gives back a version that no leaf has shown.
function memory.drop(version)
    version.refs = 1
    memory.release(version)
end

return memory
