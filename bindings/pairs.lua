-- pairs.lua - keeps next() out of compiled code where LuaJIT compiles it wrongly: on x64, one
-- of before April 2022, as the system's of Debian 12 is, may swap the lower halves of the two
-- results of its lj_vm_next, and the rare program that meets this dies of a lost address (LuaJIT's
-- issue 829). There pairs() and next() are of this file, which every Lua state loads first.

local jit = require 'jit'
local pairs, next = pairs, next

local is_wrong = jit.arch == 'x64' and jit.version == 'LuaJIT 2.1.0-beta3'
local M = { is_interpreted = is_wrong }
if not is_wrong then return M end

local function interpreted(t, key)
    if type(t) ~= 'table' then
        error(("bad argument #1 to 'next' (table expected, got %s)"):format(type(t)), 2)
    end
    return next(t, key)
end
jit.off(interpreted)

_G.next = interpreted

function _G.pairs(t)
    local f, state, first = pairs(t)
    return f == next and interpreted or f, state, first
end

return M
