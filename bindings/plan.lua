-- plan.lua - work recorded once and replayed with one call.
--
--     local plan = d.stream:record(function()
--         halo:run()
--         sweep:run()
--     end)
--     sweep:set('dt', 0.1)        -- changes the next replay
--     plan:run(1000)
--
-- Inside the function nothing runs: launches, calls, copies, fills, queued transfers, event records
-- and plans on this stream become part of the plan. Changing a launch later changes the plan.
--
-- Other streams, those of other devices too, become branches of the plan by stream:join(other):
--
--     local plan = a.stream:record(function()
--         a.stream:join(b.stream)
--         first:run(a.stream)                     -- on device a
--         done:record(a.stream)                   -- an event of a
--         b.stream:wait_event(done)
--         second:run(b.stream)                    -- on device b
--     end)

local mare = require 'bindings.ffi'
local anchors = require 'bindings.anchors'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local signal = require 'bindings.signal'
local stream = require 'bindings.stream'

local C, check = mare.C, mare.check
local class = handle.class('plan', 'mare_plan', C.mare_plan_release)
local plan = class.methods
local M = { handle = class.handle }

-- stream:record(f, [label]): an error in f throws the recording away and passes on.
function M.record(self, f, label)
    if type(f) ~= 'function' then
        errors.argument('stream:record: a function is wanted, not %s', type(f))
    end
    if label ~= nil then errors.wanted('stream:record: label', 'string', label) end
    local owner = class.own()
    check(C.mare_plan_begin(self.handle))
    anchors.record(self)
    local ok, failure = pcall(f)
    local kept = anchors.finish(self)
    if not ok then
        check(C.mare_plan_end(self.handle, nil, nil))
        error(failure, 0)
    end
    check(C.mare_plan_end(self.handle, label, owner))
    return class.wrap(owner, { label = label or 'plan', device = self.device, kept = kept })
end

-- stream:join(other), while the stream records: from now on the recording takes what is queued on
-- `other`, too, a stream of the same device or of another of its back end; up to 64. Branches run
-- beside each other but for the events that they record and wait for; such a plan is no part of
-- another.
function M.join(self, other)
    check(C.mare_plan_join(self.handle, stream.handle(other, 'stream:join')
        or errors.argument('stream:join: a stream is wanted, not nil')))
    anchors.join(self, other)
end

local function check_count(count)
    if type(count) ~= 'number' or count < 0 or count % 1 ~= 0 or count >= 2^32 then
        errors.argument('plan:run: count: a whole number from 0 below 2^32 is wanted, not %s',
                        tostring(count))
    end
end

-- Queues everything `count` times (once if not given), on any stream of the device. With 0 it
-- queues nothing, but makes ready what a first run would have to.
function plan:run(count, s)
    if count == nil then count = 1 else check_count(count) end
    local status = C.mare_plan_run(self.handle, count, stream.handle(s, 'plan:run'))
    if status ~= 0 then check(status) end
    if self.kept then anchors.keep(s or self.device.stream, self.kept) end
    if signal.came[0] ~= 0 then signal.heed() end
end

local release = plan.release

-- Gives the plan back, and what it keeps.
function plan:release()
    self.kept = nil
    release(self)
end

class.on_call(plan.run)
stream.methods.record, stream.methods.join = M.record, M.join

return M
