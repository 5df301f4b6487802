-- Runs the commands of scenarios/RANKS.md, in one folder, one after the other.

local fails = require 'tests.fails'
local files = require 'bindings.files'
local home = require 'bindings.home'
local launch = require 'tests.ranks.launch'
local sample = require 'tests.sample'
local trial = require 'tests.scenarios.trial'

local page = files.read(home.root .. '/scenarios/RANKS.md'):gsub('\\\n%s*', '')

local function shell(folder, command)
    local pipe = io.popen(("cd '%s' && %s 2>&1; echo \"status $?\""):format(folder, command))
    local text = pipe:read '*a'
    pipe:close()
    return text, launch.status(text)
end

-- Returns a command as it is run here.
local function command_of(launcher, line)
    local count, words = line:match '^mpirun %-n (%d+) build/mare (.*)'
    local takes_options = not (words or line):find 'doctor' and not (words or line):find 'info'
        and not (words or line):find 'pi.lua'
    local device = takes_options and ' --device ' .. trial.device or ''
    if not count then return (line:gsub('^build/mare', launch.mare)) .. device end
    return launch.command(launcher, count, ''):gsub("%-e '' $", words .. device)
end

local launchers = {}
launch.each(function(launcher) launchers[#launchers + 1] = launcher end)

for _, launcher in ipairs(sample(launchers, 1)) do
    it('the page of ranks is right under ' .. launcher, function()
        local folder, said = os.tmpname(), {}
        os.remove(folder)
        shell('/', "mkdir '" .. folder .. "'")
        local program = io.open(folder .. '/pi.lua', 'w')
        program:write(page:match '```lua\n(.-)```')
        program:close()
        for line in page:gmatch '\n    ([^\n]+)' do
            if line:find 'build/mare' then
                local text, status = shell(folder, command_of(launcher, line))
                assert.equal(0, status, line .. '\n' .. text)
                said[#said + 1] = text
            end
        end
        assert.equal(7, #said)
        fails.says(said[2], '2 ranks', 'from rank to rank', '0-1')
        fails.says(said[7], 'pi is about 3.14159265')
        local one = trial.data_of(folder .. '/one.nc')
        trial.same_data(one, folder .. '/two.nc')
        trial.same_data(one, folder .. '/more.nc')
        shell('/', "rm -r '" .. folder .. "'")
    end)
end
