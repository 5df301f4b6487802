-- Chooses names for the text of the dialect: a name of Lua stays if it is free, and gets
-- a number behind it if not. Each function has a set of taken names, so that no name
-- hides another.

local occupied = require 'mare.dialect.occupied'

local names = {}

-- Returns a set of taken names; those of the outer set are taken in it too.
function names.new(outer)
    return setmetatable({}, { __index = outer or occupied.names })
end

-- Returns a free name, and takes it.
function names.take(taken, wanted)
    if occupied.has_family(wanted) then wanted = 'v' .. wanted end
    local name, k = wanted, 1
    while taken[name] do
        k = k + 1
        name = wanted .. '_' .. k
    end
    taken[name] = true
    return name
end

return names
