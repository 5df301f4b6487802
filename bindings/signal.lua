-- signal.lua - looks whether Ctrl-C came, for launches, waits and downloads: LuaJIT compiles
-- loops of them to code that tests no hooks (see main.c). `if signal.came[0] ~= 0 then
-- signal.heed() end` leaves that code, and the interpreter does what is to be done.

local ffi = require 'ffi'
local host = require 'bindings.host'

local M = {}

-- Of a host without signals: never.
M.came = host.signal and ffi.cast('volatile int *', host.signal) or ffi.new 'int[1]'

function M.heed() end

return M
