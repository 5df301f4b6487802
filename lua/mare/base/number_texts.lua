-- Texts of numbers that stand in one table, as NumPy prints them: each with as few digits as tell
-- it from its neighbours of the same type, at most 8 behind the point; all with exponents where
-- some are large, small or far apart.

local number_texts = {}

local most = 8      -- digits behind the point

-- Returns the fewest digits behind the first one that give a number. round: to its type
local function digits_of(value, round)
    local digits = 0
    while digits < 16 and round(tonumber(('%%.%de'):format(digits):format(value))) ~= value do
        digits = digits + 1
    end
    return digits
end

-- Replaces finite numbers in a list by their texts without exponents.
local function write_plain(list, finite, round)
    local longest, wholes, fractions = 0, {}, {}
    for k, value in pairs(finite) do
        local exponent = value == 0 and 0 or tonumber(('%.16e'):format(value):match 'e(.*)')
        local digits = math.max(0, digits_of(value, round) - exponent)
        wholes[k], fractions[k] = ('%%.%df'):format(math.min(digits, most)):format(value)
            :match '^(-?%d+)%.?(%d-)0*$'
        longest = math.max(longest, #fractions[k])
    end
    for k, whole in pairs(wholes) do
        list[k] = whole .. '.' .. fractions[k] .. (' '):rep(longest - #fractions[k])
    end
end

local function write_scientific(list, finite, round)
    local longest = 0
    for _, value in pairs(finite) do longest = math.max(longest, digits_of(value, round)) end
    for k, value in pairs(finite) do
        local text = ('%%.%de'):format(math.min(longest, most)):format(value)
        list[k] = longest == 0 and text:gsub('e', '.e') or text
    end
end

-- Returns the texts of a list of numbers, whose points stand below each other where the texts are
-- made equally long by spaces before them. round(x): the nearest number of their type
function number_texts.of(values, round)
    local list, finite, least, greatest = {}, {}, math.huge, 0
    for k, value in ipairs(values) do
        local size = math.abs(value)
        if size < math.huge then finite[k] = value end
        if finite[k] and size > 0 then
            least, greatest = math.min(least, size), math.max(greatest, size)
        end
        list[k] = value ~= value and 'nan' or value > 0 and 'inf' or '-inf'
    end
    local is_wide = greatest >= 1e8 or least < 1e-4 or greatest / least > 1000
    local write = is_wide and write_scientific or write_plain
    write(list, finite, round)
    return list
end

-- Returns texts made equally long by spaces before them.
function number_texts.padded(texts)
    local width, list = 0, {}
    for _, text in ipairs(texts) do width = math.max(width, #text) end
    for k, text in ipairs(texts) do list[k] = (' '):rep(width - #text) .. text end
    return list
end

-- Returns the texts of complex numbers { re, im }; see number_texts.of for the parts.
function number_texts.of_complex(values, round)
    local re, im = {}, {}
    for k, value in ipairs(values) do re[k], im[k] = value.re, value.im end
    re, im = number_texts.padded(number_texts.of(re, round)), number_texts.of(im, round)
    for k, text in ipairs(im) do im[k] = text:find '^-' and text or '+' .. text end
    for k, text in ipairs(number_texts.padded(im)) do
        re[k] = re[k] .. text:gsub('( *)$', 'i%1', 1)
    end
    return re
end

return number_texts
