-- `mare bench` lists and runs the benchmarks in tests/bench/, which are part of
-- the source tree, the bundle and an installation. A file there is a benchmark
-- if its head says how to run it.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local home = require 'bindings.home'
local folders = require 'bindings.folders'
local tables = require 'bindings.tables'

local bench = {}

local folder = home.root .. '/tests/bench/'

local function head_of(name)
    local text = files.read(folder .. name .. '.lua')
    return text and text:match '^(%-%-.-)\n[^-]'
end

-- Returns { name, about = what it measures, usage = how to run it }, or nil if
-- there is no benchmark of that name.
function bench.find(name)
    local head = head_of(name)
    local about, usage = (head or ''):match '^%-%- %S+ %- (.-)\n(%-%-     mare .*)$'
    if not about then return nil end
    about, usage = about:gsub('\n%-%-', '') .. ' ', usage:gsub('\n%-%- %S.*$', '')
    about = about:match '^(.-)%.%s'
    usage = usage:gsub('%-%-     mare tests/bench/([%w_]+)%.lua', 'mare bench %1')
    return { name = name, about = about, usage = usage:gsub('%-%-     ', '') }
end

-- Returns all benchmarks, sorted by name.
function bench.list()
    local found = folders.list(folder)
    if not found then
        errors.usage('bench: there is no folder %s, where benchmarks are', folder)
    end
    local list = {}
    for _, file in ipairs(found) do
        local name = file:match '^([%w_]+)%.lua$'
        list[#list + 1] = name and bench.find(name)
    end
    table.sort(list, function(a, b) return a.name < b.name end)
    return list
end

-- Returns the text that `mare bench` prints.
function bench.text()
    local lines = {}
    for _, one in ipairs(bench.list()) do
        lines[#lines + 1] = one.name .. ': ' .. one.about
        for line in one.usage:gmatch '[^\n]+' do lines[#lines + 1] = '    ' .. line end
    end
    return table.concat(lines, '\n')
end

-- Returns what `mare bench NAME --help` prints, or nil for a benchmark that prints its own.
function bench.help(name)
    local head = bench.path(name) and head_of(name)
    if head:find('[--help]', 1, true) then return nil end
    head = head:gsub('^%-%- [%w_]+%.lua %- ', '-- ' .. name .. ': '):gsub('%f[^\n%z]%-%- ?', '')
    return (head:gsub('mare tests/bench/([%w_]+)%.lua', 'mare bench %1'))
end

-- Returns the path of a benchmark's script.
function bench.path(name)
    if not bench.find(name) then
        errors.usage("bench: '%s' (allowed: %s)", name,
            table.concat(tables.column(bench.list(), 'name'), ', '))
    end
    return folder .. name .. '.lua'
end

return bench
