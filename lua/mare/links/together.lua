-- together(list, count): runs launches, or plans so many times each in turn, of devices that wait
-- for each other. None of them may be kept from its device by what the host does for another, such
-- as giving memory back, which waits for devices: no garbage is collected meanwhile, and what
-- interrupts a script does so before or after all of them.

local home = require 'bindings.home'

local function run(list, count)
    for _ = 1, count or 1 do
        for k = 1, #list do list[k]:run() end
    end
end

return function(list, count)
    if #list == 1 then return run(list, count) end
    local held = home.hold(true)
    collectgarbage 'stop'
    local ok, failure = pcall(run, list, count)
    collectgarbage 'restart'
    home.hold(held)
    if not ok then error(failure, 0) end
end
