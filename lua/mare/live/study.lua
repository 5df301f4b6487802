-- Runs a scenario over values of its options; a study is the table of these runs.
--
--     study = mare.study { scenario = 'sod', options = { t_end = 0.1 },
--         over = { nx = { 50, 100, 200 }, limiter = { 'mc', 'minmod' } },
--         measure = function(result, sim) return { error = result.error.rho } end }
--     study                       -- in a session: the table
--     study[3].error              -- a row: the options, steps, seconds, what was measured
--     study:write 'sod.csv'
--
-- The last of the options, by name, varies fastest. A run that fails leaves its message in
-- `failure`, and the study goes on; an interrupt ends it.

local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local files = require 'bindings.files'
local live = require 'mare.live'
local system = require 'bindings.system'
local tables = require 'bindings.tables'

local study = {}

local Study = {}

local wanted = { scenario = 'string', options = 'table', over = 'table', measure = 'function' }

-- Returns every choice of one value for each option, as an array of tables.
local function choices(over, names)
    local list = { {} }
    for _, name in ipairs(names) do
        local values, longer = over[name], {}
        if type(values) ~= 'table' or #values == 0 then
            errors.argument('study: over.%s: an array of values is wanted', tostring(name))
        end
        for _, choice in ipairs(list) do
            for _, value in ipairs(values) do
                longer[#longer + 1] = tables.merged({ [name] = value }, choice)
            end
        end
        list = longer
    end
    return list
end

-- Runs one choice; adds to the row what came of it.
local function compute(desc, row)
    local options = tables.merged({ quiet = true, image = 'none' }, desc.options, row)
    local begun = system.now()
    local sim = live.from(desc.scenario)(options)
    local result = sim:finish()
    row.seconds, row.steps = system.now() - begun, sim.steps
    for name, value in pairs(desc.measure and desc.measure(result, sim) or {}) do
        row[name] = value
    end
    sim:release()
end

local function is_interrupt(failure)
    return errors.is(failure) and failure.status == 'interrupted'
end

-- Runs a study and returns its table. desc: see the head of this file; options: of all runs
function study.new(desc)
    errors.fields('study', desc, wanted)
    if not desc.scenario then errors.argument 'study: scenario is missing: a name or a file' end
    local names = tables.keys(desc.over or {})
    local self = setmetatable({ names = names, over = desc.over }, Study)
    for k, row in ipairs(choices(desc.over or {}, names)) do
        local ok, failure = pcall(compute, desc, row)
        if is_interrupt(failure) then error(failure, 0) end
        if not ok then
            row.failure = errors.is(failure) and failure.message or tostring(failure)
            events.warn('study: run %d: %s', k, row.failure)
        end
        self[k] = row
    end
    return self
end

-- Returns the names of the columns: the options, then what all rows have.
local function columns(self)
    local known, rest, list = {}, {}, {}
    for k, name in ipairs(self.names) do list[k], known[name] = name, true end
    for _, row in ipairs(self) do
        for name in pairs(row) do
            if not known[name] then rest[name], known[name] = true, true end
        end
    end
    for _, name in ipairs(tables.keys(rest)) do list[#list + 1] = name end
    return list
end

local function shown(value, digits)
    if type(value) == 'number' then return ('%%.%dg'):format(digits):format(value) end
    return value == nil and '' or tostring(value)
end

function Study:__tostring()
    local names, widths, lines = columns(self), {}, {}
    local function add(text_of)
        local cells = {}
        for c, name in ipairs(names) do
            local text = text_of(name)
            cells[c], widths[c] = text, math.max(widths[c] or 0, #text)
        end
        lines[#lines + 1] = cells
    end
    add(function(name) return name end)
    for _, row in ipairs(self) do add(function(name) return shown(row[name], 5) end) end
    for k, cells in ipairs(lines) do
        for c, text in ipairs(cells) do cells[c] = text .. (' '):rep(widths[c] - #text) end
        lines[k] = table.concat(cells, '  '):gsub('%s+$', '')
    end
    return table.concat(lines, '\n')
end

local function quoted(text)
    return text:find '[,"\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

-- study:write 'FILE.csv': the table for other programs, with every digit.
local function write(self, path)
    local names, temporary = columns(self), files.temporary(path)
    temporary:append(table.concat(names, ',') .. '\n')
    for _, row in ipairs(self) do
        local cells = {}
        for c, name in ipairs(names) do cells[c] = quoted(shown(row[name], 17)) end
        temporary:append(table.concat(cells, ',') .. '\n')
    end
    temporary:commit()
end

Study.__index = { write = write }

return study
