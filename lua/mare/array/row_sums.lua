-- Sums the rows of the grid, on the devices and without stopping them. The order of
-- every sum follows from the whole grid, so its bits do not depend on how the grid
-- is split: a part continues the sums of a row where its western neighbour has
-- left them (kernels/array/sums.krn). One number per row comes to the host.

local map = require 'mare.array.map'
local pieces = require 'mare.array.pieces'
local source = require 'mare.base.source'

local row_sums = {}

local RowSums = {}
RowSums.__index = RowSums

local lanes = 32        -- This is LANES of sums.krn.

-- Binds the launches that sum a part, one for each source.
local function bind_sums(self, piece, sums)
    local launches = {}
    for n, from in ipairs(self.sources) do
        local origin, stride = from.values:place(piece.state, from.field)
        launches[n] = map.new(self.fields, { pieces = { piece }, program = self.program,
            kernel = 'row_sums', global = function() return { lanes, piece.rows } end,
            values = { src = from.values, origin = origin, stride = stride, west = piece.column,
                sums = sums } })
    end
    return launches
end

-- Makes what the last part of a row of parts does: { totals of each sum, launches,
-- region on the host }.
local function new_end(self, piece, sums)
    local s, rows, ny, count = piece.state, piece.rows, self.fields.grid.ny, #self.sources
    local band = { device = s.device, launches = {},
        totals = s.device:buffer { type = 'double', count = count * rows, label = 'integrals' },
        region = { width = 8 * rows, height = count, src_pitch = 8 * rows, dst_pitch = 8 * ny,
            dst_offset = 8 * piece.row } }
    for n = 1, count do
        band.launches[n] = map.new(self.fields, { pieces = { piece }, program = self.program,
            kernel = 'row_totals', global = function() return rows end,
            values = { sums = sums, rows = rows, totals = band.totals, first = (n - 1) * rows } })
    end
    return band
end

-- Makes what each part does, from west to east: { launches, copy = { to, from } if
-- its western neighbour is on another device, band = of new_end if it is the last
-- of its row }.
local function new_chain(self)
    local sums, last
    for k, piece in ipairs(pieces.whole(self.fields.states)) do
        local s, copy = piece.state, nil
        if s.part.edge.west or not s:is_on(last) then
            local before = not s.part.edge.west and sums
            sums = s.device:buffer { type = 'double', count = lanes * piece.rows,
                label = 'integrals' }
            self.buffers[#self.buffers + 1] = sums
            copy = before and { sums, before }
        end
        last = s.device
        self.chain[k] = { launches = bind_sums(self, piece, sums), copy = copy,
            band = s.part.edge.east and new_end(self, piece, sums) or nil }
    end
end

-- Allocates and binds everything. sources: { { values = fields or samples, field =
-- the name of one in them }, ... }
function row_sums.new(fields, sources)
    local self = setmetatable({ fields = fields, sources = sources, chain = {}, buffers = {},
        done = {}, program = source.program('array/sums.krn', {
            defines = { MARE_REAL = fields.precision } }) }, RowSums)
    self.host = fields:host { type = 'double', count = #sources * fields.grid.ny,
        label = 'integrals' }
    for k, device in ipairs(fields.devices) do self.done[k] = device:event() end
    new_chain(self)
    return self
end

-- Queues the sums of source n over the rows of a part.
local function sum_rows(link, n)
    if link.copy then link.copy[1]:copy(link.copy[2]) end
    link.launches[n]:run()
    if link.band then link.band.launches[n]:run() end
end

-- Queues everything. Samples must have been queued before, and the last sums must
-- have been read.
function RowSums:take()
    self.fields:settle()
    for n = 1, #self.sources do
        for _, link in ipairs(self.chain) do sum_rows(link, n) end
    end
    for _, link in ipairs(self.chain) do
        local band = link.band
        if band then
            band.totals:download_region(self.host, band.region, band.device.stream)
        end
    end
    for k, device in ipairs(self.fields.devices) do
        self.done[k]:record()
        device.stream:flush()
    end
end

-- Waits. Returns a pointer to doubles: sum n of row j is element (n - 1) * ny + j.
function RowSums:wait()
    for _, done in ipairs(self.done) do done:wait() end
    return self.host.data
end

function RowSums:release()
    for _, link in ipairs(self.chain) do
        for _, launch in ipairs(link.launches) do launch:release() end
        if link.band then
            for _, launch in ipairs(link.band.launches) do launch:release() end
            link.band.totals:release()
        end
    end
    for _, list in ipairs { self.buffers, self.done } do
        for _, object in ipairs(list) do object:release() end
    end
    self.host:release()
end

return row_sums
