-- Lists of numbers that options take, such as 0.1,0.2: the whole text, and each of them finite.

local errors = require 'bindings.errors'

-- The texts between commas and blanks; of an array that a script gives, its values.
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

-- name: of the option; value: as it was given; count: how many there must be, nil: one or more;
-- range: { least, most } of each, whole ones alone where range.whole, none twice where range.once;
-- nil: any.
-- Returns a new array; refuses anything else.
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
