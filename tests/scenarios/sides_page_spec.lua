-- Runs the commands of lua/mare/ocean/SIDES.md.

local home = require 'bindings.home'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

describe('the page of sides', function()
    local page = trial.slurp(home.root .. '/lua/mare/ocean/SIDES.md')
    local commands = {}
    for command in page:gmatch '\n    build/mare ([^\n]+)' do
        commands[#commands + 1] = command
    end
    for _, command in ipairs(sample(commands, 2)) do
        it('runs mare ' .. command, function()
            local pipe = io.popen(("'%s' %s --image none --device %s 2>&1; echo status $?"):format(
                home.launcher, command, trial.device))
            local said = pipe:read '*a'
            pipe:close()
            assert.matches('status 0\n$', said)
            assert.matches(command:match '%-%-scheme (%S+)', said)
        end)
    end
end)
