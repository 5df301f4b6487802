-- Texts of real numbers that stand in one table, as NumPy prints them: with as many digits behind
-- the point as the one that needs most, or with exponents.

local number_texts = {}

local function significant(value)
    for digits = 1, 8 do
        local text = ('%%.%dg'):format(digits):format(value)
        if tonumber(text) == value or digits == 8 then return text end
    end
end

-- Returns how many digits these numbers need behind the point, at most 8, or nil if they are
-- printed with exponents.
local function decimals(values)
    local least, greatest, digits = math.huge, 0, 0
    for _, value in ipairs(values) do
        local size = math.abs(value)
        if size - size == 0 then
            if size > 0 then least = math.min(least, size) end
            greatest = math.max(greatest, size)
            local text = significant(value)
            local fraction = text:match '%.(%d*)$' or ''
            if text:find 'e' then fraction = ('%.8f'):format(value):match '%.(%d-)0*$' end
            digits = math.max(digits, #fraction)
        end
    end
    if greatest >= 1e8 or least < 1e-4 or least < math.huge and greatest / least > 1e6 then
        return nil
    end
    return math.min(digits, 8)
end

-- Returns the texts of a list of numbers.
function number_texts.of(values)
    local digits, list = decimals(values), {}
    for k, value in ipairs(values) do
        if value ~= value then
            list[k] = 'nan'
        elseif value - value ~= 0 then
            list[k] = value > 0 and 'inf' or '-inf'
        elseif digits then
            list[k] = ('%.' .. digits .. 'f'):format(value):gsub('%.$', '')
            if digits == 0 then list[k] = list[k] .. '.' end
        else
            list[k] = ('%.8e'):format(value):gsub('0+e', 'e'):gsub('%.e', '.0e')
        end
    end
    return list
end

return number_texts
