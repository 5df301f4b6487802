-- public.lua - the table `mare` that scripts see, for the rooms below the file that makes it: it
-- runs scenarios, describes and completes what a session types. init.lua registers it here.

local public = { mare = nil }

-- The table; an error where nobody has required 'mare' yet.
function public.table()
    return public.mare or error('the module mare has not been loaded yet', 2)
end

return public
