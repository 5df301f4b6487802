-- A table of block sizes against speed and energy: its file, its heat maps and
-- its findings in words. A row is { scheme, width = work-items of a group,
-- height = rows, mcells_per_second, watts, mcells_per_joule, low, high, device =
-- the model, api = cuda or opencl, commit }. What was not measured is nil; low and
-- high are the ends of the interval of the energy. Tables of several devices stand
-- beside each other, and how far the best blocks of one carry on another.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local image = require 'mare.draw.image'
local progress = require 'mare.measure.progress'

local sweep = {}

local columns = { 'scheme', 'width', 'height', 'mcells_per_second', 'watts', 'mcells_per_joule',
    'low', 'high', 'device', 'api', 'commit' }
local of_before = 8             -- columns of files before there was a device in them
local is_text = { scheme = true, device = true, api = true, commit = true }

-- Makes a row from a record of mare.tune.scenario on so many cells. place: { device, api, commit }
function sweep.row(scheme, width, height, cells, record, place)
    local row = { scheme = scheme, width = width, height = height }
    for name, text in pairs(place or {}) do row[name] = text:gsub('[,\n]', ' ') end
    if record.invalidity ~= 'correct' then return row end
    row.mcells_per_second, row.watts = cells / record.time / 1e3, record.power
    if record.energy then
        row.mcells_per_joule = cells / record.energy / 1e6
        row.low, row.high = cells / record.energy_high / 1e6, cells / record.energy_low / 1e6
    end
    return row
end

-- ---- the file ----

-- Writes comma-separated values with a line of names.
function sweep.write(path, rows)
    local lines = { table.concat(columns, ',') }
    for k, row in ipairs(rows) do
        local texts = {}
        for c, name in ipairs(columns) do
            local value = row[name] or ''
            texts[c] = type(value) == 'number' and ('%.6g'):format(value) or value
        end
        lines[k + 1] = table.concat(texts, ',')
    end
    local temporary = files.temporary(path)
    temporary:append(table.concat(lines, '\n') .. '\n')
    temporary:commit()
end

-- Returns a number, nil for an empty text, or false for a text that is no
-- number.
local function number_of(text)
    local number = tonumber(text)
    if text == '' then return nil end
    return number and number - number == 0 and number or false
end

local function row_of(line, path, number, count)
    local row, c, is_right = {}, 0, true
    for text in (line .. ','):gmatch '(.-),' do
        c = c + 1
        local name = columns[c] or 'beyond'
        local value = text ~= '' and text or nil
        if not is_text[name] then value = number_of(text) end
        row[name], is_right = value, is_right and value ~= false
    end
    if not (is_right and c == count and row.scheme and row.width and row.height) then
        errors.argument('sweep: %s: line %d is no row of a table', path, number)
    end
    return row
end

