-- `mare info FILE`: prints what a NetCDF file, one at an address of OPeNDAP too,
-- or a checkpoint holds, and what made it.

local checkpoint = require 'mare.files.checkpoint'
local classic = require 'mare.files.classic'
local files = require 'bindings.files'
local grid = require 'mare.array.grid'
local identity = require 'mare.run.identity'
local json = require 'mare.base.json'
local literal = require 'mare.base.literal'
local netcdf = require 'bindings.netcdf'
local printable = require 'bindings.printable'
local words = require 'mare.base.words'

local info = {}

-- An attribute as text: it may be a list of numbers.
local function shown_value(value)
    return type(value) == 'table' and table.concat(value, ', ') or tostring(value)
end

local piece = 2 ^ 22        -- values that are read at a time

local function range_of(data, n, low, high)
    for k = 0, n - 1 do
        local value = data[k]
        if value < low then low = value end
        if value > high then high = value end
    end
    return low, high
end

-- Returns the least and the greatest value of a variable; reads a few rows at a
-- time.
local function range(file, variable)
    local shape, low, high = variable.shape, math.huge, -math.huge
    local inner = 1
    for k = 2, #shape do inner = inner * shape[k] end
    local step = math.max(1, math.floor(piece / inner))
    for first = 0, shape[1] - 1, step do
        local start, count = { first }, { math.min(step, shape[1] - first) }
        for k = 2, #shape do start[k], count[k] = 0, shape[k] end
        local data, n = file:get(variable.name, start, count)
        low, high = range_of(data, n, low, high)
    end
    return low, high
end

-- Returns the texts of a variable of type char.
local function texts_of(file, v)
    local list, shape = {}, v.shape
    local longest = shape[#shape]
    for k = 1, #shape == 2 and shape[1] or 1 do
        local start = #shape == 2 and { k - 1, 0 } or nil
        list[k] = file:text(v.name, start, start and { 1, longest })
    end
    return table.concat(list, ', ')
end

local function variable_line(file, v)
    local attributes = file:attributes(v.name)
    if v.type == 'char' then
        return string.format('  %-12s %-6s %s  %s', v.name, v.type, texts_of(file, v),
            shown_value(attributes.long_name or ''))
    end
    local low, high = range(file, v)
    local has_units = attributes.units and attributes.units ~= '1'
    local units = has_units and ' ' .. shown_value(attributes.units) or ''
    local values = low <= high and string.format('%.6g to %.6g%s', low, high, units) or 'empty'
    return string.format('  %-12s %-6s %s  %s', v.name, v.type, values,
        shown_value(attributes.long_name or ''))
end

local function dimension_lines(file, lines)
    local sizes, list = file:dimensions(), {}
    for name, size in pairs(sizes) do list[#list + 1] = string.format('%s %.0f', name, size) end
    table.sort(list)
    lines[#lines + 1] = 'dimensions: ' .. table.concat(list, ', ')
end

local function option_lines(attributes, names, lines)
    for _, name in ipairs(names) do
        local option, value = name:match '^option_(.*)$', attributes[name]
        if option then
            local text = type(value) == 'number' and string.format('%.14g', value)
                or shown_value(value)
            lines[#lines + 1] = string.format('  %-16s %s', option:gsub('_', '-'), text)
        end
    end
end

local shown = { 'title', 'source', 'device', 'driver', 'scenario', 'history' }

-- Adds the sides of the grid, and what drives the open ones.
local function boundary_lines(attributes, lines)
    if not attributes.boundary_west then return end
    lines[#lines + 1] = 'boundaries:'
    for _, side in ipairs(grid.sides) do
        lines[#lines + 1] = string.format('  %-16s %s', side,
            shown_value(attributes['boundary_' .. side]))
    end
    local tide = attributes.tide
    if tide then lines[#lines + 1] = '  tide             ' .. shown_value(tide) end
end

local function netcdf_lines(path)
    local file = netcdf.open(path)
    local attributes, names = file:attributes()
    local lines = {}
    for _, name in ipairs(shown) do
        if attributes[name] then
            local text = shown_value(attributes[name]):gsub('\n', '\n    ')
            lines[#lines + 1] = name .. ': ' .. text
        end
    end
    local given = json.texts(attributes.arguments)
    if given then lines[#lines + 1] = 'arguments: ' .. words.line(given) end
    dimension_lines(file, lines)
    lines[#lines + 1] = 'variables:'
    for _, v in ipairs(file:variables()) do
        if #v.shape > 0 then lines[#lines + 1] = variable_line(file, v) end
    end
    boundary_lines(attributes, lines)
    lines[#lines + 1] = 'options:'
    option_lines(attributes, names, lines)
    file:close()
    return lines
end

-- Describes the place of a checkpoint. dt is 0 if a step has just ended at a
-- scheduled time; the next dt then depends on the next scheduled time.
local function place_line(h)
    local text = string.format('t = %s, step %.0f', literal.encode(h.t), h.steps)
    if h.t_end then
        text = text .. ', before the steps that are cut to end at t = ' .. literal.encode(h.t_end)
    elseif h.dt > 0 then
        text = text .. ', next dt = ' .. literal.encode(h.dt)
    end
    return text
end

-- Raises where the state is not that of the grid, though the checksum is right. What analyses have
-- gathered follows it.
local function check_state(path, found)
    local h, bytes = found.header, found.bytes
    local wanted = checkpoint.state_bytes(h.identity, h.levels or 1)
    local is_any = #(h.analyses or {}) > 0 or not h.levels      -- Mare wrote no levels before
    if wanted and (bytes < wanted or bytes > wanted and not is_any) then
        error(('%s: its state has %.0f bytes, the grid wants %.0f'):format(path, bytes, wanted), 0)
    end
end

local function checkpoint_lines(path, found)
    check_state(path, found)
    local h = found.header
    local lines = {
        'checkpoint: whole, its checksum is right', 'title: ' .. (h.title or 'none'),
        'source: Mare ' .. h.version .. ', commit ' .. (h.commit or 'unknown'),
        'device: ' .. h.device, place_line(h),
    }
    if h.shares then
        lines[#lines + 1] = ('shares: %d files beside it, of a rank each, which are read'):format(
            #h.shares)
    end
    for _, entry in ipairs(h.identity) do lines[#lines + 1] = identity.line(entry) end
    for _, output in ipairs(h.outputs) do
        local p = output.position
        local count, noun = p.frames or p.steps or 0, p.frames and 'frame' or 'record'
        local to = p.last and (' to t = %g'):format(p.last) or ''
        lines[#lines + 1] = ('output: %s, %d %s%s%s'):format(p.path, count, noun,
            count == 1 and '' or 's', to)
    end
    return lines
end

local function lines_of(path)
    local reason = files.unreadable(path)
    if reason then error(path .. ': ' .. reason, 0) end
    if files.is_remote(path) then return netcdf_lines(path) end
    local found
    found, reason = checkpoint.read(path)
    if found then return checkpoint_lines(path, found) end
    reason = reason ~= 'is no checkpoint' and reason or classic.cut_off(path)
    if reason then error(path .. ': ' .. reason, 0) end
    return netcdf_lines(path)
end

-- Returns lines about a file; raises an error if it has another format. Bytes
-- that a terminal would obey are shown as '?'.
function info.lines(path)
    local lines = lines_of(path)
    for k, line in ipairs(lines) do lines[k] = printable(line, true) end
    return lines
end

return info
