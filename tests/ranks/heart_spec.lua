-- The thread that sends heartbeats, with the time, the sockets and the channel put in its place.

local beat = require 'bindings.beat'
local literal = require 'mare.base.literal'
local system = require 'bindings.system'

-- Runs the thread until the clock says `seconds`. step: by how much the clock goes on where the
-- thread would wait; heard(): what the rank before has sent. Returns how many beats were sent, the
-- last text, what was said of the rank before, when this process ended, and when that was said.
local function beats_in(seconds, step, heard)
    local now, sent, last, said, ended, told = 0, 0, nil, nil, nil, nil
    local channel = { fd = 1 }
    function channel.receive()
        return literal.encode { to = 2, from = 3, limit = 10, own = 'rank 1', before = 'rank 0' }
    end
    function channel.ready() return ended or now >= seconds end
    local kept = { beat.send, beat.wait, beat.receive, beat.say, beat.die, system.now }
    function beat.send(_, text) sent, last = sent + 1, text end
    function beat.wait(most) now = now + (step or most) end
    function beat.receive() return heard(now) end
    function beat.say(text) said, told = text:match 'rank 0 (.-):', now end
    function beat.die() ended = true end
    function system.now() return now end
    local ok, failure = pcall(require 'mare.ranks.heart_thread', channel)
    beat.send, beat.wait, beat.receive, beat.say, beat.die, system.now = unpack(kept)
    assert(ok, failure)
    return sent, last, said, now, told
end

describe('a rank that hears others', function()
    it('sends a beat every second, whatever comes, and one at the end', function()
        local sent, last = beats_in(5.5, 0.01, function() return 'b' end)
        assert.equal('e', last)
        assert.equal(6 + 1, sent)
    end)

    it('names the one before after 10 s of silence or when it has gone, and ends', function()
        local function after(last)
            local _, _, said, now, told = beats_in(60, nil, function(now)
                return now < 20 and 'b' or last
            end)
            return said, now - 20, told - 20
        end
        local said, seconds, told = after ''
        assert.equal('was silent for 10 s', said)
        assert.is_true(seconds >= 9 and seconds < 11 and told == seconds)
        said, seconds, told = after(nil)
        assert.equal('has gone', said)
        assert.is_true(seconds > 1 and seconds < 4 and told <= 1)
    end)

    it('does not take for silence that it was not let run itself', function()
        local looks = 0
        local _, _, said = beats_in(300, 20, function()
            looks = looks + 1
            return looks % 4 == 0 and 'b' or ''
        end)
        assert.is_nil(said)
        assert.is_true(looks > 10)
    end)
end)
