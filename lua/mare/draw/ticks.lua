-- Round numbers for axes. Steps are 1, 2 or 5 times a power of ten. Labels have
-- as many decimals as the step requires, and share a power of ten if plain
-- numbers would be long.

local labels = require 'mare.draw.labels'

local ticks = {}

-- Returns a range that can be drawn: finite, low < high and wider than rounding
-- errors, which are 1e-12 of the values or as given.
function ticks.widen(low, high, rounding)
    local size = math.max(math.abs(low), math.abs(high))
    if high - low > (rounding or 1e-12) * size then return low, high end
    local half = size > 0 and size / 2 or 1
    return low - half, high + half
end

-- Returns the step that divides the range into nearly `want` intervals.
function ticks.step(low, high, want)
    local raw = (high - low) / want
    local power = 10 ^ math.floor(math.log10(raw))
    local best
    for _, factor in ipairs { 1, 2, 5, 10 } do
        local step = factor * power
        if not best or math.abs(math.log(step / raw)) < math.abs(math.log(best / raw)) then
            best = step
        end
    end
    return best
end

-- Returns the multiples of the step in the range, including one that rounding
-- put just outside.
function ticks.values(low, high, step)
    local out, slack = {}, 1e-9
    local first, last = math.ceil(low / step - slack), math.floor(high / step + slack)
    for k = first, last do
        out[#out + 1] = k * step + 0      -- + 0 turns -0 into 0
    end
    return out
end

-- Returns "×10⁻³", or '' for the power 0.
function ticks.power_text(power)
    if power == 0 then return '' end
    return '×10' .. labels.exponent(power)
end

local function exponent(values)
    local largest = 0
    for _, value in ipairs(values) do largest = math.max(largest, math.abs(value)) end
    if largest == 0 or largest >= 1e-3 and largest < 1e5 then return 0 end
    return math.floor(math.log10(largest) + 1e-9)
end

-- Returns the texts of the values and their common power of ten.
function ticks.labels(values, step)
    local power = exponent(values)
    local decimals = math.max(0, math.min(12, -math.floor(math.log10(step) - power + 1e-9)))
    local out, format = {}, ('%%.%df'):format(decimals)
    for i, value in ipairs(values) do
        out[i] = format:format(value / 10 ^ power):gsub('^-', '−')
    end
    return out, power
end

-- Returns the ticks of a logarithmic axis in the form of choose(). The range
-- and the values are exponents of ten. Ticks are whole powers, and 2 and 5
-- times these if only a few powers are in the range; more within one power, and those
-- of an axis that is not logarithmic within a factor of two.
function ticks.decades(low, high, want)
    local out, span = {}, high - low
    if span < 0.3 then
        local marks, power = ticks.choose(10 ^ low, 10 ^ high, math.min(6, want))
        for k, mark in ipairs(marks) do
            out[k] = { value = math.log10(mark.value), label = mark.label }
        end
        return out, power
    end
    local factors = span < 1 and { 1, 1.5, 2, 3, 4, 5, 7 } or span < 2.5 and { 1, 2, 5 } or { 1 }
    local every = math.max(1, math.ceil(span / want))
    for power = math.floor(low), math.ceil(high) do
        for _, factor in ipairs(power % every == 0 and factors or {}) do
            local value = power + math.log10(factor)
            if value >= low - 1e-9 and value <= high + 1e-9 then
                out[#out + 1] = { value = value, label = math.abs(power) <= 4
                    and ('%.5g'):format(factor * 10 ^ power) or '10' .. labels.exponent(power) }
            end
        end
    end
    return out, 0
end

-- Returns the ticks { { value =, label = }, ... } and their common power of
-- ten.
function ticks.choose(low, high, want)
    local step = ticks.step(low, high, want)
    local values = ticks.values(low, high, step)
    if #values < 2 then
        step = ticks.step(low, high, 2 * want)
        values = ticks.values(low, high, step)
    end
    local texts, power = ticks.labels(values, step)
    local out = {}
    for i, value in ipairs(values) do out[i] = { value = value, label = texts[i] } end
    return out, power
end

return ticks
