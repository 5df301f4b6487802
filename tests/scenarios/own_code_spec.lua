-- Runs the page scenarios/OWN_CODE.md: its library of C is compiled, its Lua is one script.

local device = require 'bindings.device'
local files = require 'bindings.files'
local home = require 'bindings.home'
local trial = require 'tests.scenarios.trial'

local function blocks(page, language)
    local found = {}
    for text in page:gmatch('```' .. language .. '\n(.-)```') do found[#found + 1] = text end
    return table.concat(found, '\n')
end

describe('the page of your own code', function()
    it('does what it says', function()
        if not files.program 'cc' then return pending 'no compiler of C' end
        if not device.open().info.runs_kernels then return pending 'no device runs kernels' end
        local folder, page = trial.new_folder(), files.read(home.root .. '/scenarios/OWN_CODE.md')
        trial.spit(folder .. '/shore.c', blocks(page, 'c'))
        trial.spit(folder .. '/script.lua', blocks(page, 'lua'))
        local build = page:match '/%* shore%.c: (cc [^*]-) %*/'
        local pipe = io.popen(("cd '%s' && %s && '%s' script.lua 2>&1"):format(folder, build,
            home.launcher))
        local lines = {}
        for line in pipe:lines() do lines[#lines + 1] = line end
        pipe:close()
        trial.remove(folder)
        local said = table.concat(lines, '\n')
        assert.equal(4, #lines, said)
        local greatest, tenth = lines[1]:match '^(%S+)%s+(%S+)$'
        assert.near(2 * (10 + 5 * 0.9993), tonumber(greatest), 0.05)
        assert.near(2 * (10 + 5 * 0.55), tonumber(tenth), 0.1)
        assert.near(0.0693, tonumber(lines[3]), 0.001)
        assert.equal('200\t100', lines[4])
    end)
end)
