-- Block shapes against speed and energy: figures 3 and 9 of Holm, Brodtkorb and
-- Saetra (2020) for every scheme. A block is what one group computes at a time:
-- `width` work-items, each with the W columns of the shipped shape, by `height`
-- rows, which they compute one after the other. Energy is above that at rest.
-- Every shape is checked to give the same bits.

local mare = require 'mare'

local o = mare.options {
    title = 'Tuning sweep',
    help = 'Speed, power and energy of every scheme by the width and height of its blocks.',
    mare.options.device,
    { name = 'n', default = 4096, range = { 64, 16384 }, help = 'cells along x and along y' },
    { name = 'schemes', type = 'string',
        help = "which schemes, such as 'euler,ocean linear'; default: all" },
    { name = 'widths', default = '32,64,128,256', help = 'widths of groups, in work-items' },
    { name = 'heights', default = '8,16,32,64,128', help = 'heights of blocks, in rows' },
    { name = 'energy', default = false, help = 'measure power and energy too' },
    { name = 'seconds', type = 'number', default = 1, range = { 0.1, 60 },
      help = 'seconds of each measurement of energy' },
    { name = 'table', default = 'tuning_sweep.csv', type = 'path', writes = 'file',
      help = "file for the results, or 'none'" },
    { name = 'from', type = 'string', help = 'draw the results in such files, a.csv,b.csv, without '
      .. 'measuring; of several devices also how far the best blocks of each carry' },
    { name = 'image', default = 'tuning_sweep.png', type = 'path', writes = 'png',
      help = "PNG file to draw, or 'none'" },
    { name = 'cache', type = 'path', help = 'folder of files to continue from, one per scheme' },
    { name = 'quiet', default = false, help = 'print nothing' },
    { name = 'keep', default = false, help = 'keep the fastest shapes for later runs' },
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

-- Returns the selected cases.
local function chosen(text)
    if not text then return cases end
    local known, names, list, seen = {}, {}, {}, {}
    for k, case in ipairs(cases) do known[case[1]], names[k] = case, case[1] end
    for name in (text .. ','):gmatch '%s*(.-)%s*,' do
        if not known[name] then
            error(("'%s' (allowed: %s)"):format(name, table.concat(names, ', ')), 0)
        end
        if seen[name] then error(("'%s' twice"):format(name), 0) end
        list[#list + 1], seen[name] = known[name], true
    end
    return list
end

local device, failure, is_any
local params = {
    GROUP = mare.options.numbers('widths', o.widths, nil, { 1, 4096, whole = true, once = true }),
    rows = mare.options.numbers('heights', o.heights, nil, { 1, 16384, whole = true, once = true }),
}

-- Adds a measured row to the table at once, so that nothing is lost if the
-- sweep is stopped.
local function add(rows, row)
    rows[#rows + 1] = row
    is_any = is_any or row.mcells_per_second
    if is_any and o.table then mare.tune.sweep.write(o.table, rows) end
end

local function measure(case, rows)
    local place = { device = device.info.model, api = device.name:match '^%a+',
        commit = mare.commit }
    local options = { nx = o.n }
    for key, value in pairs(case[3]) do options[key] = value end
    mare.tune.scenario {
        scenario = case[2], options = options, device = device, energy = o.energy, keep = o.keep,
        tune_params = params, energy_seconds = o.seconds, energy_warm = 0.1,
        early_stop = math.huge,
        cache = o.cache and ('%s/%s.json'):format(o.cache, (case[1]:gsub(' ', '_'))),
        tell = function(record)
            failure = failure or record.error
            add(rows, mare.tune.sweep.row(case[1], record.GROUP, record.rows, o.n ^ 2, record,
                place))
        end,
    }
end

local function measure_all()
    local list, rows = mare.options.apply('schemes', chosen, o.schemes), {}
    device = mare.options.apply('device', mare.device.open, o.device)
    if o.keep then mare.options.apply('keep', mare.tune.check_keep) end
    if o.cache then mare.options.apply('cache', mare.tune.sweep.make_folder, o.cache) end
    if o.energy then
        mare.options.apply('energy', function() return assert(mare.energy.open(device)) end)
    end
    local ok, problem = pcall(function()
        for _, case in ipairs(list) do measure(case, rows) end
    end)
    if not ok then
        if is_any then mare.tune.sweep.picture(o.image, rows) end
        error(problem, 0)
    end
    if not is_any then error('tuning_sweep: no block can be measured: ' .. failure, 0) end
    return rows
end

local rows = o.from and mare.options.apply('from', mare.tune.sweep.read_all, o.from)
    or measure_all()
mare.tune.sweep.picture(o.image, rows)
if not o.quiet then
    print(table.concat(mare.tune.sweep.findings(rows), '\n'))
    for _, line in ipairs(mare.tune.sweep.portability(rows)) do print(line) end
end
return rows
