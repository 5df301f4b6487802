-- The words of a command line as one line that a shell reads as the same words. The name of an
-- option stays outside of quotes, which is how rerun.lua finds it.

local words = {}

local function quoted(word)
    if word:find '^[%w_./,:=+@%%-]+$' then return word end
    local name, value = word:match '^(%-%-[%w-]+=)(.*)$'
    return (name or '') .. "'" .. (value or word):gsub("'", "'\\''") .. "'"
end

function words.line(list)
    local texts = {}
    for k, word in ipairs(list) do texts[k] = quoted(word) end
    return table.concat(texts, ' ')
end

return words
