-- rivals.lua - many processes that write one file at once: rivals(path, processes, rounds) starts
-- them, each of which writes the file `rounds` times. Returns what they said, which is nothing if
-- none failed. The files are whole where each line is the first one.

local home = require 'bindings.home'

local program = [[
local files = require 'bindings.files'
local path, rounds, line = %q, %d, %q
for _ = 1, rounds do
    local temporary = files.temporary(path)
    for _ = 1, 20 do temporary:append(line) end
    temporary:commit()
    local text = assert(files.read(path))
    if text ~= text:match '^[^\n]*\n':rep(20) then error 'the file is not whole' end
end
]]

return function(path, processes, rounds)
    local script = path .. '.sh'
    local file = assert(io.open(script, 'w'))
    for k = 1, processes do
        local code = path .. '.' .. k .. '.lua'
        local text = assert(io.open(code, 'w'))
        text:write(program:format(path, rounds, ('process %d\n'):format(k)))
        text:close()
        file:write(("'%s' '%s' &\n"):format(home.launcher, code))
    end
    file:write 'wait\n'
    file:close()
    local pipe = io.popen("sh '" .. script .. "' 2>&1")
    local said = pipe:read '*a'
    pipe:close()
    for k = 1, processes do os.remove(path .. '.' .. k .. '.lua') end
    os.remove(script)
    return said
end
