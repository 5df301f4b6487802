-- Links between ranks, on a fake libcuda whose memory other processes can open: it does what is
-- queued only when something waits, so that what is read or packed too early shows. What devices
-- are not released there ends a rank with an error.

local fails = require 'tests.fails'
local fakes = require 'tests.fakes'
local launch = require 'tests.ranks.launch'

local fake = ("LD_LIBRARY_PATH='%s/fake_cuda' FAKE_CUDA_SHARED=1 MARE_DEVICE=cuda:0 ")
    :format(fakes)

-- Each rank sends a box of its buffer to both of its neighbours on a ring. What came is kept on the
-- device and looked at in the end. Ranks are late in turn.
local ring = [[
    local mare, here = require 'mare', require 'mare.ranks.here'
    local devices, links = require 'mare.array.devices', require 'mare.links'
    local lending, system = require 'mare.links.lending', require 'bindings.system'
    local expected, rounds = ..., 6
    local rank, size = mare.ranks.rank, mare.ranks.size
    local d = devices.open 'cuda:0'[1]
    local parts = {}
    for k = 1, size do parts[k] = { index = k } end
    devices.assign(parts, { d })
    local ways = {}
    for k, part in ipairs(parts) do
        ways[k] = part.way
        if rank == size - 1 then part.way = 'staged' end    -- as if it were on another machine
    end
    assert(links.are_by_host(parts) == (expected == 'staged'))
    for k, part in ipairs(parts) do part.way = ways[k] end
    local function value(from, round, k) return 100 * from + 10 * round + k / 64 end

    local state = d:buffer { type = 'double', count = 30 }      -- 3 planes of 2 rows of 5
    local strip = { buffer = state, type = 'double', count = 12, region = { width = 16, height = 2,
        depth = 3, src_offset = 8, src_pitch = 40, src_slice = 80 } }
    local place = { 1, 2, 6, 7, 11, 12, 16, 17, 21, 22, 26, 27 }
    local list, kept = {}, {}
    for _, way in ipairs { 1, -1 } do
        local to, from = (rank + way) % size, (rank - way) % size
        assert((parts[to + 1].way or expected) == expected, parts[to + 1].way)
        list[#list + 1] = links.send(expected, strip, to, 40 + way, 'there')
        local received = links.receive(expected, { device = d, type = 'double', count = 12 },
            from, 40 + way, 'here')
        list[#list + 1] = received
        kept[#kept + 1] = { from = from, link = received,
            all = d:buffer { type = 'double', count = 12 * rounds } }
    end
    for round = 1, rounds do
        local own = {}
        for k = 0, 29 do own[k + 1] = value(rank, round, k) end
        state:upload(own)
        for _, link in ipairs(list) do link:pack() end
        if round % size == rank then system.sleep(0.02) end
        d.stream:wait()
        for _, link in ipairs(list) do link:start() end
        for _, link in ipairs(list) do link:finish() end
        for _, one in ipairs(kept) do
            one.all:copy(one.link.buffer, { offset = 12 * (round - 1), stream = d.stream })
        end
    end
    for _, one in ipairs(kept) do
        local found = one.all:totable()
        for round = 1, rounds do
            for k = 1, 12 do
                assert(found[12 * (round - 1) + k] == value(one.from, round, place[k]),
                    'round ' .. round .. ' from ' .. one.from)
            end
        end
        one.all:release()
    end

    -- Slices of volumes, of both buffers in turn.
    local v = require 'mare.volume.slabs'.new { names = { 'a', 'b' }, precision = 'double',
        count = size, devices = { d }, is_around = true, ghosts = { x = 0, y = 0, z = 0 },
        grid = mare.volume.grid { nx = 5, ny = 4, nz = 5 * size, x = { 0, 1 }, y = { 0, 1 },
            z = { 0, 1 } } }
    assert(v:transport() == links.texts[expected], v:transport())
    local slab, got = v.list[1], {}
    local count, cells = 4 * 2 * slab.plane, (slab.nz + 8) * 2 * slab.plane
    for round = 1, rounds do
        local own, which = {}, round % 2 + 1
        local buffer = slab[which == 1 and 'state' or 'scratch']
        for k = 1, cells do own[k] = value(rank, round, k - 1) end
        buffer:upload(own)
        if round % size == rank then system.sleep(0.02) end
        v:exchange(which)
        for n, first in ipairs { slab:start(0, -4), slab:start(0, slab.nz) } do
            local kept = d:buffer { type = 'double', count = count }
            kept:copy(buffer, { src_offset = first, count = count })
            got[#got + 1] = { kept, round, slab:start(0, n == 1 and slab.nz - 4 or 0),
                (rank + (n == 1 and -1 or 1)) % size }
        end
    end
    for _, one in ipairs(got) do
        local found = one[1]:totable()
        for k = 1, count do
            assert(found[k] == value(one[4], one[2], one[3] + k - 1), 'slices of ' .. one[4])
        end
        one[1]:release()
    end
    v:release()
    for k = 1, #list do list[rank % 2 == 0 and k or #list + 1 - k]:release() end
    mare.ranks.barrier()
    while lending.count() > 0 do end
    state:release()
    if rank == 0 then print('all is moved of ' .. size) end
]]

-- Ranks open buffers of each other, release their own before the others have, and have a barrier
-- where each has a GPU of its own.
local swapping = [[
    local mare, here = require 'mare', require 'mare.ranks.here'
    local barrier, lending = require 'mare.links.barrier', require 'mare.links.lending'
    local swaps, system = require 'mare.links.swap', require 'bindings.system'
    local d = require('mare.array.devices').open 'cuda:0,cuda:1'[1]
    local rank, size = here.rank, here.size
    for round = 1, 3 do
        local own, name = {}, 'of ' .. rank
        own[name] = d:buffer { type = 'int32', count = 2 }
        own[name]:upload { rank, round }
        local swap = swaps.new(d, own, { ['of ' .. (rank + 1) % size] = true, ['of 0'] = true })
        for k, from in ipairs { 0, (rank + 1) % size } do
            local found = from ~= rank and swap.opened['of ' .. from]:totable()
            assert(not found or found[1] == from and found[2] == round)
        end
        mare.ranks.barrier()
        if round % size == rank then system.sleep(0.02) end
        swap:release()
        mare.ranks.barrier()
        while lending.count() > 0 do end
    end
    local can = barrier.can_join(d)
    local joint = can and barrier.of_ranks(d)
    assert(not joint or joint:site(1).s.own == rank and #joint.words == size)
    if joint then joint:release() end
    if rank == 0 then print(size .. ' ranks can have a barrier: ' .. tostring(can)) end
]]

local launcher
launch.each(function(found) launcher = found end)

describe('links between ranks', function()
    if not launcher then return pending 'no launcher of MPI is here' end

    it('share memory of a device', function()
        local text, status = launch.run(launcher, 3, ring, 'shared', fake)
        assert.equal(0, status, text)
        fails.says(text, 'all is moved of 3')
    end)

    it('show each other memory, and have a barrier on GPUs of their own', function()
        for size, can in pairs { [2] = true, [3] = false } do
            local text, status = launch.run(launcher, size, swapping, '',
                fake .. 'MARE_BARRIER=words ')
            assert.equal(0, status, text)
            fails.says(text, ('%d ranks can have a barrier: %s'):format(size, tostring(can)))
        end
    end)

    it('go through the host where that is wanted', function()
        local text, status = launch.run(launcher, 2, ring, 'staged',
            fake .. 'MARE_TRANSPORT=staged ')
        assert.equal(0, status, text)
        fails.says(text, 'all is moved of 2')
    end)

    it('refuse another way, and tell the doctor theirs', function()
        local doctor = launch.command(launcher, 3, '', '', fake):gsub("%-e ''", 'doctor')
        local text = io.popen(doctor .. ' 2>&1'):read '*a'
        fails.says(text, 'memory of the device that two processes share: 0-1, 0-2, 1-2')
        text = io.popen(fake .. launch.mare .. ' doctor 2>&1'):read '*a'
        fails.says(text, 'cuda:0    Fake', 'reads memory of other devices in place: cuda:1',
            'reads memory of other devices in place: none')
        text = launch.run(launcher, 2, ring, 'staged', fake .. 'MARE_TRANSPORT=fast ')
        fails.says(text, 'MARE_TRANSPORT=fast', 'auto, staged')
    end)
end)
