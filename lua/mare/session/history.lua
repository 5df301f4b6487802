-- history.lua - keeps what was typed from session to session: a text file with
-- one entry per line. Each entry is appended when it is entered, so two
-- sessions at once, or one that is killed, lose nothing. Only its user can read
-- the file. It is $MARE_HISTORY ('off' for none), else
-- $XDG_STATE_HOME/mare/history, else below ~/.local/state.

local files = require 'bindings.files'
local posix = require 'bindings.posix'

local history = {}

local kept = 1000           -- entries; a file with twice as many is shortened

-- Returns the path of the file, or nil if no history is kept.
function history.path()
    local path = os.getenv 'MARE_HISTORY'
    if path then return path ~= 'off' and path ~= '' and path or nil end
    local state, home = os.getenv 'XDG_STATE_HOME', os.getenv 'HOME'
    if state and state ~= '' then return state .. '/mare/history' end
    return home and home .. '/.local/state/mare/history'
end

local function encode(text)
    return (text:gsub('\\', '\\\\'):gsub('\n', '\\n'))
end

local function decode(line)
    return (line:gsub('\\(.)', function(c) return c == 'n' and '\n' or c end))
end

local function rewrite(path, entries)
    local temporary = files.temporary(path)
    files.hide(temporary.name)
    for _, entry in ipairs(entries) do temporary:append(encode(entry) .. '\n') end
    temporary:commit()
end

-- Returns the entries, oldest first; none if there is no file.
function history.load(path)
    local file, entries = path and files.ordinary(path), {}
    if not file then return entries end
    for line in file:lines() do entries[#entries + 1] = decode(line) end
    file:close()
    local last = {}
    for k = math.max(1, #entries - kept + 1), #entries do last[#last + 1] = entries[k] end
    if #entries > 2 * kept then pcall(rewrite, path, last) end
    return last
end

-- Appends an entry. If the file cannot be written, the entry is dropped
-- silently.
function history.add(path, text)
    if not path then return end
    if not posix.status(path) then
        files.make_folders(path)
        files.hide(path)
    end
    local file = io.open(path, 'a')
    if not file then return end
    file:write(encode(text), '\n')
    file:close()
end

return history
