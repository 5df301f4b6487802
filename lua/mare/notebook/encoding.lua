-- encoding.lua - JSON as the contents of messages want it, where an empty table has to be
-- an object or an array.

local dkjson = require 'dkjson'
local json = require 'mare.base.json'

local encoding = { encode = json.encode, decode = json.decode, null = dkjson.null }

-- Returns the table, which is encoded as an object even if it is empty.
function encoding.object(table)
    return setmetatable(table or {}, { __jsontype = 'object' })
end

-- Returns the table, which is encoded as an array even if it is empty.
function encoding.array(table)
    return setmetatable(table or {}, { __jsontype = 'array' })
end

return encoding
