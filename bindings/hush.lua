-- hush.lua - makes this process one for which another speaks: what it prints, and the files that it
-- would put in their places, come to nothing. It goes on to do all that leads there, because others
-- wait for its share.

local part_file = require 'bindings.part_file'

return function()
    function print() end                            -- luacheck: ignore 121
    function io.write() return io.stdout end        -- luacheck: ignore 122
    part_file.hush()
end
