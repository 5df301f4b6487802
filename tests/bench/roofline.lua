-- roofline.lua - draws the roofline of a device (Williams, Waterman and
-- Patterson, 2009): what its copy bandwidth and its arithmetic allow at each
-- number of operations per byte, and what the schemes reach. Operations per
-- cell are those of records/flops.jsonl, see flops.lua; bytes are those that a
-- step cannot avoid.

local cases = require 'tests.bench.cases'
local home = require 'bindings.home'
local image = require 'mare.draw.image'
local record = require 'tests.bench.record'

local roofline = {}

local list = { x = 25, y = 0.3, step = 0.872 }        -- place of the first line, distance
local counted = home.root .. '/tests/bench/records/flops.jsonl'

-- Returns, of the first device and precision, the latest record of each scheme
-- on its largest grid.
local function latest(records)
    local first, best = records[1], {}
    for _, r in ipairs(records) do
        local other = best[r.solver]
        if r.device == first.device and r.precision == first.precision
            and not (other and other.nx > r.nx) then
            best[r.solver] = r
        end
    end
    return best
end

-- Returns { name, equations, x = operations per byte, y = Tflop/s, record } of
-- each scheme.
local function points_of(records)
    local best, flops, points = latest(records), {}, {}
    for _, f in ipairs(record.read(counted, { precision = records[1].precision })) do
        flops[f.solver] = f.flops_per_cell
    end
    for _, case in ipairs(cases.list) do
        local r, per_cell = best[case.name], flops[case.name]
        if r and per_cell then
            points[#points + 1] = { record = r, name = case.name, equations = case.equations,
                x = per_cell * r.cells_per_second / r.t_eff,
                y = per_cell * r.cells_per_second / 1e12 }
        end
    end
    return points
end

-- Puts a number beside each point, and a list of their meanings to the right of
-- all.
local function notes_of(points, top)
    local notes = {}
    table.sort(points, function(a, b) return a.y > b.y end)
    for k, p in ipairs(points) do
        local last = points[k - 1]
        local is_near = last and math.abs(math.log10(last.y / p.y)) < 0.05
            and math.abs(math.log10(last.x / p.x)) < 0.05
        p.align = is_near and 1 - last.align or 0
        notes[#notes + 1] = { x = p.x, y = p.y, align = p.align, text = tostring(k) }
        notes[#notes + 1] = { x = list.x, y = top * list.y * list.step ^ (k - 1),
            text = ('%d  %s, %d²: %.3g Gcells/s'):format(k, p.name:gsub('_', ' ', 1), p.record.nx,
                p.record.cells_per_second / 1e9) }
    end
    return notes
end

-- Returns the rates of copies (TB/s) and of arithmetic (Tflop/s) that were
-- measured with the points.
local function roof_of(points)
    for k = #points, 1, -1 do
        local r = points[k].record
        if r.copy_bandwidth and r.flops_per_second then
            return r.copy_bandwidth / 1e12, r.flops_per_second / 1e12
        end
    end
    error('roofline: no record has the rates of copies and of arithmetic beside it', 0)
end

-- Returns the least of 1, 2, 5, 10, 20, ... that leaves some room above a value.
local function above(value)
    local power = 10 ^ math.floor(math.log10(value))
    for _, factor in ipairs { 1, 2, 5, 10 } do
        if factor * power >= 1.3 * value then return factor * power end
    end
    return 20 * power
end

-- Writes the picture and returns its path.
function roofline.draw(records, path)
    local points, first = points_of(records), records[1]
    if not points[1] then
        error('roofline: no record is of a scheme whose operations are counted (flops.lua)', 0)
    end
    local copy, most = roof_of(points)
    local top = above(most)
    local series = { { x = { 0.1, most / copy, 1000 }, y = { 0.1 * copy, most, most },
        colour = 0x262626, label = ('copies of %.2g TB/s, %.2g Tflop/s'):format(copy, most) } }
    for _, name in ipairs { 'euler', 'water', 'ocean' } do
        local one = { x = {}, y = {}, label = name, style = 'points' }
        for _, p in ipairs(points) do
            if p.equations == name then
                one.x[#one.x + 1], one.y[#one.y + 1] = p.x, p.y
            end
        end
        if #one.x > 0 then series[#series + 1] = one end
    end
    image.lines {
        path = path, width = 1300, height = 800, xlog = true, ylog = true,
        title = ('%s, %s: a step of each scheme on its largest grid'):format(first.model,
            first.precision), xlabel = 'operations a byte', ylabel = 'Tflop/s',
        xticks = { 0.5, 1, 2, 5, 10, 20 }, xrange = { 0.5, 700 },
        yrange = { top / 100, top }, series = series, notes = notes_of(points, top),
    }
    return path
end

return roofline
