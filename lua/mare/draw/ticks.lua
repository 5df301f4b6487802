-- Round numbers for axes. Steps are 1, 2 or 5 times a power of ten; labels carry just the decimals
-- that the step needs, and a common power of ten where plain numbers would be long.

local labels = require 'mare.draw.labels'

local ticks = {}

-- A range that can be drawn: finite, low < high and wider than rounding errors.
function ticks.widen(low, high)
    local size = math.max(math.abs(low), math.abs(high))
    if high - low > 1e-12 * size then return low, high end
    local half = size > 0 and size / 2 or 1
    return low - half, high + half
end

-- The step that comes nearest to `want` intervals in the range.
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

-- Multiples of the step within the range; a tick that rounding put just outside still counts.
function ticks.values(low, high, step)
    local out, slack = {}, 1e-9
    local first, last = math.ceil(low / step - slack), math.floor(high / step + slack)
    for k = first, last do
        out[#out + 1] = k * step + 0      -- + 0 turns -0 into 0
    end
    return out
end

-- "×10⁻³", or '' for the power 0
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

-- The texts for the values, and the power of ten that belongs to all of them
function ticks.labels(values, step)
    local power = exponent(values)
    local decimals = math.max(0, math.min(12, -math.floor(math.log10(step) - power + 1e-9)))
    local out, format = {}, ('%%.%df'):format(decimals)
    for i, value in ipairs(values) do
        out[i] = format:format(value / 10 ^ power):gsub('^-', '−')
    end
    return out, power
end

-- What choose() gives, for a logarithmic axis, whose range and values are exponents of ten: whole
-- powers, and 2 and 5 times them where few would be in the range.
function ticks.decades(low, high, want)
    local out, span = {}, high - low
    local factors = span < 2.5 and { 1, 2, 5 } or { 1 }
    local every = math.max(1, math.ceil(span / want))
    for power = math.floor(low), math.ceil(high) do
        for _, factor in ipairs(power % every == 0 and factors or {}) do
            local value = power + math.log10(factor)
            if value >= low - 1e-9 and value <= high + 1e-9 then
                out[#out + 1] = { value = value, label = math.abs(power) <= 4
                    and ('%.4g'):format(factor * 10 ^ power) or '10' .. labels.exponent(power) }
            end
        end
    end
    return out, 0
end

-- Everything at once: { { value =, label = }, ... } and the common power of ten
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
