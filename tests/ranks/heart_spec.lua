-- The thread that sends heartbeats, with the time, the sockets and the channel put in its place.

local beat = require 'bindings.beat'
local literal = require 'mare.base.literal'
local system = require 'bindings.system'

-- Runs the thread until the clock says `seconds`; the rank before sends every 0.01 s, as long as
-- it does. Returns how many beats were sent, and the last text.
local function beats_in(seconds)
    local now, sent, last = 0, 0, nil
    local channel = { fd = 1 }
    function channel.receive() return literal.encode { to = 2, from = 3, limit = 10 } end
    function channel.ready() return now >= seconds end
    local kept = { beat.send, beat.wait, beat.receive, system.now }
    function beat.send(_, text) sent, last = sent + 1, text end
    function beat.wait(most) now = now + math.min(0.01, most) end
    function beat.receive() return 'b' end
    function system.now() return now end
    local ok, failure = pcall(require 'mare.ranks.heart_thread', channel)
    beat.send, beat.wait, beat.receive, system.now = unpack(kept)
    assert(ok, failure)
    return sent, last
end

describe('a rank that hears others', function()
    it('sends a beat every second, whatever comes, and one at the end', function()
        local sent, last = beats_in(5.5)
        assert.equal('e', last)
        assert.equal(6 + 1, sent)
    end)
end)
