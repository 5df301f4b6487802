-- Names in the text of the dialect: those of Lua where they are free, otherwise with
-- a number behind them. Each function has its own, so that nothing is shadowed.

local operations = require 'mare.dialect.operations'
local reserved = require 'mare.dialect.reserved'
local tables = require 'bindings.tables'

local names = {}

-- Types and functions of both languages, which only members of structs may be called.
local known = tables.merged(reserved, operations)
for name in ([[image1d_t image2d_t int2 int3 int4 long2 uint2 uint4 abs max min clamp mix step sign
    dot cross length distance normalize select any all main]]):gmatch '[%w_]+' do
    known[name] = true
end

-- Makes a set of names; those of the outer one are taken too.
function names.new(outer)
    return setmetatable({}, { __index = outer or known })
end

-- Returns a free name, and takes it.
function names.take(taken, wanted)
    if wanted:find '^mr_' or wanted:find '^MR_' or wanted:find '^__' then wanted = 'v' .. wanted end
    local name, k = wanted, 1
    while taken[name] do
        k = k + 1
        name = wanted .. '_' .. k
    end
    taken[name] = true
    return name
end

return names
