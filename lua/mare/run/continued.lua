-- continued.lua - what a run's files have to do with each other and with checkpoints: that no two
-- are one and no other run writes them, whose part files are kept, where a run that goes on from a
-- checkpoint finds them, and what is lost where there is none. `list` is
-- of outputs { spec = { path }, film = true for a film, last = time of the last record, position,
-- is_complete }.

local bit = require 'bit'
local checkpoint = require 'mare.files.checkpoint'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local film = require 'mare.draw.film'
local formats = require 'mare.files.formats'
local options = require 'mare.base.options'
local paths = require 'mare.base.paths'

local continued = {}

-- Returns the name of a new run, which no other run has.
function continued.new_id()
    local source = files.open('/dev/urandom', 'rb')
    local bytes = files.exactly(source, 8, '/dev/urandom')
    local id = bytes:gsub('.', function(c) return bit.tohex(c:byte(), 2) end)
    source:close()
    return id
end

-- Returns the owner in the names of part files that a later run may go on from; nil without
-- checkpoints.
function continued.owner(desc, run_id)
    local path = desc.options.checkpoint
    return path and run_id .. '-' .. checkpoint.mark(path) or nil
end

local function check_position(output, position)
    local module = output.film and film or formats.of(output.spec.path)
    local fault = module.fault(position)
    if fault then errors.usage('%s: the checkpoint is damaged: %s', output.spec.path, fault) end
end

-- Takes what a checkpoint knows of the files of the run that goes on. earlier: `outputs` of its
-- header, nil for a new run
function continued.recall(list, earlier)
    local known = {}
    for _, output in ipairs(earlier or {}) do
        if output.position then known[output.position.path] = output end
    end
    for _, output in ipairs(list) do
        local before = known[output.spec.path] or {}
        if before.position then check_position(output, before.position) end
        output.last, output.position = before.last, before.position
    end
end

-- Refuses two outputs in one file, which would hold the last one only. group: of the options that
-- name files
function continued.check_paths(desc, group)
    local o = desc.options
    local list = {}
    for _, option in ipairs(options.declared { group }) do
        local path = option.writes and o[option.key]
        if path then list[#list + 1] = { 'option --' .. option.name, path } end
    end
    if desc.series and not o.series then
        list[#list + 1] = { 'series of the script', desc.series.path }
    end
    for k = 1, o.checkpoint and options.value(o, 'keep') - 1 or 0 do
        list[#list + 1] = { 'an older checkpoint',
            checkpoint.name(files.follow(o.checkpoint), k) }
    end
    for k, wanted in ipairs(desc.outputs or {}) do
        list[#list + 1] = { 'output ' .. k .. ' of the script', wanted.path }
    end
    paths.distinct(list)
end

-- Refuses files that another run is writing: the last would win, and checkpoints would be mixed.
function continued.check_writers(desc, list)
    local written = { desc.options.checkpoint }
    for _, output in ipairs(list) do written[#written + 1] = output.spec.path end
    for _, path in ipairs(written) do
        local name = files.writer(path)
        if name then errors.usage('%s: another run is writing it (%s)', path, name) end
    end
end

-- Says what a run that failed without a checkpoint has lost: all. path: of another file that does
-- not come to be, or nil
function continued.tell_lost(list, told, path)
    local lost = {}
    for _, output in ipairs(list) do
        if output.last and not (output.position or output.is_complete) then
            lost[#lost + 1] = output.spec.path
        end
    end
    lost[#lost + 1] = path
    if not lost[1] then return end
    told:tell('note', { quiet = false, message = 'discarded what was written of '
        .. table.concat(lost, ', ')
        .. '; a checkpoint would have kept it, see --checkpoint and --checkpoint-every' })
end

return continued
