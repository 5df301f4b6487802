-- Sums the rows of the grid, or finds the largest size in each, on the devices and without stopping
-- them. The order of every sum follows from the whole grid, so its bits do not depend on how the
-- grid is split: a part continues the sums of a row where its western neighbour has left them
-- (kernels/array/sums.krn), be it on another device or rank. One number per row comes to the host,
-- on all ranks.

local collection = require 'mare.ranks.collection'
local constants = require 'mare.base.constants'
local crossing = require 'mare.links.crossing'
local map = require 'mare.array.map'
local pieces = require 'mare.array.pieces'
local source = require 'mare.base.source'
local staged = require 'mare.links.staged'

local row_sums = {}

local RowSums = {}
RowSums.__index = RowSums

-- Binds the launches that sum a part, one for each source.
local function bind_sums(self, piece, sums)
    local launches = {}
    for n, from in ipairs(self.sources) do
        local origin, stride = from.values:place(piece.state, from.field)
        launches[n] = map.new(self.fields, { pieces = { piece }, program = self.program,
            kernel = 'row_sums', global = function() return { constants.SUM_WIDTH, piece.rows } end,
            values = { src = from.values, origin = origin, stride = stride, west = piece.column,
                sums = sums } })
    end
    return launches
end

-- Makes what brings the sums of each row of parts to all ranks. Their last parts
-- have them.
local function new_ends(self)
    local boxes, ny, count = {}, self.fields.grid.ny, #self.sources
    for _, s in ipairs(self.fields.of_part) do
        local part = s.part
        if part.edge.east then
            boxes[#boxes + 1] = { rank = part.rank, width = 8 * part.ny, height = count, depth = 1,
                dst_offset = 8 * part.j0, dst_pitch = 8 * ny, dst_slice = 0 }
            self.end_of[part.index] = #boxes
        end
    end
    self.ends = collection.new(boxes, 8 * count * ny, true)
end

-- Makes what the last part of a row of parts does: { totals of each sum, launches,
-- region on the host }.
local function new_end(self, piece, sums)
    local s, rows, count = piece.state, piece.rows, #self.sources
    local place = self.ends:region(self.end_of[s.part.index])
    local last = { device = s.device, launches = {},
        totals = s.device:buffer { type = 'double', count = count * rows, label = 'integrals' },
        region = { width = 8 * rows, height = count, src_pitch = 8 * rows,
            dst_pitch = place.dst_pitch, dst_offset = place.dst_offset } }
    for n = 1, count do
        last.launches[n] = map.new(self.fields, { pieces = { piece }, program = self.program,
            kernel = 'row_totals', global = function() return rows end,
            values = { sums = sums, rows = rows, totals = last.totals, first = (n - 1) * rows } })
    end
    return last
end

local first_tag = 2 ^ 14        -- of messages between ranks

-- Makes what brings the sums from, or to, a neighbour on another rank.
local function new_link(self, s, side, sums)
    local other = self.fields.of_part[s.part.neighbours[side]]
    if s.part.edge[side] or not other:is_elsewhere() then return nil end
    local strip = { buffer = sums, device = s.device, type = 'double', count = sums.count }
    if side == 'east' then
        return staged.send(strip, other.rank, first_tag + other.part.index, 'integrals')
    end
    return staged.receive(strip, other.rank, first_tag + s.part.index, 'integrals')
end

-- Makes what each part does, from west to east: { launches, copy = of a crossing if
-- its western neighbour is on another device, receive and send if that and the
-- eastern one are on other ranks, last = of new_end if it is the last of its row }.
local function new_chain(self)
    local sums, last
    for k, piece in ipairs(pieces.whole(self.fields.states)) do
        local s, copy = piece.state, nil
        if s.part.edge.west or not s:is_on(last) then
            local before = not s.part.edge.west and sums
            sums = s.device:buffer { type = 'double', count = constants.SUM_WIDTH * piece.rows,
                label = 'integrals' }
            self.buffers[#self.buffers + 1] = sums
            copy = before and crossing.new(sums, before, 'copy')
        end
        last = s.device
        self.chain[k] = { launches = bind_sums(self, piece, sums), copy = copy, device = s.device,
            receive = new_link(self, s, 'west', sums), send = new_link(self, s, 'east', sums),
            last = s.part.edge.east and new_end(self, piece, sums) or nil }
    end
end

-- Allocates and binds everything. sources: { { values = fields or samples, field =
-- the name of one in them }, ... }; most: whether the largest sizes are wanted, not sums
function row_sums.new(fields, sources, most)
    local self = setmetatable({ fields = fields, sources = sources, chain = {}, buffers = {},
        done = {}, end_of = {}, program = source.program('array/sums.krn', {
            defines = { MARE_REAL = fields.precision, MOST = most and 1 or 0 } }) }, RowSums)
    self.host = fields:host { type = 'double', count = #sources * fields.grid.ny,
        label = 'integrals' }
    for k, device in ipairs(fields.devices) do self.done[k] = device:event() end
    new_ends(self)
    new_chain(self)
    return self
end

-- Receives what a part on another rank has summed.
local function receive(link)
    link.device.stream:wait()
    link.receive:start()
    link.receive:finish()
end

-- Sends what has been summed on. Waits for the device.
local function send(link)
    link.send:pack()
    link.device.stream:wait()
    link.send:start()
end

-- Queues the sums of source n over the rows of a part.
local function sum_rows(link, n)
    if link.copy then link.copy:run() end
    if link.receive then receive(link) end
    link.launches[n]:run()
    if link.send then send(link) end
    if link.last then link.last.launches[n]:run() end
end

-- Waits until other ranks have the sums that were sent. A long message moves on only while its
-- sender makes calls of MPI. If this rank waited for its device instead, which waits at a barrier
-- for the rank that wants the message, none of the three would go on.
local function settle(self)
    for _, link in ipairs(self.chain) do
        if link.send then link.send:settle() end
    end
end

-- Queues everything. Samples must have been queued before, and the last sums must
-- have been read.
function RowSums:take()
    self.fields:settle()
    self.is_due = true
    for n = 1, #self.sources do
        for _, link in ipairs(self.chain) do sum_rows(link, n) end
    end
    for _, link in ipairs(self.chain) do
        local last = link.last
        if last then
            last.totals:download_region(self.host, last.region, last.device.stream)
        end
    end
    for k, device in ipairs(self.fields.devices) do
        self.done[k]:record()
        device.stream:flush()
    end
    settle(self)
end

-- Waits. Returns a pointer to doubles: sum n of row j is element (n - 1) * ny + j.
function RowSums:wait()
    for _, done in ipairs(self.done) do done:wait() end
    if self.is_due then self.ends:run(self.host:pointer()) end
    self.is_due = false
    return self.host:pointer()
end

function RowSums:release()
    for _, link in ipairs(self.chain) do
        for _, launch in ipairs(link.launches) do launch:release() end
        for _, way in ipairs { 'copy', 'receive', 'send' } do
            if link[way] then link[way]:release() end
        end
        if link.last then
            for _, launch in ipairs(link.last.launches) do launch:release() end
            link.last.totals:release()
        end
    end
    for _, list in ipairs { self.buffers, self.done } do
        for _, object in ipairs(list) do object:release() end
    end
    self.host:release()
end

return row_sums
