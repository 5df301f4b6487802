-- The journal of a run (option --json-log): one JSON object on each line, which
-- begins with `event` and `time` (UTC). Every line is flushed before the run
-- goes on. An existing file is continued, so a run that was stopped and
-- restarted has one journal. If the journal cannot be written, the run warns
-- and continues without it.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local json = require 'dkjson'

local journal = {}

local Journal = {}
Journal.__index = Journal

-- Opens the file for appending. If an earlier process died in the middle of a
-- line, that line is ended first.
local function open(path)
    local file, reason = io.open(path, 'a')
    if not file then errors.usage('option --json-log: %s', reason) end
    local before = io.open(path, 'rb')
    if before and before:seek('end', -1) and before:read(1) ~= '\n' then file:write '\n' end
    if before then before:close() end
    return file
end

-- Without a path, returns a journal that writes nothing.
function journal.open(path)
    return setmetatable({ path = path, file = path and open(path) }, Journal)
end

local order = { keyorder = { 'event', 'time' } }

-- Writes one line. fields: plain values by name; NaN and infinity become null.
function Journal:write(event, fields)
    if not self.file then return end
    local line = { event = event, time = os.date '!%Y-%m-%dT%H:%M:%SZ' }
    for key, value in pairs(fields) do line[key] = value end
    local ok, reason = self.file:write(json.encode(line, order), '\n')
    if ok then ok, reason = self.file:flush() end
    if not ok then
        self:close()
        io.stderr:write('mare: warning: no more log in ', self.path, ': ', reason, '\n')
    end
end

function Journal:close()
    if self.file then self.file:close() end
    self.file = nil
end

-- Writes the first line, which holds everything that the run depends on. desc:
-- as for run.new. found: the checkpoint that the run continues from, or nil.
-- common, options: the attributes and options that the output files hold.
function Journal:start(desc, found, common, options)
    local g, parameters = desc.grid, {}
    for name, value in pairs(common) do
        if name ~= 'scenario_text' and name ~= 'arguments' then parameters[name] = value end
    end
    self:write('start', {
        version = device.version, title = desc.title, parameters = parameters, options = options,
        grid = { nx = g.nx, ny = g.ny, x = g.x, y = g.y },
        restart = found and { path = found.path, t = found.header.t, step = found.header.steps },
    })
end

return journal
