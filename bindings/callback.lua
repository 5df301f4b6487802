-- callback.lua - callback(type, f): a function of C, of that type, that calls f. Its :free() gives
-- it back. f must not raise.

local ffi = require 'ffi'

-- LuaJIT says "too many callbacks", also where it gets no memory for the code of the first one.
return function(type, f)
    local ok, made = pcall(ffi.cast, type, f)
    if ok then return made end
    if not tostring(made):find 'callbacks' then error(made, 2) end
    error('out of memory for a function that C calls', 0)
end
