-- Joins the words of a command line into one line that a shell splits into the
-- same words. Option names stay outside the quotes: rerun.lua looks for them.

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
