-- Samples are planes of numbers at the cells of a box, or at points, on the
-- devices. A plane is a field as it is, or what a kernel derives from the fields.
-- The samples of a piece lie packed in a buffer of its device. run() computes
-- them.
--
-- A plane is { name, field = one of the fields } or { name, program, kernel, values
-- = as for map(), stencil = whether it looks at neighbours }. Such a kernel writes
-- element first + row * columns + column of `out`, from the cell at element origin
-- + (row * stride + column) * step of `src`.

local map = require 'mare.array.map'
local pieces = require 'mare.array.pieces'
local source = require 'mare.base.source'
local tables = require 'bindings.tables'

local samples = {}

local Samples = {}
Samples.__index = Samples

-- Returns what device:program takes to show a field as it is.
function samples.program(precision)
    return source.program('array/sample.krn', { defines = { MARE_REAL = precision } })
end

-- Binds the launches of plane n.
local function new_map(self, n, plane)
    local values = { first = function(piece) return (n - 1) * piece.columns * piece.rows end,
        out = function(piece) return piece.staging end }
    local given = plane.values
    return map.new(self.fields, { program = plane.program or self.copy,
        kernel = plane.kernel or 'sample', field = plane.field, pieces = self.pieces,
        values = function(piece)
            return tables.merged(values, type(given) == 'function' and given(piece) or given)
        end })
end

-- Allocates and binds everything. desc: { planes, pieces = of pieces.lua (nil: all
-- cells), label }
function samples.new(fields, desc)
    local self = setmetatable({ fields = fields, planes = desc.planes, maps = {}, of_part = {},
        pieces = desc.pieces or pieces.whole(fields.states) }, Samples)
    for _, piece in ipairs(self.pieces) do
        piece.staging = piece.state.device:buffer { type = fields.precision,
            label = desc.label or 'samples', count = piece.columns * piece.rows * #desc.planes }
        self.of_part[piece.state.part.index] = piece
    end
    self.copy = samples.program(fields.precision)
    for n, plane in ipairs(desc.planes) do
        self.maps[n] = new_map(self, n, plane)
        self.looks_around = self.looks_around or plane.stencil
    end
    return self
end

-- Queues the kernels.
function Samples:run()
    self.fields:settle()
    if self.looks_around then self.fields:fill_halos() end
    for n = 1, #self.maps do self.maps[n]:run() end
end

-- Returns the memory of a part: samples of all cells can be arguments of map().
function Samples:on(own)
    return self.of_part[own.part.index].staging
end

-- Returns where a part has a plane: the element of its first cell, and how many
-- elements a row has.
function Samples:place(own, name)
    local piece = self.of_part[own.part.index]
    for n, plane in ipairs(self.planes) do
        if plane.name == name then
            return (n - 1) * piece.columns * piece.rows, piece.columns
        end
    end
end

function Samples:release()
    for _, launches in ipairs(self.maps) do launches:release() end
    for _, piece in ipairs(self.pieces) do piece.staging:release() end
end

return samples
