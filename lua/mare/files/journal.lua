-- The journal of a run (option --json-log): one JSON object on each line, which
-- begins with `event` and `time` (UTC). Every line is flushed before the run
-- goes on. An existing file is continued, so a run that was stopped and
-- restarted has one journal. If the journal cannot be written, the run warns
-- and continues without it.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local files = require 'bindings.files'
local json = require 'dkjson'

local journal = {}

local Journal = {}
Journal.__index = Journal

-- Opens the file for appending. If an earlier process died in the middle of a
-- line, that line is ended first.
local function open(path)
    local file, reason = io.open(path, 'a')
    if not file then errors.usage('option --json-log: %s', reason) end
    local before = files.ordinary(path)
    if before and before:seek('end', -1) and before:read(1) ~= '\n' then file:write '\n' end
    if before then before:close() end
    return file
end

-- The kinds of events that it writes, and what it leaves out of them.
local written = { start = true, warning = true, progress = true, output = true, checkpoint = true,
    failure = true, ['end'] = true }
local left_out = { kind = true, run = true, quiet = true }

-- Listens to the events of a run, and to those of none. Without a path it does
-- nothing.
function journal.open(path, run)
    local self = setmetatable({ path = path, file = path and open(path) }, Journal)
    self.stop = path and events.listen { hear = function(event)
        local is_ours = event.run == nil or event.run == run
        if is_ours and written[event.kind] then self:write(event) end
    end }
    return self
end

local order = { keyorder = { 'event', 'time' } }

-- Writes one line; NaN and infinity become null.
function Journal:write(event)
    if not self.file then return end
    local line = { event = event.kind, time = os.date '!%Y-%m-%dT%H:%M:%SZ' }
    for key, value in pairs(event) do
        local is_for_people = key == 'message' and event.kind ~= 'warning'
        if not (left_out[key] or is_for_people) then line[key] = value end
    end
    local ok, reason = self.file:write(json.encode(line, order), '\n')
    if ok then ok, reason = self.file:flush() end
    if not ok then
        self:close()
        events.warn('no more log in %s: %s', self.path, reason)
    end
end

function Journal:close()
    if self.stop then self.stop() end
    if self.file then self.file:close() end
    self.file, self.stop = nil, nil
end

-- Returns the fields of the event `start`, which hold everything that the run
-- depends on. desc: as for run.new. found: the checkpoint that the run continues
-- from, or nil. common, options: the attributes and options that the output
-- files hold.
function journal.start(desc, found, common, options)
    local g, parameters = desc.grid, {}
    for name, value in pairs(common) do
        if name ~= 'scenario_text' and name ~= 'arguments' then parameters[name] = value end
    end
    return {
        version = device.version, commit = device.commit,
        title = desc.title, parameters = parameters, options = options,
        grid = { nx = g.nx, ny = g.ny, x = g.x, y = g.y },
        restart = found and { path = found.path, t = found.header.t, step = found.header.steps },
    }
end

return journal
