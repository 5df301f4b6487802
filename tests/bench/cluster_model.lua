-- cluster_model.lua - the time of a step over parts on GPUs and machines, from measured steps of
-- one and of two GPUs: what cluster.lua tells.

local home = require 'bindings.home'
local record = require 'tests.bench.record'

local model = { records = home.root .. '/tests/bench/records/cluster.jsonl' }

local halo, fields, bytes = 2, 4, 4         -- Euler in float

-- Returns the numbers of parts along x and y with the shortest edges.
function model.division(nx, ny, count)
    local best, px, py = math.huge, nil, nil
    for p = 1, count do
        local q = count / p
        local edges = q % 1 == 0 and (p - 1) * ny + (q - 1) * nx or math.huge
        if edges < best then best, px, py = edges, p, q end
    end
    return px, py
end

-- Returns the bytes that a part receives from other machines, and along how many axes. Machines
-- have neighbouring parts, row by row.
local function from_afar(nx, ny, px, py, gpus)
    local along_x = px > 1 and (px > gpus or gpus % px ~= 0)
    local along_y = py > 1 and px * py > gpus
    local cells = (along_x and 2 * ny or 0) + (along_y and 2 * nx or 0)
    return cells * halo * fields * bytes, (along_x and 1 or 0) + (along_y and 1 or 0)
end

function model.step(m, cells)
    return m.launch + m.per_cell * cells
end

-- Returns the microseconds of a step on so many GPUs. nx, ny: cells of a part; under: whether
-- messages go while cells are computed that wait for none; every: steps between exchanges where dt
-- is fixed (1), for which parts along y compute rows of their neighbours
function model.time(m, nx, ny, px, py, gpus, under, every)
    local count, steps = px * py, every or 1
    local alone = model.step(m, nx * (ny + halo * (steps - 1)))
    local machines = math.ceil(count / gpus)
    if count == 1 then return alone end
    local meeting = count > machines and m.meeting or 0
    if machines == 1 then return alone + meeting end
    local far, axes = from_afar(nx, ny, px, py, gpus)
    local messages = axes * m.message / steps + far * m.per_byte
    if under then messages = math.max(0, messages - m.per_cell * nx * ny) end
    local levels = math.ceil(math.log(machines) / math.log(2) - 1e-9)
    return alone + meeting + messages + levels * m.rate / steps
end

-- Returns the parameters of a set of records, and those that were not used.
function model.fit(list)
    local one, staged, meeting, rest, rate = {}, {}, nil, {}, nil
    for _, r in ipairs(list) do
        if r.figure == 'one' then one[#one + 1] = r
        elseif r.figure == 'staged' and r.kind == 'weak' then staged[#staged + 1] = r
        elseif r.figure == 'shared' and not meeting then meeting = r
        elseif r.figure == 'rate' then rate = r
        else rest[#rest + 1] = r end
    end
    local function by_cells(a, b) return a.nx * a.ny < b.nx * b.ny end
    table.sort(one, by_cells)
    table.sort(staged, by_cells)
    local low, high = one[1], one[#one]
    local m = { per_cell = (high.us - low.us) / (high.nx * high.ny - low.nx * low.ny) }
    m.launch = low.us - m.per_cell * low.nx * low.ny
    for k = 2, #one - 1 do rest[#rest + 1] = one[k] end
    if meeting then m.meeting = meeting.us - model.step(m, meeting.nx * meeting.ny) end
    if staged[1] then
        local few, many = staged[1], staged[#staged]
        local function afar(r) return (from_afar(r.nx, r.ny, 1, 2, 1)) end
        local function beyond(r) return r.us - model.step(m, r.nx * r.ny) end
        m.rate = rate and rate.us or 0
        m.per_byte = (beyond(many) - beyond(few)) / (afar(many) - afar(few))
        m.message = beyond(few) - m.per_byte * afar(few) - m.rate
        for k = 2, #staged - 1 do rest[#rest + 1] = staged[k] end
    end
    return m, rest
end

-- Returns the records by set, and the names of the sets in their order.
function model.sets(path)
    local sets, names = {}, {}
    for _, r in ipairs(record.read(path, { benchmark = 'cluster' })) do
        if not sets[r.set] then sets[r.set], names[#names + 1] = {}, r.set end
        table.insert(sets[r.set], r)
    end
    return sets, names
end

return model
