-- Says where a cell lies in the memory of one part. There is a plane of rows for
-- each field. In float interior rows start at a multiple of 128 bytes, and rows are
-- a multiple of that long, so that loads of neighbouring work-items fall into whole
-- cache lines.

local constants = require 'mare.base.constants'

local layout = {}

local Layout = {}
Layout.__index = Layout

layout.pad = constants.PAD      -- elements in front of the first interior cell of a row
layout.tail = 256   -- after the last plane: the last work-item of a row reads past its end
layout.beyond = 4   -- rows of a state after that: march.krn asks for some that it does not use

local function round_up(n, multiple)
    return math.ceil(n / multiple) * multiple
end

-- desc: { nx, ny, halo, fields = the number of planes, packed = whether rows follow
-- each other without padding and ghost cells, room = { nx =, ny = } that there is to be
-- (nil: those), so that parts of nearly one size have one stride and plane }
function layout.new(desc)
    if desc.packed then
        return setmetatable({
            nx = desc.nx, ny = desc.ny, halo = 0, pad = 0, fields = desc.fields, stride = desc.nx,
            rows = desc.ny, plane = desc.nx * desc.ny, count = desc.nx * desc.ny * desc.fields,
        }, Layout)
    end
    local room = desc.room or desc
    local stride = round_up(layout.pad + room.nx + desc.halo, 32)
    local plane = stride * (room.ny + 2 * desc.halo)
    return setmetatable({
        nx = desc.nx, ny = desc.ny, halo = desc.halo, pad = layout.pad, fields = desc.fields,
        stride = stride, rows = desc.ny + 2 * desc.halo, plane = plane,
        count = plane * desc.fields + stride * layout.beyond + layout.tail,
    }, Layout)
end

-- Returns the element of cell (i, j) of a field, all from 0. The cell may lie in the
-- halo.
function Layout:offset(field, i, j)
    return field * self.plane + (j + self.halo) * self.stride + self.pad + i
end

return layout
