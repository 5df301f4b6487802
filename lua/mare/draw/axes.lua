-- Draws what surrounds a plot: ticks, labels, title. A box is { x =, y =, width
-- =, height = } in pixels. All distances are in em, the font size.

local ticks = require 'mare.draw.ticks'

local axes = {}

axes.ink, axes.soft, axes.grid, axes.paper = 0x262626, 0x7f7f7f, 0xe4e4e4, 0xffffff

local tick_length, tick_gap = 0.32, 0.3     -- em

-- Returns the ticks of an axis of so many pixels. Along x, as many are chosen
-- as have room for their texts.
function axes.x_ticks(canvas, range, pixels, em)
    local want = math.min(6, pixels / (4 * em))
    local marks, power
    repeat
        marks, power = ticks.choose(range[1], range[2], math.max(1, want))
        local widest = 0
        for _, mark in ipairs(marks) do
            widest = math.max(widest, (canvas:measure(mark.label, em)))
        end
        want = want - 1
    until want < 1 or #marks * (widest + 1.2 * em) < pixels
    return marks, power
end

function axes.y_ticks(range, pixels, em)
    return ticks.choose(range[1], range[2], math.max(2, math.min(6, pixels / (3 * em))))
end

function axes.widest(canvas, marks, em)
    local widest = 0
    for _, mark in ipairs(marks) do widest = math.max(widest, (canvas:measure(mark.label, em))) end
    return widest
end

-- Returns the position of a value in the box; y grows upwards.
function axes.place_x(box, range, value)
    return box.x + (value - range[1]) / (range[2] - range[1]) * box.width
end

function axes.place_y(box, range, value)
    return box.y + box.height - (value - range[1]) / (range[2] - range[1]) * box.height
end

-- Moves a thin line onto the pixel grid, so that it is not blurred.
local function crisp(position, line)
    return math.floor(position - line / 2 + 0.5) + line / 2
end

function axes.x_grid(canvas, box, range, marks, line)
    for _, mark in ipairs(marks) do
        local x = crisp(axes.place_x(box, range, mark.value), line)
        canvas:line(x, box.y, x, box.y + box.height, line, axes.grid)
    end
end

function axes.y_grid(canvas, box, range, marks, line)
    for _, mark in ipairs(marks) do
        local y = crisp(axes.place_y(box, range, mark.value), line)
        canvas:line(box.x, y, box.x + box.width, y, line, axes.grid)
    end
end

-- Draws the ticks, their labels, the label of the axis and the common power of
-- ten below the box.
function axes.x_axis(canvas, box, range, marks, power, label, em, line)
    local bottom = box.y + box.height
    local _, ascent = canvas:measure('0', em)
    local base = bottom + (tick_length + tick_gap) * em + 0.8 * ascent
    for _, mark in ipairs(marks) do
        local x = crisp(axes.place_x(box, range, mark.value), line)
        canvas:line(x, bottom, x, bottom + tick_length * em, line, axes.ink)
        canvas:text(x, base, mark.label, em, axes.ink, 0.5)
    end
    local second = base + 1.45 * em
    canvas:text(box.x + box.width / 2, second, label, em, axes.ink, 0.5)
    canvas:text(box.x + box.width, second, ticks.power_text(power), em, axes.ink, 1)
end

-- Draws the same to the left of the box.
function axes.y_axis(canvas, box, range, marks, power, label, em, line)
    local right = box.x - (tick_length + tick_gap) * em
    for _, mark in ipairs(marks) do
        local y = crisp(axes.place_y(box, range, mark.value), line)
        canvas:line(box.x - tick_length * em, y, box.x, y, line, axes.ink)
        canvas:text(right, y + 0.36 * em, mark.label, em, axes.ink, 1)
    end
    local x = right - axes.widest(canvas, marks, em) - 0.75 * em
    canvas:text(x, box.y + box.height / 2, label, em, axes.ink, 0.5, -math.pi / 2)
    canvas:text(box.x, box.y - 0.5 * em, ticks.power_text(power), em, axes.ink, 1)
end

-- Draws the ticks and labels to the right of a colour bar.
function axes.bar_axis(canvas, box, range, marks, power, label, em, line)
    local right = box.x + box.width
    local left = right + (tick_length + tick_gap) * em
    for _, mark in ipairs(marks) do
        local y = crisp(axes.place_y(box, range, mark.value), line)
        canvas:line(right, y, right + tick_length * em, y, line, axes.ink)
        canvas:text(left, y + 0.36 * em, mark.label, em, axes.ink, 0)
    end
    local x = left + axes.widest(canvas, marks, em) + 1.35 * em
    canvas:text(x, box.y + box.height / 2, label, em, axes.ink, 0.5, -math.pi / 2)
    canvas:text(box.x, box.y - 0.5 * em, ticks.power_text(power), em, axes.ink, 0)
end

-- Draws the label of a colour bar that is too short for it above the bar, in
-- the corner of the picture. Returns the right end of the room left for the
-- title.
function axes.corner_label(canvas, base, label, em)
    local right = canvas.width - 0.6 * em
    canvas:text(right, base, label, em, axes.ink, 1)
    return right - canvas:measure(label, em) - 1.5 * em
end

-- Returns the room that y_axis and bar_axis need beside the box, in pixels.
function axes.side_room(canvas, marks, label, em)
    local labelled = label ~= '' and 1.5 or 0
    return (tick_length + tick_gap + labelled + 0.6) * em + axes.widest(canvas, marks, em)
end

function axes.bottom_room(label, power, em)
    return (tick_length + tick_gap + 0.9 + 0.7 + ((label ~= '' or power ~= 0) and 1.45 or 0)) * em
end

-- Draws the title above the box, from its left edge if it fits, but never
-- beyond `right`. Long titles are drawn smaller.
function axes.title(canvas, x, right, base, text, em)
    local size = 1.25 * em
    local width, room = canvas:measure(text, size), right - 0.5 * em
    if width > room then
        size = size * room / width
        width = room
    end
    canvas:text(math.min(x, right - width), base, text, size, axes.ink, 0)
end

return axes
