-- Chooses names for the text of the dialect: a name of Lua stays if it is free, and gets
-- a number behind it if not. Each function has a set of taken names, so that no name
-- hides another.

local operations = require 'mare.dialect.operations'
local reserved = require 'mare.dialect.reserved'
local tables = require 'bindings.tables'

local names = {}

-- CUDA C and OpenCL C have types and functions of these names; only members of structs may
-- have them too.
local known = tables.merged(reserved, operations)
for name in ([[image1d_t image2d_t int2 int3 int4 long2 uint2 uint4 abs max min clamp mix step sign
    dot cross length distance normalize select any all main]]):gmatch '[%w_]+' do
    known[name] = true
end

-- Returns a set of taken names; those of the outer set are taken in it too.
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
