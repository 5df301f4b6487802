-- Checkpoints, the files that a run continues from. A file holds one line that
-- identifies it, a header of plain values (literal.lua), the fields of the
-- whole grid with their ghost cells in the precision of the run, and a CRC-32
-- of all of this. It appears complete or not at all. The last few checkpoints
-- are kept as FILE, FILE.1, FILE.2, ..., newest first. That of several ranks
-- has only what analyses hold, and names shares of the fields (shares.lua),
-- which were complete before it.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local literal = require 'mare.base.literal'
local shares = require 'mare.files.shares'
local structure = require 'mare.base.structure'
local zlib = require 'bindings.zlib'

local checkpoint = {}

local magic = 'Mare checkpoint 1 '
local crc_bytes = 8             -- as hexadecimal digits
local most_kept = 99

local words, number, whole = structure.text, structure.number, structure.whole
local optional, list = structure.optional, structure.list

-- Where an output file stood: of netcdf.lua or film.lua.
local position = {
    path = words, temporary = words, size = whole, shape = words, last = optional(number),
    steps = optional(whole), frames = optional(whole), id = optional(words),
    index = optional(words), pieces = optional(list(list(whole, 2))),
    digest = optional(structure.any), range = optional(list(number, 2)),
}

-- What every header holds. Particles and analyses check theirs.
local header_rule = {
    version = words, commit = optional(words), device = words, title = optional(words),
    run_id = words, identity = list(list(words, 2)), t = number, steps = whole, dt = number,
    rate = number, cfl = number, last = optional(number), t_end = optional(number),
    levels = optional(whole),
    state = optional({}),
    series = optional { shape = words, rows = words, accounts = optional(words) },
    analyses = optional(list({})), shares = optional(shares.rule),
    outputs = list { last = optional(number), position = position },
}

-- Returns the name of the k-th newest checkpoint, from k = 0.
function checkpoint.name(path, k)
    return k == 0 and path or path .. '.' .. k
end

local function rotate(path, keep)
    local name = checkpoint.name
    for k = keep - 1, 2, -1 do os.rename(name(path, k - 1), name(path, k)) end
    if keep < 2 or not files.size(path) then return end
    -- Without hard links, FILE is missing for a moment; a restart finds FILE.1.
    if not pcall(files.link, path, name(path, 1)) then os.rename(path, name(path, 1)) end
end

