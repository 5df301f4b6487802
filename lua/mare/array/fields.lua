-- Named fields over the parts of a grid on devices: what everything that reads or writes fields
-- goes through. A step of a scheme is bound part by part (run/simulation.lua); all else says what
-- is to be done once, for all parts:
--
--     fields:map { ... }        a kernel over cells, one launch a part
--     fields:stencil { ... }    the same where it looks at neighbours: halos are filled first
--     fields:exchange { ... }   what fills the halos of one buffer
--     fields:reduce(list)       sums over rows, of the same bits however the grid is split
--     fields:replicate { ... }  memory that every device has, shared or collected on demand
--     fields:copy(label)        a copy on the devices, to go back to or to compare with
--     fields:entries { ... }    numbers of a list's entries, each on the part that has it
--     fields:gather { ... }     boxes of cells into host memory, while the devices go on
--     fields:save, load, fill   the whole grid, with its ghost cells, to and from host memory
--     fields:native()           what kernels of one's own want to know of each part
--
-- Each is a file of this room. Launches are bound once and run often, without garbage. Here alone
-- is known which parts are where.

local copies = require 'mare.array.copies'
local entries = require 'mare.array.entries'
local errors = require 'bindings.errors'
local exchange = require 'mare.array.exchange'
local gather = require 'mare.array.gather'
local map = require 'mare.array.map'
local replicas = require 'mare.array.replicas'
local row_sums = require 'mare.array.row_sums'
local state = require 'mare.array.state'

local fields = {}

local Fields = {}
Fields.__index = Fields

