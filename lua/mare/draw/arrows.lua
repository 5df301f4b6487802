-- Arrows of a vector field on a thinned grid, and the one that says how long they are.

local axes = require 'mare.draw.axes'
local labels = require 'mare.draw.labels'

local arrows = {}

local longest, thinnest = 2.3, 0.25      -- em: of the arrows that are drawn

-- The largest of 1, 2 and 5 times a power of ten that is not above the value.
local function round_below(value)
    local power = 10 ^ math.floor(math.log10(value))
    for _, factor in ipairs { 5, 2 } do
        if factor * power <= value then return factor * power end
    end
    return power
end

local function largest(u, v, n)
    local most = 0
    for k = 0, n - 1 do
        local speed = u[k] * u[k] + v[k] * v[k]
        if speed > most and speed < math.huge then most = speed end
    end
    return math.sqrt(most)
end

-- From (x, y) to (x + dx, y + dy), dark with a light rim, to be seen on every ground. Shaft and rim
-- of a short one are thinner, the rim more so, or it would be all that there is.
local function arrow(canvas, x, y, dx, dy, em)
    local length = math.sqrt(dx * dx + dy * dy)
    local head = math.min(0.6 * em, 0.5 * length)
    local part = head / (0.6 * em)
    local shaft, light = 0.1 * em * math.max(0.8, part), 0.06 * em * part
    local ex, ey = dx / length, dy / length
    local nx, ny = x + dx - head * ex, y + dy - head * ey       -- where the head begins
    local function draw(rim, colour)
        local half, tip = math.max(0.34 * head, shaft) + rim, 1.4 * rim
        canvas:line(x - rim * ex, y - rim * ey, nx, ny, shaft + 2 * rim, colour)
        canvas:polygon({ x + dx + tip * ex, y + dy + tip * ey,
            nx - half * ey - rim * ex, ny + half * ex - rim * ey,
            nx + half * ey - rim * ex, ny - half * ex - rim * ey }, colour)
    end
    draw(light, axes.paper)
    draw(0, axes.ink)
end

-- How many pixels one unit of the field is, and the value of the arrow that explains it; nil where
-- nothing moves. reference: a value that is to be explained whatever the field is.
function arrows.scale(u, v, n, reference, em)
    local most = reference and reference > 0 and reference or largest(u, v, n)
    if most == 0 then return nil end
    return longest * em / most, reference or round_below(most)
end

-- Draws into a clipped box. field: { u, v, nx, ny, place = function(x, y) from samples to pixels }
function arrows.draw(canvas, field, scale, em)
    for j = 0, field.ny - 1 do
        for i = 0, field.nx - 1 do
            local k = j * field.nx + i
            local dx, dy = field.u[k] * scale, -field.v[k] * scale
            local length = math.sqrt(dx * dx + dy * dy)
            if length >= thinnest * em and length < 1e5 then
                local x, y = field.place(i, j)
                arrow(canvas, x - dx / 2, y - dy / 2, dx, dy, em)
            end
        end
    end
end

-- The arrow for `value` with its text, from x on; base: of the text's line.
function arrows.explain(canvas, x, base, value, scale, unit, em)
    local length = value * scale
    arrow(canvas, x, base - 0.36 * em, length, 0, em)
    local text = string.format('%.4g %s', value, labels.unit(unit))
    canvas:text(x + length + 0.6 * em, base, text, em, axes.ink, 0)
end

return arrows
