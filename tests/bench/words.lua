-- Reads the words of a benchmark's command line; wrong ones are refused before
-- anything is measured.

local errors = require 'bindings.errors'

local words = {}

-- Returns a whole number of at least 1; `default` if the word is missing.
function words.count(title, word, default)
    local number = tonumber(word or default)
    if not (number and number >= 1 and number < 2 ^ 31 and number % 1 == 0) then
        errors.usage("%s: '%s' (allowed: a whole number from 1)", title, word)
    end
    return number
end

-- Returns the word, which must be in the list.
function words.choice(title, word, list)
    for _, name in ipairs(list) do
        if word == name then return name end
    end
    if not word then errors.usage('%s is missing (%s)', title, table.concat(list, ', ')) end
    errors.usage("%s: '%s' (allowed: %s)", title, word, table.concat(list, ', '))
end

return words
