-- The thread that writes: it owns the output files of a run, does what it is told in order, and
-- answers each request. Data come as addresses of host memory that a device fills; the events to
-- wait for come with them. What fails is answered, never raised, and the other files go on.
-- A file is a film where its description has a rate, else its name says the format.

local checkpoint = require 'mare.files.checkpoint'
local event = require 'bindings.event'
local film = require 'mare.draw.film'
local formats = require 'mare.files.formats'
local literal = require 'mare.base.literal'
local system = require 'bindings.system'
local worker = require 'bindings.worker'

local writers, paths, sealed = {}, {}, nil
local handlers = {}

function handlers.open(m)
    local module = m.spec.rate and film or formats.of(m.spec.path)
    local open = m.position and module.resume or module.writer
    for _, v in ipairs(m.spec.statics or {}) do v.data = worker.pointer(v.type, v.address) end
    writers[m.id] = open(m.spec, m.position)
    paths[#paths + 1] = m.spec.path
end

-- Writes a record. m.data: the address of each variable
function handlers.write(m)
    for _, address in ipairs(m.events) do event.wait_at(address) end
    writers[m.id]:write(m.t, function(name, type)
        return worker.pointer(type or m.type, m.data[name])
    end, m.range)
end

-- Notes where all files stand, for a checkpoint that is written later.
function handlers.seal()
    sealed = {}
    for id, writer in pairs(writers) do sealed[id] = writer:seal() end
end

-- Writes a checkpoint. m.header.outputs[k].position is filled in here, where the files are.
function handlers.checkpoint(m)
    for id, output in ipairs(m.header.outputs) do
        output.position = sealed and sealed[id] or writers[id]:seal()
    end
    sealed = nil
    checkpoint.write(m.path, m.keep, m.header, worker.pointer('char', m.data), m.size)
    for _, writer in pairs(writers) do writer:keep() end
    pcall(checkpoint.sweep, m.path, paths)      -- no checkpoint is lost for litter of others
    pcall(checkpoint.sweep_shares, m.path)
end

function handlers.close(m)
    writers[m.id]:close()
end

local function answer(m)
    local began = system.now()
    local ok, failure = pcall(handlers[m.kind], m)
    return literal.encode { kind = m.kind, id = m.id, slot = m.slot,
        began = began, ended = system.now(), failure = not ok and tostring(failure) or nil }
end

return function(channel)
    for text in channel.receive, channel do channel:send(answer(literal.decode(text))) end
    for _, writer in pairs(writers) do writer:abort() end
end
