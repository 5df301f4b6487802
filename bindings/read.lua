-- read.lua - read(path): all that is in a script, which may come through a pipe (/dev/stdin,
-- <(...)); nil and a reason if it cannot be read. files.read reads data, from ordinary files only.

local most = 2 ^ 26         -- bytes: /dev/zero has no end

return function(path)
    local file, reason = io.open(path, 'rb')
    if not file then return nil, reason end
    local text, why = file:read(most)
    file:close()
    if text and #text == most then text, why = nil, 'is too long for a script' end
    return text or not why and '' or nil, why and path .. ': ' .. why
end
