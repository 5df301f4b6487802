-- Checks the files that a run will write before it writes any of them. A path
-- that cannot be written, or that two outputs of the run share, is refused.

local cairo = require 'bindings.cairo'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local posix = require 'bindings.posix'
local terminal = require 'mare.base.terminal'

local paths = {
    kept = nil,     -- the file that `mare rerun` repeats, which must stay as it is
}

local function is_same(a, b)
    local same = posix.is_same(a, b)
    if same == nil then return files.resolve(a) == files.resolve(b) end
    return same
end

-- Refuses two outputs with the same file, since only the last would survive, and any output that
-- would overwrite the kept file. list: pairs { what, path }; entries without a path are skipped.
function paths.distinct(list)
    local taken = {}
    for _, entry in ipairs(list) do
        local what, path = entry[1], entry[2]
        local name = path and files.resolve(path)
        if path and paths.kept and is_same(path, paths.kept) then
            errors.usage('%s: %s is the file that runs again, which stays as it is', what, path)
        end
        if name and taken[name] then
            errors.usage('%s and %s are one file: %s', taken[name], what, path)
        end
        if name then taken[name] = what end
    end
end

-- Refuses a path that could not become a picture later.
function paths.check_picture(path)
    cairo.version()
    files.check(path)
    if not path:lower():find '%.png$' then error(path .. ': a picture ends in .png', 0) end
end

-- Checks the paths among the values of the options, which are a list of { name,
-- key, writes }. The head of options.lua explains `writes`.
function paths.check(list, values)
    local named = {}
    for _, option in ipairs(list) do
        local path = option.writes and values[option.key]
        if path and not terminal.rank then          -- rank 0 writes, and asks, for all
            named[#named + 1] = { 'option --' .. option.name, path }
            if option.writes == 'png' then
                errors.option(option.name, paths.check_picture, path)
            elseif option.writes == 'file' then
                errors.option(option.name, files.check, path)
            end
        end
    end
    paths.distinct(named)
end

return paths
