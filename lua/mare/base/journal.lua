-- The log of a run for programs: one JSON object a line, with `event` and `time` (UTC) first, each
-- line on its way to the disk before the run goes on. A file that is there already is continued, so
-- that a run that was stopped and went on has one log. A log that cannot be written costs a
-- warning, not the run.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local json = require 'dkjson'

local journal = {}

local Journal = {}
Journal.__index = Journal

-- The file to add lines to; a line that a process could not finish ends here.
local function open(path)
    local file, reason = io.open(path, 'a')
    if not file then errors.usage('option --json-log: %s', reason) end
    local before = io.open(path, 'rb')
    if before and before:seek('end', -1) and before:read(1) ~= '\n' then file:write '\n' end
    if before then before:close() end
    return file
end

-- path nil: a journal that writes nothing.
function journal.open(path)
    return setmetatable({ path = path, file = path and open(path) }, Journal)
end

local order = { keyorder = { 'event', 'time' } }

-- fields: plain values; infinite and undefined numbers become null.
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

-- The first line: everything that a run depends on. desc: as for run.new; found: the checkpoint it
-- goes on from, or nil; common, options: what the output files say of it.
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
