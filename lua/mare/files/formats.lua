-- formats.lua - the formats of what --out, `outputs` of a script and sim:save write: one entry for
-- each, chosen by the ending of the file's name. NetCDF, the first, is written under other endings
-- too. README.md says what a module of a format has.

local options = require 'mare.base.options'

local formats = {}

-- help: what --help says of --out beside what run_options.lua says
local entries = {
    { ending = 'nc', module = function() return require 'mare.files.netcdf' end },
}

-- A later declaration of an option overrides fields of the earlier one.
local function add_help(text)
    options.simulation[#options.simulation + 1] = { name = 'out',
        help = options.of_run().out.help .. '; ' .. text }
end

local by_ending = {}
for _, entry in ipairs(entries) do
    by_ending[entry.ending] = entry
    if entry.help then add_help(entry.help) end
end

-- Returns the module for a file of that name. Without a name it is any: each refuses to write then.
function formats.of(path)
    local ending = (path or ''):match '%.(%w+)$' or ''
    local entry = by_ending[ending:lower()] or entries[1]
    return entry.module()
end

-- Returns the endings, in the order of the entries.
function formats.endings()
    local list = {}
    for k, entry in ipairs(entries) do list[k] = entry.ending end
    return list
end

return formats
