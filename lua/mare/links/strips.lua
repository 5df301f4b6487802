-- Where the strips of cells lie that ghost cells of neighbours copy: element origin + k * along +
-- t * across + q * plane for cell k of line t of field q.

local strips = {}

-- The cells of a part that its ghosts along an axis copy: `cells` along the axis, `lines` across
-- it. axis: 'x' or 'y'; layout: of the part
function strips.extent(axis, layout)
    if axis == 'x' then
        return { cells = layout.nx, lines = layout.ny, along = 1, across = layout.stride,
            origin = layout:offset(0, 0, 0) }
    end
    return { cells = layout.ny, lines = layout.nx + 2 * layout.halo, along = layout.stride,
        across = 1, origin = layout:offset(0, -layout.halo, 0) }
end

-- The strip of a part in its buffer `which` that borders on the side opposite to `low`: in its own
-- memory.
function strips.in_place(axis, from, which, low)
    local e = strips.extent(axis, from.layout)
    local first = low and e.cells - from.layout.halo or 0
    return { buffer = from[which], origin = e.origin + first * e.along,
        along = e.along, across = e.across, plane = from.layout.plane }
end

-- The same as a box of `lines` and `fields` that is brought elsewhere, and how it lies there,
-- packed.
function strips.to_move(axis, from, which, low)
    local place, lines = strips.in_place(axis, from, which, low),
        strips.extent(axis, from.layout).lines
    local halo, fields, size = from.layout.halo, from.layout.fields, from.element
    local width, height = halo, lines
    if axis == 'y' then width, height = lines, halo end
    local packed = { x = { along = 1, across = halo }, y = { along = lines, across = 1 } }
    return { buffer = place.buffer, type = from.precision, count = halo * lines * fields,
        place = place, lines = lines, fields = fields, region = {
            width = width * size, height = height, depth = fields,
            src_offset = place.origin * size, src_pitch = from.layout.stride * size,
            src_slice = from.layout.plane * size,
        } }, { origin = 0, along = packed[axis].along, across = packed[axis].across,
            plane = halo * lines }
end

-- One end of all lines, as kernels of array/lines.h take it. side: where its cells are, and `kind`
function strips.line_end(side)
    return { kind = side.kind, origin = side.origin, along = side.along, across = side.across,
        plane = side.plane }
end

return strips
