-- json.lua - JSON from files that anybody may have written: what is no JSON, or
-- deeper than Lua can go, is a problem in words and never an error.

local dkjson = require 'dkjson'

local json = { encode = dkjson.encode, quotestring = dkjson.quotestring }

-- Returns the value and the position after it; or nil, nil and the problem.
function json.decode(text, at)
    if type(text) ~= 'string' then return nil, nil, 'is no text' end
    local ok, value, after, problem = pcall(dkjson.decode, text, at)
    if not ok then return nil, nil, 'is too deep' end
    return value, after, problem
end

-- Returns the array of texts that a JSON list holds; nil if it is something
-- else.
function json.texts(text)
    local list = json.decode(text)
    if type(list) ~= 'table' then return nil end
    for _, one in ipairs(list) do
        if type(one) ~= 'string' then return nil end
    end
    return list
end

return json
