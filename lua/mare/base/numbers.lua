-- Reads an option that is a list of numbers, such as 0.1,0.2. The whole text
-- must be valid and every number finite.

local errors = require 'bindings.errors'

-- Splits a text at commas and blanks; turns an array into texts.
local function words_of(value)
    local words = {}
    if type(value) ~= 'table' then
        for word in tostring(value):gmatch '[^,%s]+' do words[#words + 1] = word end
        return words, tostring(value)
    end
    for k, one in ipairs(value) do words[k] = tostring(one) end
    return words, table.concat(words, ',')
end

local function is_within(number, range)
    return number - number == 0 and (not range[1] or number >= range[1] and number <= range[2])
        and (not range.whole or number % 1 == 0)
end

-- Returns the numbers of an option as a new array, or raises a usage error.
-- name: the option's name. value: a text or an array. count: how many numbers
-- there must be; nil allows one or more. range: { least, most } of each number
-- (none: any number); `whole` allows whole numbers only, `once` forbids
-- repetition.
return function(name, value, count, range)
    local words, text = words_of(value)
    local list, seen = {}, {}
    range = range or {}
    for k, word in ipairs(words) do
        local number = tonumber(type(value) == 'table' and value[k] or word)
        local is_one = number and is_within(number, range) and not (range.once and seen[number])
        if not is_one then break end
        list[k], seen[number] = number, true
    end
    if #list ~= #words or #list ~= (count or math.max(#list, 1)) then
        errors.usage("option --%s: '%s' (allowed: %s%snumbers%s%s)", name, text,
            count and count .. ' ' or '', range.whole and 'whole ' or '',
            range[1] and (' from %.14g to %.14g'):format(range[1], range[2]) or '',
            range.once and ', each once' or '')
    end
    return list
end
