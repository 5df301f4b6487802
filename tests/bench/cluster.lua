-- cluster.lua - the time of a step on 1 to 4096 GPUs, on paper, from measured steps of one and two.
--     mare tests/bench/cluster.lua [GPUS A MACHINE] [RECORDS]
-- From RECORDS (records/cluster.jsonl) it takes, for each `set` of them, what a step of one GPU
-- costs at once and for each cell; what meeting the other GPU of its machine costs; what cells and
-- the largest rate cost through the host and MPI, at once and for each byte. Two machines are put
-- for two ranks that share no memory. Figures that were not used must be met within 7 %. Meeting is
-- taken to cost the same on all GPUs of a machine, which read all words at once. The largest rate
-- goes through a tree of machines; a record `rate` has what a level costs, without one only the
-- first counts, which is in what was measured.

local home = require 'bindings.home'
local record = require 'tests.bench.record'

local per_machine = tonumber(arg[1] or 8)
local path = arg[2] or home.root .. '/tests/bench/records/cluster.jsonl'
local limit = 0.07
local halo, fields, bytes = 2, 4, 4         -- Euler in float
local most = record.few(4096, 8)

-- ---- the parts ----

-- Returns the numbers of parts along x and y with the shortest edges.
local function division(nx, ny, count)
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

-- ---- the model ----

local function step(m, cells)
    return m.launch + m.per_cell * cells
end

-- Returns the microseconds of a step on so many GPUs. nx, ny: cells of a part; under: whether
-- messages go while cells are computed that wait for none
local function time(m, nx, ny, px, py, gpus, under)
    local alone, count = step(m, nx * ny), px * py
    local machines = math.ceil(count / gpus)
    if count == 1 then return alone end
    local meeting = count > machines and m.meeting or 0
    if machines == 1 then return alone + meeting end
    local far, axes = from_afar(nx, ny, px, py, gpus)
    local messages = axes * m.message + far * m.per_byte
    if under then messages = math.max(0, messages - m.per_cell * nx * ny) end
    local levels = math.ceil(math.log(machines) / math.log(2) - 1e-9)
    return alone + meeting + messages + levels * m.rate
end

-- Returns the parameters of a set of records, and those that were not used.
local function fit(list)
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
    if meeting then m.meeting = meeting.us - step(m, meeting.nx * meeting.ny) end
    if staged[1] then
        local few, many = staged[1], staged[#staged]
        local function afar(r) return (from_afar(r.nx, r.ny, 1, 2, 1)) end
        local function beyond(r) return r.us - step(m, r.nx * r.ny) end
        m.rate = rate and rate.us or 0
        m.per_byte = (beyond(many) - beyond(few)) / (afar(many) - afar(few))
        m.message = beyond(few) - m.per_byte * afar(few) - m.rate
        for k = 2, #staged - 1 do rest[#rest + 1] = staged[k] end
    end
    return m, rest
end

-- ---- what it says ----

local function check(m, rest)
    local worst = 0
    for _, r in ipairs(rest) do
        local found
        if r.figure == 'one' then found = step(m, r.nx * r.ny)
        else found = time(m, r.nx, r.ny, 1, 2, r.figure == 'shared' and 2 or 1) end
        worst = math.max(worst, math.abs(found / r.us - 1))
        print(('  checked: %-6s %-6s %5d x %5d a GPU: %7.1f us, measured %7.1f (%+.1f %%)'):format(
            r.figure, r.kind or '', r.nx, r.ny, found, r.us, 100 * (found / r.us - 1)))
    end
    if worst > limit then
        error(('the model is off by %.1f %%, allowed are %g'):format(100 * worst, 100 * limit), 0)
    end
end

local function row(m, kind, n, count)
    local px, py = division(kind == 'weak' and n * math.sqrt(count) or n,
        kind == 'weak' and n * math.sqrt(count) or n, count)
    local nx, ny = kind == 'weak' and n or n / px, kind == 'weak' and n or n / py
    local base = step(m, n * n) / (kind == 'weak' and 1 or count)
    local words = {}
    for k, under in ipairs { false, true } do
        local us = time(m, nx, ny, px, py, per_machine, under)
        words[k] = ('%9.1f us %5.1f %%'):format(us, 100 * base / us)
    end
    return ('  %5d %4d x %-4d %s %s'):format(count, px, py, words[1], words[2])
end

local function predict(m, kind, n)
    print(('  %s, %d^2 cells %s, %d GPUs a machine: messages before the step, and under it'):format(
        kind, n, kind == 'weak' and 'a GPU' or 'in all', per_machine))
    local count = 1
    while count <= most do
        print(row(m, kind, n, count))
        count = 2 * count
    end
end

local sets, names = {}, {}
for _, r in ipairs(record.read(path, { benchmark = 'cluster' })) do
    if not sets[r.set] then sets[r.set], names[#names + 1] = {}, r.set end
    table.insert(sets[r.set], r)
end
for _, name in ipairs(names) do
    local m, rest = fit(sets[name])
    print(('%s: a step %.4g us + %.4g a Mcell; meeting %.3g us'):format(name, m.launch,
        1e6 * m.per_cell, m.meeting or 0 / 0))
    if m.per_byte then
        print(('  through MPI %.4g us + %.4g a MB; a level of the rate %s'):format(m.message,
            1e6 * m.per_byte, m.rate > 0 and ('%.3g us'):format(m.rate) or 'not measured'))
    end
    check(m, rest)
    if m.per_byte and m.meeting then
        predict(m, 'weak', 2048)
        predict(m, 'weak', 8192)
        predict(m, 'strong', 16384)
        predict(m, 'strong', 65536)
    end
end
