-- Reads the words of a benchmark's command line; wrong ones are refused before
-- anything is measured.

local devices = require 'bindings.device'
local errors = require 'bindings.errors'
local paths = require 'mare.base.paths'

local words = {}

-- Returns a whole number of at least 1, and at most `most` where that is given; `default` if the
-- word is missing.
function words.count(title, word, default, most)
    local number = tonumber(word or default)
    if not (number and number >= 1 and number <= (most or 2 ^ 31 - 1) and number % 1 == 0) then
        errors.usage("%s: '%s' (allowed: a whole number from 1%s)", title, word,
            most and (' to %d'):format(most) or '')
    end
    return number
end

-- Returns seconds, above 0; `default` if the word is missing.
function words.seconds(title, word, default)
    local number = tonumber(word or default)
    if not (number and number > 0 and number < 1e6) then
        errors.usage("%s: '%s' (allowed: seconds, above 0)", title, word)
    end
    return number
end

-- Opens the device of that name, the best if the word is missing.
function words.device(word)
    local ok, found = pcall(devices.open, word)
    if ok then return found end
    errors.usage('%s', errors.is(found) and found.message or tostring(found))
end

-- Returns the path of a picture that can be written, nil for 'none'.
function words.picture(title, word)
    if not word or word == 'none' then return nil end
    local ok, problem = pcall(paths.check_picture, word)
    if not ok then
        errors.usage('%s: %s', title, errors.is(problem) and problem.message or tostring(problem))
    end
    return word
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
