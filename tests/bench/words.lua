-- Words of a benchmark's command line; what is wrong with one is said before anything is measured.

local errors = require 'bindings.errors'

local words = {}

-- A whole number from 1; `default` if the word is missing.
function words.count(title, word, default)
    local number = tonumber(word or default)
    if not (number and number >= 1 and number < 2 ^ 31 and number % 1 == 0) then
        errors.usage("%s: '%s' (allowed: a whole number from 1)", title, word)
    end
    return number
end

-- One of a list.
function words.choice(title, word, list)
    for _, name in ipairs(list) do
        if word == name then return name end
    end
    if not word then errors.usage('%s is missing (%s)', title, table.concat(list, ', ')) end
    errors.usage("%s: '%s' (allowed: %s)", title, word, table.concat(list, ', '))
end

return words
