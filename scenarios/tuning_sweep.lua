-- Block shapes against speed and energy: figures 3 and 9 of Holm, Brodtkorb and Saetra (2020) for
-- every scheme. A block is what one group of work-items computes at a time: `width` columns, W of
-- each work-item, by `height` rows, over which it marches. Energy is that above rest. Shapes do not
-- change what is computed, which is checked, bit for bit, for each.

local mare = require 'mare'

local o = mare.options {
    title = 'Tuning sweep',
    help = 'Speed, power and energy of every scheme by the width and height of its blocks.',
    mare.options.device,
    { name = 'n', default = 4096, range = { 64, 16384 }, help = 'cells along x and along y' },
    { name = 'schemes', type = 'string', help = "some, as 'euler,ocean linear'; all if not given" },
    { name = 'widths', default = '32,64,128,256', help = 'of groups, in work-items' },
    { name = 'heights', default = '8,16,32,64,128', help = 'rows' },
    { name = 'energy', default = false, help = 'measure power and energy too' },
    { name = 'seconds', type = 'number', default = 1, range = { 0.1, 60 },
      help = 'of measuring energy, each' },
    { name = 'table', default = 'tuning_sweep.csv', type = 'path', writes = 'file',
      help = 'file for the figures' },
    { name = 'from', type = 'path', help = 'such a file, to draw without measuring' },
    { name = 'image', default = 'tuning_sweep.png', type = 'path', writes = 'png' },
    { name = 'cache', type = 'path', help = 'FOLDER to go on from, a file for each scheme' },
    { name = 'quiet', default = false, help = 'print nothing' },
    { name = 'keep', default = false, help = 'the fastest, for runs to come' },
}

local function water(scheme) return { 'water ' .. scheme, 'bump', { scheme = scheme } } end
local function ocean(scheme, cfl)
    return { 'ocean ' .. scheme, 'seiche', { scheme = scheme, cfl = cfl, ny = o.n } }
end
local cases = {
    { 'euler', 'kelvin_helmholtz', { ny = o.n } },
    ocean('linear', 0.8), ocean('nonlinear', 0.7), ocean('cdklm', 0.25),
    ocean('kurganov_petrova', 0.25), water 'muscl_hancock', water 'waf', water 'kurganov_petrova',
    water 'kurganov_petrova_rk3', water 'kurganov_petrova_split', water 'hll', water 'force',
    water 'lax_friedrichs',
}

local function numbers(text)
    local list = {}
    for word in text:gmatch '[^,]+' do list[#list + 1] = tonumber(word) end
    return list
end

-- The records of a case, as rows of the table.
local function measure(case)
    local options = { nx = o.n }
    for key, value in pairs(case[3]) do options[key] = value end
    local records = mare.tune.scenario {
        scenario = case[2], options = options, device = o.device, energy = o.energy, keep = o.keep,
        tune_params = { GROUP = numbers(o.widths), rows = numbers(o.heights) },
        energy_seconds = o.seconds, energy_warm = 0.1, early_stop = math.huge,
        cache = o.cache and ('%s/%s.json'):format(o.cache, (case[1]:gsub(' ', '_'))),
    }
    local rows = {}
    for k, record in ipairs(records) do
        rows[k] = mare.tune.sweep.row(case[1], record.GROUP, record.rows, o.n ^ 2, record)
    end
    return rows
end

local rows = o.from and mare.tune.sweep.read(o.from) or {}
for _, case in ipairs(o.from and {} or cases) do
    local wanted = not o.schemes
    for name in (o.schemes or ''):gmatch '[^,]+' do wanted = wanted or case[1] == name end
    for _, row in ipairs(wanted and measure(case) or {}) do rows[#rows + 1] = row end
end
if #rows == 0 then error("tuning_sweep: no scheme is called '" .. o.schemes .. "'", 0) end
if not o.from then mare.tune.sweep.write(o.table, rows) end
mare.tune.sweep.picture(o.image, rows)
if not o.quiet then print(table.concat(mare.tune.sweep.findings(rows), '\n')) end
return rows
