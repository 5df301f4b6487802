-- The operations as functions: sqrt, fma, lt, where, ... Given nodes they return
-- a node; given numbers they compute. One function of Lua is thus both the
-- source of a kernel and a reference to compare the kernel with.

local cells = require 'mare.dialect.cells'
local nodes = require 'mare.dialect.nodes'
local operations = require 'mare.dialect.operations'

local maths = {}

local function function_of(op)
    return function(a, b, c)
        if nodes.is(a) or nodes.is(b) or nodes.is(c) then return nodes.apply(op, a, b, c) end
        if op.operands == 2 then return op.plain(a, b) end      -- math.min counts its arguments
        return op.plain(a, b, c)
    end
end

for name, op in pairs(operations) do
    if type(op) == 'table' and name:find '^%a' then maths[name] = function_of(op) end
end

-- Returns yes where the condition holds, otherwise no. Both may be cells.
local choose = maths.where
function maths.where(condition, yes, no)
    if cells.is(yes) then return cells.chosen(condition, yes, no) end
    return choose(condition, yes, no)
end

return maths
