-- overlap.lua - upload, kernel and download of a sequence of chunks: one after
-- the other on one stream, and on three streams at once, timed by events.
--     local ratio, serial_ms, overlapped_ms = require('tests.bench.overlap').measure(device)
-- The load is balanced: the kernel takes as long as a transfer. With n chunks
-- the best ratio is 3 n / (n + 2).

local record = require 'tests.bench.record'

local overlap = {}

local chunk_bytes = 32 * 2 ^ 20
local chunks, slots = 16, 4     -- a slot holds one chunk in transit

-- This runs long in a few registers, and its effect on the data can be checked.
local source = [[
MR_KERNEL void work(int n, int rounds, MR_GLOBAL real *x) {
    int i = mr_gid_x();
    if (i >= n) return;
    real a = x[i];
    for (int k = 0; k < rounds; k++) a = mr_fma(a, R(0.5), R(1.0));
    x[i] = a;
}
]]

local function make(device)
    local count = chunk_bytes / 4
    local kernel = device:program { source = source, name = 'work.krn' }:kernel 'work'
    local self = { device = device, count = count, slot = {} }
    self.streams = { up = device:stream { label = 'upload' }, run = device:stream { label = 'run' },
        down = device:stream { label = 'download' } }
    for k = 1, slots do
        local buffer = device:buffer { type = 'float', count = count, label = 'chunk' }
        local slot = { buffer = buffer, uploaded = device:event(), computed = device:event(),
            downloaded = device:event(), input = device:host { type = 'float', count = count },
            output = device:host { type = 'float', count = count } }
        slot.work = kernel:bind { n = count, rounds = 1, x = buffer, global = count }
        for i = 0, count - 1 do slot.input.data[i] = k end
        self.slot[k] = slot
    end
    return self
end

local function upload(slot, s) slot.buffer:upload(slot.input, { stream = s }) end
local function download(slot, s) slot.buffer:download { into = slot.output, stream = s } end

-- Returns the milliseconds of what queue() puts on stream s and on the streams
-- that s waits for.
local function timed(self, s, queue)
    local start, stop = self.device:event(), self.device:event()
    self.device:wait()
    start:record(s)
    queue(start)
    stop:record(s)
    return start:elapsed_ms(stop)
end

local function serial(self)
    local s = self.streams.run
    return timed(self, s, function()
        for k = 0, chunks - 1 do
            local slot = self.slot[k % slots + 1]
            upload(slot, s)
            slot.work:run(s)
            download(slot, s)
        end
    end)
end

local function overlapped(self)
    local up, run, down = self.streams.up, self.streams.run, self.streams.down
    return timed(self, down, function(start)
        up:wait_event(start)
        for k = 0, chunks - 1 do
            local slot = self.slot[k % slots + 1]
            if k >= slots then up:wait_event(slot.downloaded) end
            upload(slot, up)
            slot.uploaded:record(up)
            up:flush()
            run:wait_event(slot.uploaded)
            slot.work:run(run)
            slot.computed:record(run)
            run:flush()
            down:wait_event(slot.computed)
            download(slot, down)
            slot.downloaded:record(down)
            down:flush()
        end
    end)
end

-- Sets the rounds so that the kernel takes as long as the slower transfer.
local function balance(self)
    local s, slot = self.streams.run, self.slot[1]
    local function time(f)
        local ms = {}
        for k = 1, 4 do ms[k] = timed(self, s, f) end
        return math.min(unpack(ms))
    end
    local target = math.max(time(function() upload(slot, s) end),
        time(function() download(slot, s) end))
    local function work(rounds)
        for _, each in ipairs(self.slot) do each.work:set('rounds', rounds) end
        return time(function() slot.work:run(s) end)
    end
    local few, many = work(1000), work(3000)
    work(math.max(1, math.floor(2000 * (target - few) / (many - few) + 1000)))
end

local function check(self)
    for k, slot in ipairs(self.slot) do
        for _, i in ipairs { 0, self.count - 1 } do     -- many rounds converge to 2 from any value
            local value = slot.output.data[i]
            if math.abs(value - 2) > 0.01 then
                error(('chunk %d holds %g, not 2'):format(k, value))
            end
        end
    end
end

-- Returns how many times faster three streams are than one, the median of
-- paired runs.
function overlap.measure(device)
    local self = make(device)
    balance(self)
    serial(self)
    overlapped(self)
    local ratios, one, three = {}, {}, {}
    for k = 1, 7 do
        one[k], three[k] = serial(self), overlapped(self)
        ratios[k] = one[k] / three[k]
    end
    check(self)
    return record.median(ratios), record.median(one), record.median(three)
end

return overlap
