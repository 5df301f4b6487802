-- read.lua - read(path): all that is in a script, which may come through a pipe (/dev/stdin,
-- <(...)); nil and a reason if it cannot be read. files.read reads data, from ordinary files only.

local most = 2 ^ 26         -- bytes: /dev/zero has no end
local piece = 2 ^ 16        -- Lua keeps a buffer of this size for long

local function read_all(file)
    local list, size = {}, 0
    while size < most do
        local text, why = file:read(piece)
        if why then return nil, why end
        if not text then return table.concat(list) end
        list[#list + 1], size = text, size + #text
    end
    return nil, 'is too long for a script'
end

return function(path)
    local file, reason = io.open(path, 'rb')
    if not file then return nil, reason end
    local text, why = read_all(file)
    file:close()
    return text, why and path .. ': ' .. why
end