-- Returns the rows of such a file.
function sweep.read(path)
    local file, reason = files.ordinary(path)
    if not file then errors.argument('sweep: %s', reason) end
    local wanted, rows, head = table.concat(columns, ','), {}, file:read '*l'
    local count = head == wanted and #columns
        or head == table.concat(columns, ',', 1, of_before) and of_before
    if not count then
        file:close()
        errors.argument('sweep: %s is no table of a sweep, whose first line is %s', path, wanted)
    end
    for line in file:lines() do rows[#rows + 1] = row_of(line, path, #rows + 2, count) end
    file:close()
    if not rows[1] then errors.argument('sweep: %s has no rows', path) end
    return rows
end

-- Returns the rows of several files, 'a.csv,b.csv'. A table that does not tell its device has the
-- name of its file for one.
function sweep.read_all(paths)
    local all = {}
    for path in (paths .. ','):gmatch '%s*(.-)%s*,' do
        for _, row in ipairs(sweep.read(path)) do
            if paths:find ',' then row.device = row.device or path:match '([^/]-)%.?%w*$' end
            all[#all + 1] = row
        end
    end
    return all
end

-- Makes a folder for other files of a sweep, if it does not exist.
function sweep.make_folder(path)
    files.make_folders(path .. '/')
    files.check(path .. '/sweep')
end

-- ---- by scheme ----

local function place_of(row)
    return row.device and (row.api and row.device .. ' ' .. row.api or row.device) or ''
end

-- Returns an array of { name =, rows } in the order of each name's first row.
local function grouped(rows, name_of)
    local list, at = {}, {}
    for _, row in ipairs(rows) do
        local name = name_of(row)
        if not at[name] then
            at[name] = { name = name, rows = {} }
            list[#list + 1] = at[name]
        end
        table.insert(at[name].rows, row)
    end
    return list
end

-- Returns groups of each scheme; of several devices those of each, one after the other.
local function by_scheme(rows)
    local list = {}
    local are_several = #grouped(rows, place_of) > 1
    for _, group in ipairs(grouped(rows, function(row) return row.scheme end)) do
        for _, entry in ipairs(grouped(group.rows, place_of)) do
            entry.name = group.name .. (are_several and ', ' .. entry.name or '')
            entry.scheme, entry.is_one_of_several = group.name, are_several
            list[#list + 1] = entry
        end
    end
    return list
end

-- Returns the values of a column, each once, sorted.
local function values_of(rows, name)
    local list, seen = {}, {}
    for _, row in ipairs(rows) do
        if not seen[row[name]] then list[#list + 1], seen[row[name]] = row[name], true end
    end
    table.sort(list)
    return list
end

local function best_of(rows, name)
    local best
    for _, row in ipairs(rows) do
        if row[name] and (not best or row[name] > best[name]) then best = row end
    end
    return best
end

-- ---- the picture ----

local function panel(rows, widths, heights, label, value, format, best)
    local values = {}
    for j, height in ipairs(heights) do values[j] = { height = height } end
    for _, row in ipairs(rows) do
        for j, height in ipairs(heights) do
            for i, width in ipairs(widths) do
                if row.width == width and row.height == height then values[j][i] = value(row) end
            end
        end
    end
    return { label = label, values = values, format = format, best = best }
end

-- Returns a format with at least three digits for numbers up to `most`.
local function digits(most)
    return most >= 1000 and '%.0f' or '%.3g'
end

-- Returns the panel of speeds, in Mcells/s below 10 Gcells/s as in
-- progress.lua.
local function speed_panel(entry, widths, heights)
    local best = best_of(entry.rows, 'mcells_per_second')
    local most = best and best.mcells_per_second or 0
    local unit, scale = 'Mcells/s', 1
    if most >= 1e4 then unit, scale = 'Gcells/s', 1e3 end
    return panel(entry.rows, widths, heights, entry.name .. ': ' .. unit, function(r)
        return r.mcells_per_second and r.mcells_per_second / scale
    end, digits(most / scale), 'high')
end

local function panels_of(entry, widths, heights)
    local rows, found = entry.rows, { speed_panel(entry, widths, heights) }
    for _, one in ipairs { { 'mean power, W', 'watts', 'low' },
        { 'Mcells/J above rest', 'mcells_per_joule', 'high' } } do
        local label, name, best = unpack(one)
        local most = best_of(rows, name)
        if most then
            if entry.is_one_of_several then label = entry.name .. ': ' .. label end
            found[#found + 1] = panel(rows, widths, heights, label, function(r) return r[name] end,
                digits(most[name]), best)
        end
    end
    return found
end

-- Returns the rows of the picture: of each scheme speed, power and cells per joule beside each
-- other; of several devices each of these in a row of its own, with the devices beside each other.
local function rows_of(entries, widths, heights)
    local list, first = {}, 1
    for k, entry in ipairs(entries) do
        if k > 1 and entry.scheme ~= entries[k - 1].scheme then first = #list + 1 end
        for quantity, one in ipairs(panels_of(entry, widths, heights)) do
            local at = entry.is_one_of_several and first + quantity - 1 or first
            list[at] = list[at] or {}
            table.insert(list[at], one)
        end
    end
    return list
end

-- Draws heat maps into a PNG file, the best value of each framed. path nil: does nothing.
function sweep.picture(path, rows)
    if not path then return end
    local widths, heights = values_of(rows, 'width'), values_of(rows, 'height')
    local function texts(numbers)
        local out = {}
        for k, number in ipairs(numbers) do out[k] = ('%g'):format(number) end
        return out
    end
    image.heatmap { path = path, x = texts(widths), y = texts(heights),
        xlabel = 'work-items a group', ylabel = 'rows',
        rows = rows_of(by_scheme(rows), widths, heights) }
end

-- ---- in words ----

local function describe(row)
    local text = ('%g x %g: %s'):format(row.width, row.height,
        progress.cell_rate(1e6 * row.mcells_per_second))
    if not row.mcells_per_joule then return text end
    return ('%s, %.3g W, %.3g Mcells/J (%.3g to %.3g)'):format(text, row.watts,
        row.mcells_per_joule, row.low, row.high)
end

-- Returns lines with the fastest and the most frugal block of each scheme, and
-- their distance.
function sweep.findings(rows)
    local lines = {}
    for _, entry in ipairs(by_scheme(rows)) do
        local fast = best_of(entry.rows, 'mcells_per_second')
        local frugal = best_of(entry.rows, 'mcells_per_joule')
        if fast then lines[#lines + 1] = entry.name .. ': fastest ' .. describe(fast) end
        if fast and frugal and fast.mcells_per_joule then
            lines[#lines + 1] = ('    most frugal %s: the fastest takes %.1f %% more energy, the '
                .. 'most frugal %.1f %% more time'):format(describe(frugal),
                100 * (frugal.mcells_per_joule / fast.mcells_per_joule - 1),
                100 * (fast.mcells_per_second / frugal.mcells_per_second - 1))
        end
    end
    return lines
end

-- Returns the speed of a block among rows, or nil.
local function speed_of(rows, width, height)
    for _, row in ipairs(rows) do
        if row.width == width and row.height == height then return row.mcells_per_second end
    end
end

-- Returns lines of how fast the best block of each device is on the others, for every
-- scheme: per cent of their own best; nothing where there is one device.
function sweep.portability(rows)
    local lines = {}
    for _, group in ipairs(grouped(rows, function(row) return row.scheme end)) do
        local places = grouped(group.rows, place_of)
        for _, from in ipairs(#places > 1 and places or {}) do
            local best, words = best_of(from.rows, 'mcells_per_second'), {}
            for k, on in ipairs(best and places or {}) do
                local own = best_of(on.rows, 'mcells_per_second')
                local speed = speed_of(on.rows, best.width, best.height)
                words[k] = ('%s %s'):format(on.name, own and speed
                    and ('%.0f %%'):format(100 * speed / own.mcells_per_second) or '-')
            end
            if best then
                lines[#lines + 1] = ('%s: best of %s, %g x %g, on %s'):format(group.name,
                    from.name, best.width, best.height, table.concat(words, ', '))
            end
        end
    end
    return lines
end

return sweep
