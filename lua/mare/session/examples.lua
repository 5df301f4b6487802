-- examples.lua - examples() lists, prints and runs the steps of
-- scenarios/TUTORIAL.md in a session. The tests run them too. A step whose
-- comment says that it goes on from others has these run first, silently.

local home = require 'bindings.home'
local folders = require 'bindings.folders'
local screen = require 'mare.draw.screen'

local examples = { folder = 'mare-examples' }

local path = home.root .. '/scenarios/TUTORIAL.md'

-- Returns the numbers in the comment that says from which steps one goes on.
local function numbers_in(line)
    local list = {}
    for n in (line:match '^<!%-%- goes on from (.*) %-%->$' or ''):gmatch '%d+' do
        list[#list + 1] = tonumber(n)
    end
    return list
end

-- Returns the steps as { title, text, code = { snippets }, needs = { numbers }
-- }: a step is what stands under a heading of the second level.
function examples.steps()
    local steps, step, code = {}, nil, nil
    for line in io.lines(path) do
        local title = line:match '^## (.*)'
        if title then
            step = { title = title, text = {}, code = {}, needs = {} }
            steps[#steps + 1] = step
        elseif code and line == '```' then
            step.code[#step.code + 1] = table.concat(code, '\n')
            code = nil
        elseif code then
            code[#code + 1] = line
        elseif line == '```lua' and step then
            code = {}
        elseif step and line:find '^<!%-%-' then
            step.needs = numbers_in(line)
        end
        if step and not title then step.text[#step.text + 1] = line end
    end
    return steps
end

local function list(steps)
    local lines = { 'examples(n) shows and runs step n of scenarios/TUTORIAL.md:' }
    for _, step in ipairs(steps) do lines[#lines + 1] = '  ' .. step.title end
    local names, scenario = {}, require 'mare.live.scenario'
    for _, name in ipairs(scenario.names()) do
        if scenario.simulates(name) then names[#names + 1] = name end
    end
    local scenarios = "Scenarios: mare.simulation 'NAME' {}, where NAME is "
        .. table.concat(names, ', ')
    lines[#lines + 1] = screen.wrapped(scenarios, (screen.size()) - 1, 0)
    return table.concat(lines, '\n')
end

-- Runs the code of a step; show(text) gets what is run and what it prints.
-- Returns whether all of it went well.
local function run(session, step, show)
    for _, code in ipairs(step.code) do
        show(screen.paint('36', code))
        if session:run(code, show) == 'error' then return false end
    end
    return true
end

-- Calls f in the folder of the examples, which keeps their files together.
local function in_folder(f)
    local before, own = folders.current(), examples.folder
    folders.make(own)
    local ok, reason = folders.enter(own)
    if not ok then error('examples: ' .. reason, 0) end
    local good, failure = pcall(f)
    folders.enter(before)
    folders.remove(own)       -- fails where there are files
    if not good then error(failure, 0) end
end

-- Returns the function `examples` of a session.
function examples.of_session(session)
    local done = {}     -- by number, the steps that this session has run

    local function go(steps, n, show)
        for _, before in ipairs(steps[n].needs) do
            if not done[before] then go(steps, before, function() end) end
        end
        done[n] = run(session, steps[n], show)
        if not done[n] then error(('examples: step %d stopped there'):format(n), 0) end
    end

    -- examples() lists the steps of the tutorial; examples(n) prints step n and
    -- runs it in this session, after those that it goes on from. What they write
    -- is in the folder mare-examples.
    return function(n)
        local steps = examples.steps()
        if n == nil then
            io.write(list(steps), '\n')
            return
        end
        local step = steps[n]
        if not step then error(('examples: 1 to %d, not %s'):format(#steps, tostring(n)), 0) end
        io.write(screen.paint('1', step.title), '\n')
        for _, before in ipairs(step.needs) do
            if not done[before] then io.write('(first runs ', steps[before].title, ')\n') end
        end
        in_folder(function() go(steps, n, function(text) io.write(text, '\n') end) end)
    end
end

return examples
