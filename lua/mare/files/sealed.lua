-- sealed.lua - NetCDF files that a run which was killed, or has stopped, goes on with: their
-- position in a checkpoint, and the file as it was then. The head of netcdf.lua says how.

local files = require 'bindings.files'
local hdf5 = require 'bindings.hdf5'
local netcdf = require 'bindings.netcdf'
local structure = require 'mare.base.structure'

local sealed = {}

local function paths(variables)
    local names = {}
    for k, v in ipairs(variables or {}) do names[k] = '/' .. v.name end
    return names
end

-- Returns the ranges within the first `size` bytes outside of `extents`, as an
-- ordered array of { offset, bytes }.
local function others(extents, size)
    table.sort(extents, function(a, b) return a[1] < b[1] end)
    local list, at = {}, 0
    for _, extent in ipairs(extents) do
        if extent[1] > at then list[#list + 1] = { at, extent[1] - at } end
        at = math.max(at, extent[1] + extent[2])
    end
    if size > at then list[#list + 1] = { at, size - at } end
    return list
end

local function read_pieces(path, pieces)
    local file, texts = files.open(path, 'rb'), {}
    for k, piece in ipairs(pieces) do
        file:seek('set', piece[1])
        texts[k] = files.exactly(file, piece[2], path)
    end
    file:close()
    return table.concat(texts)
end

-- Notes that a writer has a new file, of which nothing is sealed.
function sealed.begin(writer)
    writer.data, writer.counted = {}, 0     -- { offset, bytes } of data; records that they cover
end

-- Closes the file of a writer for a moment, syncs it, and sets its `position`. writer: { spec,
-- path, temporary, file, steps, last }; origins(first, last): of the chunks of records first ...
-- last - 1, without arguments those of a variable without time; shape: a text of all that must be
-- equal when another run continues the file
function sealed.seal(writer, origins, shape)
    local spec, data = writer.spec, writer.data
    writer.file:close()
    writer.file = nil
    local name = writer.temporary:own(spec.owner)
    files.sync(name, writer.path)
    hdf5.chunks(name, paths(spec.variables), origins(spec, writer.counted, writer.steps), data)
    if not writer.sealed and spec.statics then
        hdf5.chunks(name, paths(spec.statics), origins(spec), data)
    end
    writer.sealed = true
    local size = files.size(name)
    local pieces = others(data, size)
    writer.position = {
        path = writer.path, temporary = name, id = (spec.attributes or {}).run_id,
        size = size, steps = writer.steps, last = writer.last, shape = shape,
        pieces = pieces, index = read_pieces(name, pieces),
    }
    writer.counted = writer.steps
    writer.file = netcdf.append(name, writer.path)
end

local function has_id(path, id)
    local ok, found = pcall(function()
        local file = netcdf.open(path)
        local attributes = file:attributes()
        file:close()
        return attributes.run_id
    end)
    return ok and found == id
end

-- Returns the file to resume from: the temporary one, or the complete one.
local function find_source(position)
    for _, path in ipairs { position.temporary, position.path } do
        local size = files.size(path)
        if size and size >= position.size
            and (path == position.temporary or position.id and has_id(path, position.id)) then
            return path
        end
    end
    error(string.format('%s: neither it nor %s is there as the checkpoint knew it; give another '
        .. '--out for what comes', position.path, position.temporary), 0)
end

local copy_bytes = 2 ^ 22

local function restore(position, temporary)
    local name = find_source(position)
    local source = files.open(name, 'rb')
    for at = 0, position.size - 1, copy_bytes do
        temporary:append(files.exactly(source, math.min(copy_bytes, position.size - at), name))
    end
    source:close()
    local patches, at = {}, 1
    for k, piece in ipairs(position.pieces) do
        patches[k] = { piece[1], position.index:sub(at, at + piece[2] - 1) }
        at = at + piece[2]
    end
    files.patch(temporary.name, patches)
end

local wanted = { steps = structure.whole, last = structure.number, index = structure.text,
    pieces = structure.list(structure.list(structure.whole, 2)) }

-- Returns in words what is wrong with a position of a checkpoint, beside what every position has;
-- nil if resume() can take it.
function sealed.fault(position)
    return structure.fault(position, wanted)
end

-- Gives a writer of { temporary, path, record_bytes } the file of a position.
function sealed.resume(writer, position)
    writer.steps, writer.last = position.steps, position.last
    writer.data, writer.counted = others(position.pieces, position.size), position.steps
    writer.sealed = true
    writer.temporary:reserve(position.size + writer.record_bytes)
    restore(position, writer.temporary)
    writer.file = netcdf.append(writer.temporary.name, writer.path)
end

return sealed
