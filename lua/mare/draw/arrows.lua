-- Draws arrows of a vector field at every so many cells, and one arrow that
-- explains their length.

local axes = require 'mare.draw.axes'
local labels = require 'mare.draw.labels'

local arrows = {}

local longest, thinnest = 2.3, 0.25      -- em: the longest arrow; shorter ones are left out

-- Rounds down to 1, 2 or 5 times a power of ten.
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

-- Draws an arrow from (x, y) to (x + dx, y + dy): dark with a light outline, so
-- that it is visible on every background. Short arrows have a thinner shaft and
-- an even thinner outline.
local function arrow(canvas, x, y, dx, dy, em)
    local length = math.sqrt(dx * dx + dy * dy)
    local head = math.min(0.6 * em, 0.5 * length)
    local share = head / (0.6 * em)
    local shaft, light = 0.1 * em * math.max(0.8, share), 0.06 * em * share
    local ex, ey = dx / length, dy / length
    local nx, ny = x + dx - head * ex, y + dy - head * ey       -- where the head begins
    local function draw(outline, colour)
        local half, tip = math.max(0.34 * head, shaft) + outline, 1.4 * outline
        canvas:line(x - outline * ex, y - outline * ey, nx, ny, shaft + 2 * outline, colour)
        canvas:polygon({ x + dx + tip * ex, y + dy + tip * ey,
            nx - half * ey - outline * ex, ny + half * ex - outline * ey,
            nx + half * ey - outline * ex, ny - half * ex - outline * ey }, colour)
    end
    draw(light, axes.paper)
    draw(0, axes.ink)
end

-- Returns the pixels per unit of the field, and the value of the arrow that
-- explains it; nil if the field is zero everywhere. reference: the value to
-- explain, or nil for a round one.
function arrows.scale(u, v, n, reference, em)
    local most = reference and reference > 0 and reference or largest(u, v, n)
    if most == 0 then return nil end
    return longest * em / most, reference or round_below(most)
end

-- Draws the arrows; the canvas is clipped to the box. field: { u, v, nx, ny,
-- place = function(i, j) from samples to pixels }.
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

-- Draws the arrow for `value` and its text, from x to the right. base: the
-- baseline of the text.
function arrows.explain(canvas, x, base, value, scale, unit, em)
    local length = value * scale
    arrow(canvas, x, base - 0.36 * em, length, 0, em)
    local text = string.format('%.4g %s', value, labels.unit(unit))
    canvas:text(x + length + 0.6 * em, base, text, em, axes.ink, 0)
end

return arrows
