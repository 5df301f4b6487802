-- scaling_table.lua - a table and a picture of records of scaling.lua, beside what the model of
-- cluster_model.lua predicts from one device, with few and with many cells, and from meeting
-- another one.
--     mare tests/bench/scaling_table.lua [RECORDS [PICTURE]]

local home = require 'bindings.home'
local colour = require('mare.draw.lines').colour
local image = require 'mare.draw.image'
local model = require 'tests.bench.cluster_model'
local record = require 'tests.bench.record'

local path, picture = arg[1] or home.root .. '/tests/bench/records/h200-scaling.jsonl', arg[2]

-- Returns what it takes two devices to meet, by the last set of the model's records that tells.
local function meeting()
    local found
    local sets, names = model.sets(model.records)
    for _, name in ipairs(names) do found = model.fit(sets[name]).meeting or found end
    return found
end

local meets = meeting()

-- Returns the parameters of the model for a case in a mode.
local function parameters(list)
    local low, high = list[1], list[1]
    for _, r in ipairs(list) do
        if r.n < low.n then low = r end
        if r.n > high.n then high = r end
    end
    if low.n == high.n then return nil end
    local per_cell = (high.one_us - low.one_us) / (high.n ^ 2 - low.n ^ 2)
    return { per_cell = per_cell, launch = low.one_us - per_cell * low.n ^ 2, meeting = meets }
end

-- Sets in each record what is predicted, of one device.
local function predict(records)
    local lists = {}
    for _, r in ipairs(records) do
        local key = r.case .. ' ' .. r.mode
        lists[key] = lists[key] or {}
        table.insert(lists[key], r)
    end
    for _, list in pairs(lists) do
        local m = parameters(list)
        for _, r in ipairs(m and list or {}) do
            local us = model.time(m, r.nx / r.px, r.ny / r.py, r.px, r.py, r.parts)
            r.predicted = model.step(m, r.n ^ 2) / (r.kind == 'strong' and r.parts or 1) / us
        end
    end
end

local titles = { weak = '%d² a device', strong = '%d² in all' }

local function print_table(records)
    print '| scheme | cells | mode | parts | us a step | of one | of all apart | predicted |'
    print '|---|---|---|---|---|---|---|---|'
    for _, r in ipairs(records) do
        if titles[r.kind] then
            print(('| %s | %s | %s | %dx%d | %.1f | %.1f %% | %.1f %% | %s |'):format(r.case,
                titles[r.kind]:format(r.n), r.mode, r.px, r.py, r.us, 100 * r.of_one,
                100 * r.of_apart, r.predicted and ('%.1f %%'):format(100 * r.predicted) or '-'))
        end
    end
end

-- Returns the lines of a case and mode: the better split at each number of parts, and dashes of
-- points for the prediction.
local function lines_of(records, case, mode)
    local lines, by_title = {}, {}
    for _, r in ipairs(records) do
        if r.case == case and r.mode == mode and titles[r.kind] then
            local title = titles[r.kind]:format(r.n)
            local line = by_title[title] or { x = { 1 }, y = { 100 }, label = title, n = r.n,
                model = { x = {}, y = {}, style = 'points' } }
            if not by_title[title] then lines[#lines + 1], by_title[title] = line, line end
            local at = #line.x
            if line.x[at] ~= r.parts then at = at + 1 end
            line.x[at], line.y[at] = r.parts, math.max(line.y[at] or 0, 100 * r.of_one)
            line.model.x[at - 1], line.model.y[at - 1] = r.parts, 100 * (r.predicted or 0 / 0)
        end
    end
    for _, line in ipairs(lines) do
        local points = {}
        for k, x in ipairs(line.x) do points[k] = { x, line.y[k] } end
        table.sort(points, function(a, b) return a[1] < b[1] end)
        for k, p in ipairs(points) do line.x[k], line.y[k] = p[1], p[2] end
    end
    table.sort(lines, function(a, b)
        if a.n ~= b.n then return a.n > b.n end
        return a.label < b.label
    end)
    return lines
end

-- Returns the numbers of devices that are there, each once.
local function counts_of(records)
    local counts, seen = { 1 }, { true }
    for _, r in ipairs(records) do
        if not seen[r.parts] then counts[#counts + 1], seen[r.parts] = r.parts, true end
    end
    return counts
end

local function draw(records)
    local first, series, most = records[1], {}, 1
    for _, r in ipairs(records) do most = math.max(most, r.parts) end
    for k, line in ipairs(lines_of(records, first.case, 'ranks')) do
        line.colour, line.model.colour = colour(k), colour(k)
        series[#series + 1], series[#series + 2] = line, line.model
    end
    image.lines { path = picture, width = 1300, height = 760, series = series,
        title = ('%s, ranks on %s: efficiency (lines), the model (points)'):format(first.case,
            first.model), xlabel = 'devices', ylabel = '% of one device', xlog = true,
        xticks = counts_of(records), xrange = { 1, 1.05 * most }, yrange = { 40, 105 } }
end

local records = record.read(path, { benchmark = 'scaling' })
for _, r in ipairs(records) do r.n = tonumber(r.n) end
predict(records)
print_table(records)
if picture then draw(records) end
