-- Warns of an initial state in which no signal moves: dt follows from the fastest one, whatever a
-- source or a side does to the state afterwards. now: of sim:read(); dt: where it is fixed

local events = require 'mare.base.events'
local here = require 'mare.ranks.here'

return function(now, dt)
    if now.rate ~= 0 or dt or here.rank > 0 then return end
    events.warn('no signal moves in the initial state, so that a single step goes as far as the '
        .. 'run or its next output: --dt sets it')
end
