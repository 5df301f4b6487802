-- Plans the frames of a zoom: all have the same centre, the width shrinks by
-- the same factor from frame to frame, and the arithmetic is precise enough to
-- separate neighbouring points.

local errors = require 'bindings.errors'
local mpfr = require 'bindings.mpfr'

local view = {}

-- The unit roundoff of each arithmetic. Perturbation rounds only distances from
-- the centre; its limit is the range of double.
local modes = {
    { name = 'float', unit = 2 ^ -24 }, { name = 'double', unit = 2 ^ -53 },
    { name = 'double-double', unit = 2 ^ -104 }, { name = 'perturbation', unit = 0 },
}
local margin = 16           -- unit roundoffs between neighbouring points, at least
local least_width = 1e-290
local guard_bits = 64       -- of the reference, beyond those that separate its points
local furthest = 16         -- the largest distance of a centre from 0

for _, mode in ipairs(modes) do modes[mode.name] = mode end

-- The values of the option: 'auto' takes the fastest mode that is precise
-- enough, which is never double-double.
view.modes = { 'auto' }
for k, mode in ipairs(modes) do view.modes[k + 1] = mode.name end

-- ---- the centre ----

-- Named points; the array part lists the names.
view.places = { 'published', 'dendrite', 'deep',
    published = '-0.75+0.1i',
    dendrite = '1i',            -- its orbit ends in a cycle; it looks the same at every scale
    -- This point lies around a copy of the set that is 1.5e-105 large and has period 8856.
    deep = '-0.743585734312688977493860429369325487473228196944496062036465973113973916018269190'
        .. '89951766565329781243483910432447814'
        .. '+0.131944869894177420745441508766942564673265117915008234600746087032414605612377241'
        .. '94438648720182062705266953709724598i',
}

-- Returns the decimal number at place `at` of a text and the place behind it,
-- or nil.
local function scan(text, at)
    local digits = text:match('^[+-]?%d+%.?%d*', at) or text:match('^[+-]?%.%d+', at)
    if not digits then return nil end
    local power = text:match('^[eE][+-]?%d+', at + #digits) or ''
    return digits .. power, at + #digits + #power
end

-- Splits '-0.75+0.1i', '0.3' or '1i' into the texts of its real and imaginary
-- part.
local function parse(text)
    local first, at = scan(text, 1)
    if first and at > #text then return first, '0' end
    if first and text:sub(at) == 'i' then return '0', first end
    local second, last = nil, nil
    if first and text:find('^[+-]', at) then second, last = scan(text, at) end
    if not second or text:sub(last) ~= 'i' then
        errors.usage("option --centre: '%s' (allowed: a point such as -0.75+0.1i)", text)
    end
    return first, second
end

-- Returns a centre with `x` and `y` of so many bits, and as sums of two
-- doubles.
local function centre_of(text, bits)
    local real, imaginary = parse(view.places[text] or text)
    local c = { x = mpfr.new(bits, real), y = mpfr.new(bits, imaginary), bits = bits }
    for _, axis in ipairs { 'x', 'y' } do
        local number = c[axis]
        local high = number:double()
        if math.abs(high) > furthest then
            errors.usage("option --centre: '%s' (allowed: parts from -%d to %d)", text, furthest,
                furthest)
        end
        c[axis .. '_high'] = high
        c[axis .. '_low'] = mpfr.new(bits):sub(number, mpfr.new(53, high)):double()
    end
    return c
end

-- ---- precision ----

local function suffices(mode, frame)
    local reach = math.max(math.abs(frame.centre.x_high), math.abs(frame.centre.y_high))
        + math.max(frame.width, frame.height) / 2
    return frame.step >= margin * mode.unit * reach
end

local function next_mode(frame)
    for _, mode in ipairs(modes) do
        if mode.name ~= 'double-double' and suffices(mode, frame) then return mode.name end
    end
end

-- Returns the arithmetic of a frame. wanted: one of view.modes.
local function choose(wanted, frame)
    if wanted == 'auto' then return next_mode(frame) end
    if suffices(modes[wanted], frame) then return wanted end
    errors.usage('option --precision: %s does not tell points apart that are %.3g from each other, '
        .. 'as in frame %d; %s does', wanted, frame.step, frame.number, next_mode(frame))
end

-- ---- frames ----

-- Returns the frames of a zoom, and the centre with enough digits for all. o:
-- centre, a text or the name of a point; width, of the first frame; zoom, how
-- many times narrower the last one is (a single frame is the last one); frames,
-- their number; columns, rows: points of a frame; precision.
function view.frames(o)
    local last = o.width / o.zoom
    if last ~= last or last < least_width then
        errors.usage('option --zoom: the last frame is %.3g wide (allowed: at least %g)', last,
            least_width)
    end
    local bits = math.ceil(math.log(math.max(1, o.columns / last)) / math.log(2)) + guard_bits
    local centre, list = centre_of(o.centre, math.max(128, bits)), {}
    for k = 1, o.frames do
        local share = o.frames > 1 and (k - 1) / (o.frames - 1) or 1
        local width = o.width / o.zoom ^ share
        local step = width / o.columns
        local frame = { number = k, centre = centre, width = width, height = step * o.rows,
            step = step, left = -0.5 * (o.columns - 1) * step, top = 0.5 * (o.rows - 1) * step }
        frame.mode = choose(o.precision, frame)
        list[k] = frame
    end
    return list, centre
end

return view
