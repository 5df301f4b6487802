-- A session on several ranks: rank 0 reads the lines that all take.

local fails = require 'tests.fails'
local launch = require 'tests.ranks.launch'
local trial = require 'tests.scenarios.trial'

local launcher
launch.each(function(found) launcher = found end)

-- Returns the exit status and what a session on so many ranks says to lines.
local function said(count, lines, settings)
    local command = launch.command(launcher, count, '', '', settings):gsub("%-e '' ", '')
    if count == 1 then command = command:match "-n 1 (.*)" end
    return trial.status_of(("printf '%%s\\n' %s | %s"):format(launch.quote(lines), command))
end

describe('a session on ranks', function()
    if not launcher then return pending 'no launcher of MPI is here' end

    it('takes all lines on all of them, prints once, and shares simulations', function()
        local lines = ("sim = mare.simulation 'kelvin_helmholtz' { nx = 48, ny = 40, "
            .. "device = '%s' }\nsim:step(7)\nsim:field 'p'\nfor k = 1, 2 do\nprint('row', k)\nend"
            .. '\nmare.ranks.gather(mare.ranks.rank)\n'):format(trial.device)
        local status, text = said(3, lines)
        assert.equal(0, status, text)
        fails.says(text, 'on 3 ranks', '{ 0, 1, 2 }')
        assert.equal(2, select(2, text:gsub('row', '')), text)
        local _, alone = said(1, lines)
        local shown = '(p %(pressure%).-)\n>'
        assert.truthy(alone:match(shown))
        assert.equal(alone:match(shown), text:match(shown))
    end)

    it('goes on after a line that fails on all, and ends where one alone fails', function()
        local status, text = said(2, "error 'alike'\nmare.ranks.send(0, 1)\nprint 'on'")
        launch.failed(launcher, status, text)
        assert.equal(1, select(2, text:gsub('alike', '')), text)
        fails.says(text, 'on\n')
        status, text = said(2, "if mare.ranks.rank == 1 then error 'lone' end\nprint 'never'")
        launch.failed(launcher, status, text)
        fails.says(text, 'rank 1 alone', 'lone', 'all end')
        assert.is_nil(text:find('\nnever', 1, true))
        status, text = said(2, "if mare.ranks.rank == 1 then error 'lone' end mare.ranks.barrier()",
            'MARE_RANK_TIMEOUT=1')
        launch.failed(launcher, status, text)
        fails.says(text, 'lone', 'within 1 s')
    end)
end)
