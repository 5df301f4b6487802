-- worker_entry.lua - what a thread of mare.worker runs: the function that it is told of first, with
-- a channel of values.

local literal = require 'mare.base.literal'

local Channel = {}
Channel.__index = Channel

function Channel:send(value) return self.texts:send(literal.encode(value)) end

function Channel:receive()
    local text = self.texts:receive()
    if text then return literal.decode(text) end
    return nil
end

-- Whether receive() would return at once.
function Channel:ready() return self.texts:ready() end

return function(texts)
    local run = assert(loadstring(texts:receive(), '=worker'))
    run(setmetatable({ texts = texts }, Channel))
end