-- The devices of the parts, each once.
local function devices_of(parts)
    local list, seen = {}, {}
    for _, part in ipairs(parts) do
        if not seen[part.device] then
            list[#list + 1], seen[part.device] = part.device, true
        end
    end
    return list
end

-- { grid, parts = of grid:split, each with its device, names, precision = 'float', halo = ghost
-- cells on each side (0), buffers = how many copies of each part: `now`, `other`, `third` (1),
-- packed = rows without anything between them, label }
function fields.new(desc)
    local self = setmetatable({
        grid = desc.grid, parts = desc.parts, names = desc.names, states = {}, programs = {},
        precision = desc.precision or 'float', halo = desc.halo or 0,
        devices = devices_of(desc.parts), element = state.bytes[desc.precision or 'float'],
    }, Fields)
    for k, part in ipairs(desc.parts) do
        self.states[k] = state.new(part, { fields = #desc.names, halo = self.halo,
            precision = self.precision, buffers = desc.buffers or 1, packed = desc.packed,
            label = desc.label })
    end
    return self
end

-- Other fields over the same parts: desc as of fields.new, without grid and parts.
function Fields:like(desc)
    local full = { grid = self.grid, parts = self.parts }
    for key, value in pairs(desc) do full[key] = value end
    return fields.new(full)
end

-- A part and its device, for what is chosen once for all of them.
function Fields:first_part()
    return self.states[1].part, self.states[1].device
end

-- The number of a field, from 0.
function Fields:index(name)
    for k, known in ipairs(self.names) do
        if known == name then return k - 1 end
    end
    errors.argument("no field '%s' (there are: %s)", tostring(name),
        table.concat(self.names, ', '))
end

-- ---- which buffer holds the fields ----

-- Called before they are read. Of a simulation: whether steps that are queued are known to have
-- been taken.
function Fields.settle() end

-- The buffer that holds them from now on. Launches follow where `moves` is set.
function Fields:hold_in(which)
    for k = 1, #self.states do self.states[k].present = which end
end

-- Its name.
function Fields:present()
    return self.states[1].present
end

-- As an argument of map: the memory of a part, in the buffer that holds the fields.
function Fields:on(own)
    local s = self.states[own.part.index]
    return s[s.present]
end

-- As an argument of map: the memory of a part in buffer `which`, whatever holds the fields.
function Fields:buffer(which)
    return { on = function(_, own) return self.states[own.part.index][which] end }
end

-- Where a part has a field: its first own cell in that memory, and elements a row.
function Fields:place(own, name)
    local l = self.states[own.part.index].layout
    return l:offset(self:index(name), 0, 0), l.stride
end

-- ---- kernels ----

-- A kernel of a program (what device:program takes), which is loaded once a device.
function Fields:kernel(device, program, name)
    local loaded = self.programs[device] or setmetatable({}, { __mode = 'k' })
    self.programs[device] = loaded
    loaded[program] = loaded[program] or device:program(program)
    return loaded[program]:kernel(name)
end

-- See map.lua.
function Fields:map(desc) return map.new(self, desc) end

-- Fills the halos as they are shown; of a simulation.
function Fields.fill_halos()
    errors.raise('MARE_ERROR_STATE', 'fields: nothing says what fills their halos')
end

local Stencil = {}
Stencil.__index = Stencil

function Stencil:run()
    self.fields:fill_halos()
    self.inner:run()
end

function Stencil:release() self.inner:release() end

-- As map, of cells and their neighbours.
function Fields:stencil(desc)
    return setmetatable({ fields = self, inner = map.new(self, desc) }, Stencil)
end

-- See exchange.lua.
function Fields:exchange(...) return exchange.new(self, ...) end

-- See row_sums.lua.
function Fields:reduce(sources) return row_sums.new(self, sources) end

-- See copies.lua.
function Fields:copy(label, buffers) return copies.new(self, label, buffers) end

-- See entries.lua.
function Fields:entries(desc) return entries.new(self, desc) end

-- See replicas.lua.
function Fields:replicate(desc) return replicas.new(self, desc) end

-- ---- host memory ----

-- Host memory that devices reach: { type = theirs, count, label }
function Fields:host(desc)
    return self.devices[1]:host { type = desc.type or self.precision, count = desc.count,
        label = desc.label }
end

-- See gather.lua.
function Fields:gather(desc) return gather.new(self, desc) end

-- Field k, from 1, of the whole grid into host memory, x fastest. Waits.
function Fields:download(k, host)
    for _, s in ipairs(self.states) do s:download(k - 1, host, self.grid.nx) end
end

local function padded(self)
    return self.grid.nx + 2 * self.halo, self.grid.ny + 2 * self.halo
end

-- Elements of what save() gives.
function Fields:saved_count()
    local width, height = padded(self)
    return width * height * #self.names
end

-- All fields of the whole grid, with the ghost cells around it, in buffer `which` into host memory
-- from element `first` on, one plane after the other. Waits.
function Fields:save(host, which, first)
    local width, height = padded(self)
    for _, s in ipairs(self.states) do
        s:save(host, width, height, which or s.present, first or 0)
    end
end

-- The reverse.
function Fields:load(host, which, first)
    local width, height = padded(self)
    for _, s in ipairs(self.states) do
        s:load(host, width, height, which or s.present, first or 0)
    end
end

-- value(i, j) gives the fields (at most four) of cell (i, j) of the whole grid; it is also asked
-- for ghost cells, which keep what it says where the boundary is fixed.
function Fields:fill(value)
    for _, s in ipairs(self.states) do s:fill(value) end
end

-- Copies the ghost cells of buffer `which`, and all else, to the others.
function Fields:spread(which)
    for _, s in ipairs(self.states) do s:spread(which) end
end

-- ---- for others' kernels ----

-- An array of { device, buffer, type, names, i0, j0, nx, ny = own cells in the grid, offset = of
-- the first, stride = of rows, plane = of fields, in elements } of each part.
function Fields:native()
    self:settle()
    local list = {}
    for k, s in ipairs(self.states) do
        local l, part = s.layout, s.part
        list[k] = { device = s.device, buffer = s[s.present], type = self.precision,
            names = self.names, i0 = part.i0, j0 = part.j0, nx = part.nx, ny = part.ny,
            offset = l:offset(0, 0, 0), stride = l.stride, plane = l.plane }
    end
    return list
end

function Fields:release()
    for _, s in ipairs(self.states) do s:release() end
end

return fields
