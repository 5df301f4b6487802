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
    local l = layout.new { nx = part.nx, ny = part.ny, halo = scheme.halo, room = part.room,
        fields = #scheme.fields }
    local bytes = l.count * state.bytes[precision]
    return bytes, ((scheme.buffers or 2) + (scheme.room and scheme:room() or 0)) * bytes
end

-- Allocates memory for all parts of one room on a device, one behind the other: { buffers..., now =
-- the first, ..., each = elements from a part to the next }. desc: as for state.new
function state.join(parts, desc)
    local l = layout.new { nx = parts[1].nx, ny = parts[1].ny, halo = desc.halo,
        fields = desc.fields, room = parts[1].room }
    local self = { each = math.ceil(l.count / 128) * 128 }      -- where views may begin
    for k = 1, desc.buffers do
        self[k] = parts[1].device:buffer { type = desc.precision, count = self.each * #parts,
            label = 'states of all parts' }
        self[state.buffers[k]] = self[k]
    end
    return self
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
-- (see layout.lua), buffers = how many copies, label = of these, or nil }; memory(name, count):
-- returns a buffer that has been allocated for it, nil: one of its own is
function state.new(part, desc, memory)
    local l = layout.new { nx = part.nx, ny = part.ny, halo = desc.halo, fields = desc.fields,
        packed = desc.packed, room = part.room }
    local self = setmetatable({ device = part.device, part = part, layout = l,
        precision = desc.precision, element = state.bytes[desc.precision], present = 'now',
        put = putter(l.fields) }, State)
    for k = 1, desc.buffers do
        local name = state.buffers[k]
        self[name] = memory and memory(name, l.count)
            or part.device:buffer { type = desc.precision, count = l.count,
                label = string.format('%s of part %d', desc.label or labels[name], part.index) }
        self[name]:fill(0)
    end
    return self
end

-- Returns what is known of a part of another rank: where it lies, and its layout.
function state.elsewhere(part, desc)
    return setmetatable({ part = part, rank = part.rank, precision = desc.precision,
        element = state.bytes[desc.precision], layout = layout.new { nx = part.nx, ny = part.ny,
            halo = desc.halo, fields = desc.fields, packed = desc.packed,
            room = part.room } }, State)
end

-- Returns whether the part lies on a device of this rank. This and is_elsewhere() are where parts
-- are asked where they are.
function State:is_on(device)
    return self.device == device
end

-- Returns whether the part lies with another rank.
function State:is_elsewhere()
    return self.rank ~= nil
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
    local data = host:pointer()
    for k = 0, host.count - 1 do data[k] = 0 end       -- the padding between rows
    for row = 0, l.rows - 1, per_block do
        local rows = math.min(per_block, l.rows - row)
        compute_rows(data, self, value, row - l.halo, rows)
        for field = 0, l.fields - 1 do
            local count = rows * l.stride
            self[self.present]:upload(data + field * count,
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

-- Returns where a field's own cells lie in an array of the whole grid, `nx` cells a row: a box in
-- bytes.
function State:own_box(nx)
    local l, part, size = self.layout, self.part, self.element
    return { rank = part.rank, width = l.nx * size, height = l.ny, depth = 1,
        dst_offset = (part.j0 * nx + part.i0) * size, dst_pitch = nx * size, dst_slice = 0 }
end

-- Brings a field's own cells to such a box of host memory.
function State:download(field, host, box)
    local l, size = self.layout, self.element
    self[self.present]:download_region(host, {
        width = box.width, height = box.height, src_offset = l:offset(field, 0, 0) * size,
        src_pitch = l.stride * size, dst_offset = box.dst_offset, dst_pitch = box.dst_pitch,
    })
end

-- Returns how many ghost cells a part saves beyond a side: those at the edge of the domain.
local function reach(self, side)
    return self.part.edge[side] and self.layout.halo or 0
end

-- Returns the box of a part's own cells, with those ghost cells, where the whole grid with its
-- ghost cells has `width` elements a row and `height` rows a field.
function State:saved_box(width, height)
    local l, part, size, h = self.layout, self.part, self.element, self.layout.halo
    local west, south = reach(self, 'west'), reach(self, 'south')
    return { rank = part.rank, width = (l.nx + west + reach(self, 'east')) * size,
        height = l.ny + south + reach(self, 'north'), depth = l.fields, dst_pitch = width * size,
        dst_slice = width * height * size,
        dst_offset = ((part.j0 - south + h) * width + part.i0 - west + h) * size }
end

-- Brings these cells of buffer `which` to such a box of host memory.
function State:save(host, which, box)
    local l, size = self.layout, self.element
    self[which]:download_region(host, {
        width = box.width, height = box.height, depth = box.depth,
        src_offset = l:offset(0, -reach(self, 'west'), -reach(self, 'south')) * size,
        src_pitch = l.stride * size, src_slice = l.plane * size, dst_offset = box.dst_offset,
        dst_pitch = box.dst_pitch, dst_slice = box.dst_slice,
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

state.own_box, state.saved_box, state.putter = State.own_box, State.saved_box, putter

-- has_lent: whether others release its buffers
function State:release(has_lent)
    for _, name in ipairs(state.buffers) do
        if self[name] and not has_lent then self[name]:release() end
    end
    for _, own in pairs(self.sides or {}) do
        for _, name in ipairs { 'kinds', 'times', 'table' } do own[name]:release() end
    end
    if self.domain then self.domain:release() end
end

return state
