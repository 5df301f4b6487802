-- What a run must share with the one whose checkpoint it goes on from: pairs of a name and a text,
-- as they stand in the checkpoint, and the same for people to read.

local exchange = require 'mare.array.exchange'
local functions = require 'mare.run.functions'
local literal = require 'mare.base.literal'
local record = require 'mare.translate.record'
local options = require 'mare.base.options'
local tables = require 'bindings.tables'

local identity = {}

-- Returns what tells a grid from others: of a volume's, also what it has along z.
local function entries_of(g)
    if g.nz then return { g.nx, g.ny, g.x, g.y, 0, 'cartesian', false, g.nz, g.z } end
    return { g.nx, g.ny, g.x, g.y, g.halo, g.coordinates, g.radius }
end

-- Returns the pairs of a description as for run.new, with boundaries of exchange.boundaries, or as
-- for mare.volume.
function identity.of(desc)
    local o = desc.options
    local precision = options.value(o, 'precision')
    local sides = exchange.describe(desc.boundaries, desc.domain)
    local texts = functions.texts(desc)
    return {
        { 'the grid', literal.encode(entries_of(desc.grid)) },
        { 'the precision', precision },
        { 'the equations', literal.encode { desc.scheme.fields, desc.scheme:parameters() } },
        { 'the boundaries', literal.encode(sides) },
        { 'the bed', desc.domain and desc.domain:checksum() or 'none' },
        { 'the functions', texts and literal.encode(texts) or 'none' },
    }
end

-- Gives names to entries that have only a place in their table.
local places = {
    ['the grid'] = { 'nx', 'ny', 'x', 'y', 'ghost cells', 'coordinates', 'radius', 'nz', 'z' },
    ['the equations'] = { 'unknowns' },
}

local function show(value)
    if type(value) == 'number' then return string.format('%.14g', value) end
    if type(value) ~= 'table' then return tostring(value) end
    local texts = {}
    for k, one in ipairs(value) do texts[k] = show(one) end
    return table.concat(texts, ',')
end

local function by_text(a, b) return tostring(a) < tostring(b) end

local function add(pieces, name, value)
    if type(value) ~= 'table' or value[1] ~= nil then
        pieces[#pieces + 1] = { name, show(value) }
        return
    end
    for _, key in ipairs(tables.keys(value, by_text)) do add(pieces, tostring(key), value[key]) end
end

-- Returns one entry as { { 'nx', '400' }, { 'ny', '200' }, ... }, or with the text itself and no
-- name.
local function pieces_of(entry)
    local value, pieces, named = literal.decode(entry[2]), {}, places[entry[1]]
    if type(value) ~= 'table' then return { { nil, entry[2] } } end
    if not named then
        add(pieces, nil, value)
        return pieces
    end
    for k = 1, 9 do
        if value[k] then add(pieces, named[k], value[k]) end
    end
    return pieces
end

-- Returns an entry in words: 'the grid: nx = 400, ny = 200, x = 0,2, ...'
function identity.line(entry)
    local texts = {}
    for k, piece in ipairs(pieces_of(entry)) do
        texts[k] = (piece[1] and piece[1] .. ' = ' or '') .. piece[2]
    end
    return entry[1] .. ': ' .. table.concat(texts, ', ')
end

-- Returns the texts of all pieces by name, and adds the names to a list in which each is once.
local function by_name(entry, names)
    local texts = {}
    for _, piece in ipairs(entry and pieces_of(entry) or {}) do
        local name = piece[1] or ''
        if not names[name] then names[#names + 1], names[name] = name, true end
        texts[name] = piece[2]
    end
    return texts
end

-- Says what of an entry is not the same; returns nil if all is. before may be nil.
function identity.difference(before, now)
    if (before and before[2] or 'none') == now[2] then return nil end
    local names, texts = {}, {}
    local old, new = by_name(before, names), by_name(now, names)
    for _, name in ipairs(names) do
        if old[name] ~= new[name] then
            texts[#texts + 1] = string.format('%s%s then, %s now',
                name == '' and '' or name .. ' = ',
                record.difference(old[name] or 'none', new[name] or 'none'))
        end
    end
    return table.concat(texts, '; ')
end

return identity
