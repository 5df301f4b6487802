-- The thread in which a rank writes its shares of checkpoints: it gets { path, data = an address,
-- size }, and answers { crc } or { failure }.

local literal = require 'mare.base.literal'
local shares = require 'mare.files.shares'
local worker = require 'bindings.worker'

return function(channel)
    for text in channel.receive, channel do
        local m = literal.decode(text)
        local ok, result = pcall(shares.write, m.path, worker.pointer('char', m.data), m.size)
        channel:send(literal.encode { crc = ok and result or nil,
            failure = not ok and tostring(result) or nil })
    end
end
