-- calls.lua - makes all the calls of mare.ranks on every rank. Raises on a rank whose answer is
-- wrong; rank 0 says how far it came.

local mare, ffi = require 'mare', require 'ffi'
local ranks = mare.ranks
local rank, size = ranks.rank, ranks.size
local function same(what, found, wanted)
    if found == wanted or found ~= found and wanted ~= wanted then return end
    error(('%s: %s, not %s'):format(what, tostring(found), tostring(wanted)), 2)
end
local next_rank, before = (rank + 1) % size, (rank - 1) % size

local mixed = '\0\1\r\n"\\\255'
local got = ranks.exchange(next_rank, { who = rank, text = mixed, { 1 / 3 } }, before)
same('who', got.who, before)
same('text', got.text, mixed)
same('number', got[1][1], 1 / 3)

local d = mare.device.open 'null'
local pinned = d:host { type = 'float', count = 5 }
for i = 0, 4 do pinned.data[i] = rank + i / 8 end
local row = ranks.exchange(next_rank, pinned, before)
same('type', row.type, 'float')
same('length', #row, 5)
same('element', row[4], before + 0.5)
local place = ffi.new 'float[5]'
same('into', ranks.exchange(next_rank, pinned, before, { into = place }), place)
same('placed', place[3], before + 0.375)
local staged = d:buffer { type = 'float', count = 5 }
local other = d:buffer { type = 'float', count = 5 }
staged:upload(pinned)
ranks.exchange(next_rank, staged, before, { into = other, tag = 7 })
same('staged', other:download()[1], before + 0.125)
local large = ffi.new('double[?]', 300000)
for i = 0, 299999 do large[i] = i * rank end
local arrived = ranks.exchange(next_rank, large, before)
for i = 0, 299999 do same('large', arrived[i], i * before) end

local box = mare.arange(12, { device = 'null' }):reshape(3, 4):to 'double' + rank / 8
local came = ranks.exchange(next_rank, box, before)
same('box', table.concat(came.shape, ' ') .. came.type, '3 4double')
same('of a box', came:at(2, 3), 11 + before / 8)
same('whole box', ranks.exchange(next_rank, mare.array({ true }):bool(), before):at(0), true)
same('view', ranks.exchange(next_rank, box:transpose() { 1 }, before):at(2), 9 + before / 8)
local kept = mare.zeros({ 3, 4 }, { type = 'double', device = 'null' })
same('into a box', ranks.exchange(next_rank, box, before, { into = kept }), kept)
same('in a box', kept:at(0, 1), 1 + before / 8)
same('sum of boxes', ranks.reduce(box, 'sum'):at(1, 0), 4 * size + size * (size - 1) / 16)

local drawn = mare.divide('null').rand({ 1000, 5 }, { seed = 3 })
local alone = mare.rand({ 1000, 5 }, { seed = 3, device = d })
for _, axis in ipairs { 0, 1 } do
    local sums, wanted = (drawn * drawn):sum { axis = axis }, (alone * alone):sum { axis = axis }
    same('sums of divided arrays', table.concat(sums:totable(), ' '),
        table.concat(wanted:totable(), ' '))
end
same('place in a divided array', drawn:argmax():item(), alone:argmax():item())
same('each of one type', drawn:each(function(own) return 2 * own end).type, 'float')
if size > 1 then
    local _, found = pcall(drawn.each, drawn, function(own)
        return rank == size - 1 and own:double() or own
    end)
    local wanted = ('each: rank 0 makes float { 1000, 5 }, rank %d double { 1000, 5 }'):format(
        size - 1)
    same('each of two types: ' .. tostring(found), tostring(found):find(wanted, 1, true) ~= nil,
        true)
end

do
    local function transform(x)
        local y = mare.fft.fft2(x:complex(1 - x))
        return (type(y) == 'table' and y:gather() or y):abs():flatten():totable()
    end
    same('transforms of divided arrays', table.concat(transform(drawn), ' '),
        table.concat(transform(alone), ' '))
end

for root = 0, size - 1 do
    same('broadcast box', ranks.broadcast(rank == root and box or nil, root):at(0, 3), 3 + root / 8)
    same('broadcast', ranks.broadcast(rank == root and root + 0.25 or nil, root), root + 0.25)
    local all = ranks.gather('r' .. rank, root)
    same('gathers', all and #all or 0, rank == root and size or 0)
    for k, text in ipairs(all or {}) do same('gathered', text, 'r' .. k - 1) end
end
same('nothing', ranks.broadcast(nil), nil)

same('sum', ranks.reduce(rank + 1, 'sum'), size * (size + 1) / 2)
same('max', ranks.reduce({ rank, -rank }, 'max')[1], size - 1)
same('min', ranks.reduce({ rank, -rank }, 'min')[2], 1 - size)
local sums = ranks.reduce(pinned, 'sum')
same('sum of floats', sums[1], size * (size - 1) / 2 + size / 8)
local total = 0
for k = 0, size - 1 do total = total + 0.1 * k end
same('order of a sum', ranks.reduce(0.1 * rank, 'sum'), total)
for bad = 0, size - 1 do
    for _, nan in ipairs { 0 / 0, -(0 / 0) } do
        local mine = rank == bad and nan or rank + 1
        same('nan in max', ranks.reduce(mine, 'max'), 0 / 0)
        same('nan in min', ranks.reduce(mine, 'min'), 0 / 0)
        same('nan in largest', ranks.largest(mine), 0 / 0)
    end
end
same('largest', ranks.largest(rank / 3), (size - 1) / 3)
same('largest of zeros', ranks.largest(-0), 0)
same('infinity', ranks.largest(rank == 0 and 1 / 0 or 1), 1 / 0)

if size > 1 and rank > 0 then ranks.send(0, rank, { tag = 3 }) end
if rank == 0 then
    local seen = 0
    for _ = 2, size do
        local value, from = ranks.receive(nil, { tag = 3 })
        same('any rank', value, from)
        seen = seen + value
    end
    same('all of them', seen, size * (size - 1) / 2)
end
same('interrupted', ranks.interrupted(), false)
same('local size', ranks.local_size, size)
same('local rank', ranks.local_rank, rank)

-- A part of the work that each does as if it were alone.
local here = require 'mare.ranks.here'
same('alone', here.alone(function(a) return here.size + here.broadcast(a) end, rank), 1 + rank)
same('an error alone', select(2, pcall(here.alone, error, 'mine')), 'mine')
same('together again', here.size, size)

ranks.barrier()
if rank == 0 then print('all is well of ' .. size) end
