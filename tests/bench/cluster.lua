-- cluster.lua - the time of a step on 1 to 4096 GPUs, on paper, from measured steps of one and two.
--     mare tests/bench/cluster.lua [GPUS A MACHINE] [RECORDS]
-- From RECORDS (records/cluster.jsonl) it takes, for each `set` of them, what a step of one GPU
-- costs at once and for each cell; what meeting the other GPU of its machine costs; what cells and
-- the largest rate cost through the host and MPI, at once and for each byte. Two machines are put
-- for two ranks that share no memory. Figures that were not used must be met within 7 %. Meeting is
-- taken to cost the same on all GPUs of a machine, which read all words at once. The largest rate
-- goes through a tree of machines; a record `rate` has what a level costs, without one only the
-- first counts, which is in what was measured.

local model = require 'tests.bench.cluster_model'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

local per_machine = words.count('cluster: GPUS', arg[1], 8, 4096)
local path = arg[2] or model.records
local limit = 0.07
local most = record.few(4096, 8)

local function check(m, rest)
    local worst = 0
    for _, r in ipairs(rest) do
        local found
        if r.figure == 'one' then found = model.step(m, r.nx * r.ny)
        else found = model.time(m, r.nx, r.ny, 1, 2, r.figure == 'shared' and 2 or 1) end
        worst = math.max(worst, math.abs(found / r.us - 1))
        print(('  checked: %-6s %-6s %5d x %5d a GPU: %7.1f us, measured %7.1f (%+.1f %%)'):format(
            r.figure, r.kind or '', r.nx, r.ny, found, r.us, 100 * (found / r.us - 1)))
    end
    if worst > limit then
        error(('the model is off by %.1f %%, allowed are %g'):format(100 * worst, 100 * limit), 0)
    end
end

local function row(m, kind, n, count)
    local px, py = model.division(kind == 'weak' and n * math.sqrt(count) or n,
        kind == 'weak' and n * math.sqrt(count) or n, count)
    local nx, ny = kind == 'weak' and n or n / px, kind == 'weak' and n or n / py
    local base = model.step(m, n * n) / (kind == 'weak' and 1 or count)
    local pieces = {}
    for k, under in ipairs { false, true } do
        local us = model.time(m, nx, ny, px, py, per_machine, under)
        pieces[k] = ('%9.1f us %5.1f %%'):format(us, 100 * base / us)
    end
    return ('  %5d %4d x %-4d %s %s'):format(count, px, py, pieces[1], pieces[2])
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

-- Of two machines with a GPU each.
local function predict_cycles(m, n)
    local list = {}
    for k, every in ipairs { 1, 2, 4, 8 } do
        list[k] = ('%d: %.1f us'):format(every, model.time(m, n, n, 1, 2, 1, false, every))
    end
    print(('  weak, %d^2 cells a GPU, 2 machines, dt fixed, cells exchanged every so many steps: '
        .. '%s'):format(n, table.concat(list, ', ')))
end

local sets, names = model.sets(path)
for _, name in ipairs(names) do
    local m, rest = model.fit(sets[name])
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
        predict_cycles(m, 2048)
        predict_cycles(m, 8192)
    end
end
