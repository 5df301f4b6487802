-- examples.lua - examples() lists, prints and runs the steps of
-- scenarios/TUTORIAL.md in a session. The tests run them too.

local host = require 'bindings.host'
local screen = require 'mare.draw.screen'

local examples = {}

local path = host.root .. '/scenarios/TUTORIAL.md'

-- Returns the steps as { title, text, code = { snippets } }: a step is what
-- stands under a heading of the second level.
function examples.steps()
    local steps, step, code = {}, nil, nil
    for line in io.lines(path) do
        local title = line:match '^## (.*)'
        if title then
            step = { title = title, text = {}, code = {} }
            steps[#steps + 1] = step
        elseif code and line == '```' then
            step.code[#step.code + 1] = table.concat(code, '\n')
            code = nil
        elseif code then
            code[#code + 1] = line
        elseif line == '```lua' and step then
            code = {}
        end
        if step and not title then step.text[#step.text + 1] = line end
    end
    return steps
end

local function list(steps)
    local lines = { 'examples(n) shows and runs step n of scenarios/TUTORIAL.md:' }
    for _, step in ipairs(steps) do lines[#lines + 1] = '  ' .. step.title end
    local names, scenario = {}, require 'mare.run.scenario'
    for _, name in ipairs(scenario.names()) do
        if scenario.simulates(name) then names[#names + 1] = name end
    end
    local scenarios = "Scenarios: mare.simulation 'NAME' {}, where NAME is "
        .. table.concat(names, ', ')
    lines[#lines + 1] = screen.wrapped(scenarios, (screen.size()) - 1, 0)
    return table.concat(lines, '\n')
end

-- Returns the function `examples` of a session.
function examples.of_session(session)
    -- examples() lists the steps of the tutorial; examples(n) prints step n and
    -- runs it in this session.
    return function(n)
        local steps = examples.steps()
        if n == nil then
            io.write(list(steps), '\n')
            return
        end
        local step = steps[n]
        if not step then error(('examples: 1 to %d, not %s'):format(#steps, tostring(n)), 0) end
        io.write(screen.paint('1', step.title), '\n')
        for _, code in ipairs(step.code) do
            io.write(screen.paint('36', code), '\n')
            local status = session:run(code, function(text) io.write(text, '\n') end)
            if status == 'error' then return end
        end
    end
end

return examples
