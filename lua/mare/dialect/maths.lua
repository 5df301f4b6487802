-- Functions of expressions: sqrt, fma, lt, where, ... of words.lua. Given values of a tree they
-- make it grow; given numbers they compute, so that one function of Lua is a kernel and can be
-- held against itself.

local cells = require 'mare.dialect.cells'
local nodes = require 'mare.dialect.nodes'
local words = require 'mare.dialect.words'

local maths = {}

local function function_of(word)
    return function(a, b, c)
        if nodes.is(a) or nodes.is(b) or nodes.is(c) then return nodes.apply(word, a, b, c) end
        return word.plain(a, b, c)
    end
end

for name, word in pairs(words) do
    if type(word) == 'table' and name:find '^%a' then maths[name] = function_of(word) end
end

-- One of two values, or one of two whole cells, by a truth.
local choose = maths.where
function maths.where(condition, yes, no)
    if cells.is(yes) then return cells.chosen(condition, yes, no) end
    return choose(condition, yes, no)
end

return maths
