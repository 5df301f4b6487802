-- public.lua - gives the lower rooms the table `mare` that scripts see. The
-- rooms need it to run scenarios, and to describe and complete what is typed in
-- a session. init.lua, which makes the table, registers it here.

local public = { mare = nil }

-- Returns the table; raises an error if 'mare' has not been required yet.
function public.table()
    return public.mare or error('the module mare has not been loaded yet', 2)
end

return public
