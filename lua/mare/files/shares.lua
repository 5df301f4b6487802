-- Shares of a checkpoint: each of several ranks writes what it holds of the state into a file of
-- its own, FILE.sTAG.RANK beside the checkpoint FILE, whose header lists them. A share holds one
-- line that identifies it, boxes of cells one after the other, and a CRC-32 of all of this.

local box = require 'bindings.box'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local folders = require 'bindings.folders'
local memory = require 'bindings.memory'
local structure = require 'mare.base.structure'
local zlib = require 'bindings.zlib'

local shares = {}

local magic = 'Mare share of a checkpoint 1 '
local crc_bytes = 8             -- as hexadecimal digits
local sizes_of_box = { 'width', 'height', 'depth', 'dst_offset', 'dst_pitch', 'dst_slice' }

-- What a header says of each: its file, without a folder, the bytes of its boxes, its checksum, and
-- where the boxes lie in the whole state, as numbers in the order of `sizes_of_box`.
shares.rule = structure.list {
    name = structure.text, bytes = structure.whole, crc = structure.text,
    boxes = structure.list(structure.list(structure.whole, #sizes_of_box)),
}

-- Returns the numbers of a box for a header.
function shares.numbers(one)
    local list = {}
    for k, member in ipairs(sizes_of_box) do list[k] = one[member] end
    return list
end

function shares.name(path, tag, rank)
    return ('%s.s%s.%d'):format(path, tag, rank)
end

-- Writes a share. data: a pointer to `size` bytes. Returns its checksum.
function shares.write(path, data, size)
    local head = ('%s%.0f\n'):format(magic, size)
    local crc = ('%08x'):format(zlib.crc32(zlib.crc32(0, head, #head), data, size))
    local temporary = files.temporary(path)
    local ok, failure = pcall(function()
        temporary:reserve(#head + size + crc_bytes)
        temporary:append(head)
        temporary:append(data, size)
        temporary:append(crc)
        files.sync(temporary.name, path)
        temporary:commit()
    end)
    if not ok then
        temporary:discard()
        error(failure, 0)
    end
    return crc
end

-- Returns a pointer to the boxes of a share, and its memory; or nil and why not.
local function read(path, share)
    local data, size = files.map(path)
    if not data then return nil, size end
    local head = ('%s%.0f\n'):format(magic, share.bytes)
    local all = #head + share.bytes
    if size ~= all + crc_bytes or files.text(data, #head) ~= head then
        return nil, 'it is not complete'
    end
    local crc = ('%08x'):format(zlib.crc32(0, data, all))
    if crc ~= share.crc or crc ~= files.text(data + all, crc_bytes) then
        return nil, 'it is damaged: its checksum is wrong'
    end
    return data + #head, data
end

-- Puts the boxes of a share into the state. Returns whether they lie within both.
local function place(state, bytes, from, share)
    local at = 0
    for _, numbers in ipairs(share.boxes) do
        local one = {}
        for k, member in ipairs(sizes_of_box) do one[member] = numbers[k] end
        local size = one.width * one.height * one.depth
        local last = one.dst_offset + (one.depth - 1) * one.dst_slice
            + (one.height - 1) * one.dst_pitch + one.width
        if size == 0 or last > bytes or at + size > share.bytes then return false end
        box.place(state, box.behind(from, at), one)
        at = at + size
    end
    return at == share.bytes
end

-- Returns the whole state of so many bytes that the shares of the checkpoint at `path` hold, with
-- the bytes of `rest` behind it: a pointer, and its memory; or nil and what is wrong with a share.
function shares.state(path, list, bytes, rest, rest_bytes)
    local folder, state = path:match '^.*/' or '', memory.array('uint8', bytes + rest_bytes)
    box.place(state, rest, { width = rest_bytes, height = 1, depth = 1, dst_offset = bytes,
        dst_pitch = 0, dst_slice = 0 })
    for _, share in ipairs(list) do
        if share.name:find '/' then return nil, 'names a share in another folder' end
        local from, held = read(folder .. share.name, share)
        if not from then return nil, ('wants %s: %s'):format(share.name, held) end
        if not place(state, bytes, from, share) then
            return nil, ('wants %s: it has other boxes'):format(share.name)
        end
    end
    return box.behind(state, 0), state
end

-- Refuses shares that are not beside the checkpoint at `path`, as where ranks write to disks of
-- their own.
function shares.check(path, list)
    local folder = path:match '^.*/' or ''
    for k, share in ipairs(list) do
        if not files.size(folder .. share.name) then
            errors.raise('MARE_ERROR_IO', '%s, which rank %d has written, is not there for rank 0: '
                .. 'checkpoints want a folder that all ranks share', folder .. share.name, k - 1)
        end
    end
end

-- Removes the shares beside the checkpoint at `path` that are not in a set of names, and what ranks
-- that were killed have left of others.
function shares.sweep(path, wanted)
    local folder, name = path:match '^(.*/)([^/]*)$'
    if not folder then folder, name = './', path end
    for _, entry in ipairs(folders.names(folder)) do
        local rest = entry:sub(1, #name) == name
            and entry:sub(#name + 1):match '^%.s%w+%.%d+(.*)$'
        if rest == '' and not wanted[entry] then os.remove(folder .. entry) end
        if rest and rest:find '^%.%d+%-%d+%.part$' then files.remove_abandoned(folder .. entry) end
    end
end

return shares
