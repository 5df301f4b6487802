-- Runs a kernel over the cells of fields. There is one launch per part. Launches
-- are bound once and run often.
--
--     local launch = fields:map { program = source.program 'mine.krn', kernel = 'mine',
--         values = { factor = 2, out = other_fields } }
--     launch:run()
--
-- `values` has the kernel's arguments by name, and the fields of parameter blocks
-- by theirs (bind.lua). A value may be a number, a buffer or the table of a block.
-- Fields stand for the memory of the part that holds them when the launch runs,
-- replicas for the memory on its device. A function is called with the piece of
-- the launch (pieces.lua). A kernel may also ask for
--
--     src                      the memory of these fields
--     origin, stride, plane    the element of the first cell, elements between
--                              rows and between fields
--     i0, j0, nx, ny           the first cell of the part in the grid, its size
--     columns, rows, step      the size of the piece, and the step of a box
--     south                    the first row of the piece, counted in the part
--     clock                    the clock of a simulation

local bind = require 'mare.array.bind'
local buffer = require 'bindings.buffer'
local pieces = require 'mare.array.pieces'

local map = {}

local Map = {}
Map.__index = Map

local function common(fields, piece, field)
    local s, l = piece.state, piece.state.layout
    return {
        src = fields, stride = l.stride, plane = l.plane, clock = s.clock,
        origin = l:offset(field and fields:index(field) or 0, piece.i, piece.j),
        i0 = s.part.i0, j0 = s.part.j0, nx = s.part.nx, ny = s.part.ny,
        columns = piece.columns, rows = piece.rows, step = piece.step, south = piece.j,
    }
end

-- Returns the values of one launch as kernels take them, and by argument those
-- fields that move between buffers.
local function resolve(fields, piece, desc)
    local values, moving = common(fields, piece, desc.field), {}
    local given = desc.values
    if type(given) == 'function' then given = given(piece) end
    for name, value in pairs(given or {}) do values[name] = value end
    for name, value in pairs(values) do
        if type(value) == 'function' then
            values[name] = value(piece)
        elseif type(value) == 'table' and not buffer.is(value) and value.on then
            if value.moves then moving[name] = value end
            values[name] = value:on(piece.state)
        end
    end
    return values, moving
end

local function whole(piece) return { piece.columns, piece.rows } end

local function add_launch(self, fields, piece, desc)
    local values, moving = resolve(fields, piece, desc)
    local kernel = fields:kernel(piece.state.device, desc.program, desc.kernel)
    local shape = { global = (desc.global or whole)(piece), group = desc.group }
    local launch = bind(kernel, values, shape)
    self.launches[#self.launches + 1] = launch
    for _, arg in ipairs(kernel.args) do
        local source = moving[arg.name]
        if source then
            self.moving[#self.moving + 1] = { launch = launch, name = arg.name, source = source,
                state = piece.state }
        end
    end
end

-- Binds the launches. desc: { program = what device:program takes, kernel = its
-- name, values = a table or a function from a piece to a table, field = the name
-- of the field in which `origin` lies (the first), pieces (nil: all cells), global
-- = function from a piece to the number of work-items (nil: columns, rows), group
-- (nil: as core thinks fit) }
function map.new(fields, desc)
    local self = setmetatable({ launches = {}, moving = {} }, Map)
    for _, piece in ipairs(desc.pieces or pieces.whole(fields.states)) do
        add_launch(self, fields, piece, desc)
    end
    return self
end

-- Queues the launches.
function Map:run()
    local launches, moving = self.launches, self.moving
    for k = 1, #moving do
        local m = moving[k]
        m.launch:set(m.name, m.source:on(m.state))
    end
    for k = 1, #launches do launches[k]:run() end
end

-- Sets an argument of all launches, or a field of a parameter block by its name.
function Map:set(name, value)
    for _, launch in ipairs(self.launches) do launch:set(name, value) end
end

function Map:release()
    for _, launch in ipairs(self.launches) do launch:release() end
end

return map
