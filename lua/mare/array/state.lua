-- Holds the fields of one part on its device. `now` has them between steps, `other` is where the
-- first sweep or stage of a step writes, `third` where the second of three stages does; a whole
-- step ends in `now` again. Where a scheme has `levels` instead, a step goes from `now` to `other`
-- or back, and `present` names the one that holds the state. `around` tells along which axes, { x
-- =, y = }, steps need no ghost cells.

local layout = require 'mare.array.layout'

local state = {}

local State = {}
State.__index = State

state.bytes = { float = 4, double = 8 }
state.buffers = { 'now', 'other', 'third' }

local block_bytes = 16 * 2 ^ 20     -- of host memory through which initial values pass

-- Returns the bytes on the device of a part: of one copy of its fields, and of all.
function state.size(part, scheme, precision)
    local l = layout.new { nx = part.nx, ny = part.ny, halo = scheme.halo, fields = #scheme.fields }
    local bytes = l.count * state.bytes[precision]
    return bytes, ((scheme.buffers or 2) + (scheme.room and scheme:room() or 0)) * bytes
end

local labels = { now = 'state', other = 'scratch', third = 'scratch' }

-- put(data, k, plane, value of field 1, of 2, ...) for so many fields, written out: LuaJIT compiles
-- no loop over arguments whose number it does not know.
local function putter(fields)
    local arguments, lines = {}, {}
    for q = 1, fields do
        arguments[q] = 'v' .. q
        lines[q] = ('if v%d then data[k + %d * plane] = v%d end'):format(q, q - 1, q)
    end
    return assert(loadstring(('return function(data, k, plane, %s) %s end'):format(
        table.concat(arguments, ', '), table.concat(lines, ' ')), '=put'))()
end

-- Allocates what one part holds, on its device. desc: { fields = how many, halo, precision, packed
-- (see layout.lua), buffers = how many copies, label = of these, or nil }
function state.new(part, desc)
    local l = layout.new { nx = part.nx, ny = part.ny, halo = desc.halo, fields = desc.fields,
        packed = desc.packed }
    local self = setmetatable({ device = part.device, part = part, layout = l,
        precision = desc.precision, element = state.bytes[desc.precision], present = 'now',
        put = putter(l.fields) }, State)
    for k = 1, desc.buffers do
        local name = state.buffers[k]
        self[name] = part.device:buffer { type = desc.precision, count = l.count,
            label = string.format('%s of part %d', desc.label or labels[name], part.index) }
        self[name]:fill(0)
    end
    return self
end

-- Returns whether the part lies on a device. Nothing else asks where a part is, so that this is
-- where a part of another process will be known.
function State:is_on(device)
    return self.device == device
end

-- Computes rows first .. first + rows - 1 of the part (negative: in the halo) into a block of rows
-- for each field.
local function compute_rows(data, self, value, first, rows)
    local l, i0, j0 = self.layout, self.part.i0, self.part.j0
    local plane, put = rows * l.stride, self.put
    for r = 0, rows - 1 do
        local row = r * l.stride + l.pad
        for i = -l.halo, l.nx + l.halo - 1 do
            put(data, row + i, plane, value(i0 + i, j0 + first + r))
        end
    end
end

-- Fills the fields. value(i, j) gives those of cell (i, j) of the whole grid; it is also asked
-- for ghost cells, which keep what it says where the boundary is fixed.
function State:fill(value)
    local l = self.layout
    local per_block = math.max(1, math.min(l.rows,
        math.floor(block_bytes / (l.fields * l.stride * self.element))))
    local host = self.device:host {
        type = self.precision, count = per_block * l.stride * l.fields,
    }
    for k = 0, host.count - 1 do host.data[k] = 0 end       -- the padding between rows
    for row = 0, l.rows - 1, per_block do
        local rows = math.min(per_block, l.rows - row)
        compute_rows(host.data, self, value, row - l.halo, rows)
        for field = 0, l.fields - 1 do
            local count = rows * l.stride
            self[self.present]:upload(host.data + field * count,
                { offset = field * l.plane + row * l.stride, count = count })
        end
    end
    host:release()
    self:spread(self.present)
end

-- Copies a buffer to the others: fixed ghost cells are the same in all.
function State:spread(from)
    for _, name in ipairs(state.buffers) do
        if name ~= from and self[name] then self[name]:copy(self[from]) end
    end
end

-- Brings a field's interior to its place in an array of the whole grid, `nx` cells a row, in host
-- memory.
function State:download(field, host, nx)
    local l, part, size = self.layout, self.part, self.element
    self[self.present]:download_region(host, {
        width = l.nx * size, height = l.ny,
        src_offset = l:offset(field, 0, 0) * size, src_pitch = l.stride * size,
        dst_offset = (part.j0 * nx + part.i0) * size, dst_pitch = nx * size,
    })
end

-- Brings cells to the host, where the whole grid with its ghost cells has `width` elements a row,
-- `height` rows a field, and begins at element `first`. The part's own cells in buffer `which` go
-- there, and ghost cells where it lies at the edge of the domain.
function State:save(host, width, height, which, first)
    local l, part, size, h = self.layout, self.part, self.element, self.layout.halo
    local function reach(side) return part.edge[side] and h or 0 end
    local i, j = -reach 'west', -reach 'south'
    self[which]:download_region(host, {
        width = (l.nx + reach 'east' - i) * size, height = l.ny + reach 'north' - j,
        depth = l.fields, src_offset = l:offset(0, i, j) * size, src_pitch = l.stride * size,
        src_slice = l.plane * size, dst_pitch = width * size, dst_slice = width * height * size,
        dst_offset = (first + (part.j0 + j + h) * width + part.i0 + i + h) * size,
    })
end

-- Does the reverse, for the part's own cells and all its ghost cells.
function State:load(host, width, height, which, first)
    local l, part, size, h = self.layout, self.part, self.element, self.layout.halo
    self[which]:upload_region(host, {
        width = (l.nx + 2 * h) * size, height = l.ny + 2 * h, depth = l.fields,
        dst_offset = l:offset(0, -h, -h) * size, dst_pitch = l.stride * size,
        dst_slice = l.plane * size, src_offset = (first + part.j0 * width + part.i0) * size,
        src_pitch = width * size, src_slice = width * height * size,
    })
end

-- Reads one field and all its ghost cells from an array of the whole grid with its ghost cells,
-- `width` elements a row.
function State:load_field(field, host, width)
    local l, part, size, h = self.layout, self.part, self.element, self.layout.halo
    self.now:upload_region(host, {
        width = (l.nx + 2 * h) * size, height = l.rows,
        dst_offset = l:offset(field, -h, -h) * size, dst_pitch = l.stride * size,
        src_offset = (part.j0 * width + part.i0) * size, src_pitch = width * size,
    })
end

function State:release()
    for _, name in ipairs(state.buffers) do
        if self[name] then self[name]:release() end
    end
    for _, own in pairs(self.sides or {}) do
        for _, name in ipairs { 'kinds', 'times', 'table' } do own[name]:release() end
    end
    if self.domain then self.domain:release() end
end

return state
