-- Counts that processes of one machine share.

local home = require 'bindings.home'
local tally = require 'bindings.tally'

-- Adds one in another process, which ends. Returns the count that it saw.
local function add_elsewhere(made)
    local code = ("local tally = require 'bindings.tally' print(tally.add(tally.open { path = %q, "
        .. 'name = %q }))'):format(made.path, made.name)
    local pipe = io.popen(("'%s' -e '%s'"):format(home.launcher, code:gsub("'", "'\\''")))
    local text = pipe:read '*l'
    pipe:close()
    return tonumber(text)
end

describe('a tally', function()
    it('tells each process how many came before it, also those that have ended', function()
        local made, close = tally.new()
        local here = assert(tally.open(made))
        assert.equal(1, add_elsewhere(made))
        assert.equal(2, tally.add(here))
        assert.equal(3, add_elsewhere(made))
        close()
        assert.equal(4, tally.add(here))
        assert.is_nil(tally.open(made))
    end)

    it('is not taken for another file that has its number', function()
        local made, close = tally.new()
        made.name = 'mare 1 0.5'
        assert.is_nil(tally.open(made))
        assert.is_nil(tally.open { path = '/nonexistent', name = made.name })
        close()
    end)
end)
