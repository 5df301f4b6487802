-- read.lua - read(path): all that is in a file; nil and a reason if it cannot be read. It is
-- files.read, on its own for what wants no more of files.lua.

return function(path)
    local file, reason = io.open(path, 'rb')
    if not file then return nil, reason end
    local text, why = file:read '*a'
    file:close()
    return text, why and path .. ': ' .. why
end