-- Writes a checkpoint. data: a pointer to `size` bytes. keep: how many
-- checkpoints may exist afterwards.
function checkpoint.write(path, keep, header, data, size)
    path = files.follow(path)
    local text = literal.encode(header)
    local head = string.format('%s%.0f %.0f\n', magic, #text, size) .. text
    local crc = zlib.crc32(zlib.crc32(0, head, #head), data, size)
    local temporary = files.temporary(path)
    local ok, failure = pcall(function()
        temporary:reserve(#head + size + crc_bytes)
        temporary:append(head)
        temporary:append(data, size)
        temporary:append(string.format('%08x', crc))
        files.sync(temporary.name, path)
        rotate(path, keep)
        temporary:commit()
    end)
    if not ok then
        temporary:discard()
        error(failure, 0)
    end
end

local element = { float = 4, double = 8 }

-- Returns the bytes of a state of so many levels with its ghost cells, filled up to 8; nil where
-- `identity`, of a header, does not tell the grid, the precision and the unknowns.
function checkpoint.state_bytes(identity, levels)
    local known = {}
    for _, entry in ipairs(identity) do known[entry[1]] = entry[2] end
    local g = literal.decode(known['the grid'] or '')
    local equations = literal.decode(known['the equations'] or '')
    local unknowns = type(equations) == 'table' and equations[1]
    local size = element[known['the precision']]
    if not (type(g) == 'table' and type(unknowns) == 'table' and size) then return nil end
    local nx, ny, halo = g[1], g[2], g[5]
    if not (type(nx) == 'number' and type(ny) == 'number' and type(halo) == 'number') then
        return nil
    end
    local slices = tonumber(g[8]) or 1      -- of a volume
    local bytes = (nx + 2 * halo) * (ny + 2 * halo) * slices * #unknowns * levels * size
    return math.ceil(bytes / 8) * 8
end

local line_bytes = 100          -- the first line has fewer

-- Bytes of the first line of a file that begins so, of its header and of its state; nil where it is
-- no checkpoint.
local function sizes_of(beginning)
    local line = beginning:match '^[^\n]*\n' or ''
    local header_bytes, state_bytes = line:match('^' .. magic .. '(%d+) (%d+)\n$')
    if header_bytes then return #line, tonumber(header_bytes), tonumber(state_bytes) end
end

-- Puts the state that shares hold before the rest of a checkpoint. Returns it with its bytes and
-- memory; or nil and why not.
local function gathered(path, header, rest, rest_bytes)
    local bytes = checkpoint.state_bytes(header.identity, header.levels or 1)
    if not bytes then return nil, 'has a damaged header: its grid' end
    local state, held = shares.state(path, header.shares, bytes, rest, rest_bytes)
    return state, state and bytes + rest_bytes or held, held
end

local function parse(path, data, size)
    local beginning = files.text(data, math.min(size, line_bytes))
    local line, header_bytes, state_bytes = sizes_of(beginning)
    if not line then return nil, 'is no checkpoint' end
    local all = line + header_bytes + state_bytes
    if size ~= all + crc_bytes then return nil, 'is not complete' end
    local crc = string.format('%08x', zlib.crc32(0, data, all))
    if crc ~= files.text(data + all, crc_bytes) then
        return nil, 'is damaged: its checksum is wrong'
    end
    local header = literal.decode(files.text(data + line, header_bytes))
    if not header then return nil, 'has a header that cannot be read' end
    local fault = structure.fault(header, header_rule)
    if fault then return nil, 'has a damaged header: ' .. fault end
    local state, bytes, held = data + (line + header_bytes), state_bytes, data
    if header.shares then state, bytes, held = gathered(path, header, state, state_bytes) end
    if not state then return nil, bytes end
    return { header = header, state = state, bytes = bytes, memory = held }
end

-- Returns { header, state = pointer, bytes } of a file, or nil and the reason.
function checkpoint.read(path)
    local data, size = files.map(path)
    if not data then return nil, size end
    return parse(path, data, size)
end

-- ---- what checkpoints refer to ----

-- The mark in the names of the part files that checkpoints of this name refer to.
function checkpoint.mark(path)
    local resolved = files.resolve(path) or path
    return string.format('%08x', zlib.crc32(0, resolved, #resolved))
end

-- The header of a file without its state, which may be large; nil where that cannot be read.
local function header_of(path)
    local file = files.ordinary(path)
    local line, header_bytes = sizes_of(file and file:read(line_bytes) or '')
    if line then file:seek('set', line) end
    local header = line and literal.decode(file:read(header_bytes) or '')
    if file then file:close() end
    return header and not structure.fault(header, header_rule) and header or nil
end

-- The part files that checkpoints of this name refer to, a set of names without folders; nil where
-- one cannot be read.
local function part_files_of(path)
    local part_files, name = {}, checkpoint.name
    local k = files.size(path) and 0 or 1
    while k <= most_kept and files.size(name(path, k)) do
        local header = header_of(name(path, k))
        if not header then return nil end
        for _, output in ipairs(header.outputs) do
            part_files[output.position.temporary:match '[^/]*$'] = true
        end
        k = k + 1
    end
    return part_files
end

local everything = setmetatable({}, { __index = function() return true end })

-- Removes the part files beside some paths that checkpoints of this name referred to, or were to,
-- when a run was killed: those that no process writes and none of the present ones refers to.
function checkpoint.sweep(path, beside)
    path = files.follow(path)
    local part_files
    files.sweep(beside, checkpoint.mark(path), function(name)
        part_files = part_files or part_files_of(path) or everything
        return part_files[name]
    end)
end

-- Removes shares that no checkpoint of this name refers to; none where one cannot be read.
function checkpoint.sweep_shares(path)
    path = files.follow(path)
    local wanted, k = {}, 0
    while k <= most_kept and (k == 0 or files.size(checkpoint.name(path, k))) do
        local name = checkpoint.name(path, k)
        local header = header_of(name)
        if not header and files.size(name) then return end
        for _, share in ipairs(header and header.shares or {}) do wanted[share.name] = true end
        k = k + 1
    end
    shares.sweep(path, wanted)
end

-- Returns the newest intact checkpoint among FILE, FILE.1, ..., with its
-- `path`, and in `passed_over` the reasons against newer ones. Returns nil if
-- there is no such file at all; raises an error if none is intact.
function checkpoint.newest(path)
    local passed_over, any = {}, false
    path = files.follow(path)
    for k = 0, most_kept do
        local name = checkpoint.name(path, k)
        if files.size(name) then
            any = true
            local found, reason = checkpoint.read(name)
            if found then
                found.path, found.passed_over = name, passed_over
                return found
            end
            passed_over[#passed_over + 1] = string.format('%s %s', name, reason)
        elseif k > 0 then
            break
        end
    end
    if any then errors.usage('no checkpoint to go on from: %s', table.concat(passed_over, '; ')) end
end

return checkpoint
