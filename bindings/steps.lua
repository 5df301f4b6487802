-- steps.lua - queues work of a library's functions, whatever their arguments: see mare_call_steps
-- in mare.h.
--
--     local set = { name = 'cublasSetStream_v2', run = library.cublasSetStream_v2,
--         words = { handle, steps.queue } }
--     steps.run(d, 'product', { set, ... }, { x, y })      -- x, y: the buffers that it takes
--
-- words: whole numbers and pointers, in their order. steps.queue becomes the native queue,
-- steps.queue_address the address of it, and { 'float', 1.5 } the address of that number, which is
-- a multiple of 16: cuBLAS reads a complex double at once. reals: { 'float', 1, 0 }, up to two
-- numbers that are passed as themselves. Names are constants of the caller, since C keeps their
-- address.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local anchors = require 'bindings.anchors'
local call = require 'bindings.call'

local M = { queue = {}, queue_address = {} }

local most = 4
ffi.cdef(([[
typedef struct mare_step_list {
    mare_steps all;
    mare_step steps[%d];
    __attribute__((aligned(16))) double numbers[%d][2];     /* whose addresses are words */
    int32_t count;              /* of these */
} mare_step_list;
]]):format(most, 2 * most))

-- Returns the address of numbers of a type, { type, number, ... }, in a list.
local function place(list, given)
    local to = ffi.cast(given[1] .. ' *', list.numbers[list.count])
    for k = 2, #given do to[k - 2] = given[k] end
    list.count = list.count + 1
    return to
end

local function set_word(list, step, at, word)
    if word == M.queue or word == M.queue_address then
        step.queue_at, step.by_address = at, word == M.queue_address and 1 or 0
    elseif type(word) == 'number' then
        step.words[at] = ffi.cast('int64_t', word)
    else
        local address = type(word) == 'table' and place(list, word) or word
        step.words[at] = ffi.cast('uintptr_t', address)
    end
end

local function set_step(list, step, given)
    step.name, step.queue_at = given.name, -1
    step['function'] = ffi.cast('void *', given.run)
    for at, word in ipairs(given.words) do set_word(list, step, at - 1, word) end
    local reals = given.reals or {}
    for k = 2, #reals do ffi.cast(reals[1] .. ' *', step.reals + (k - 2))[0] = reals[k] end
end

-- Queues up to four steps, one after the other, on a stream (nil: the default one of the device).
-- Raises what a function returns that is not 0.
function M.run(device, label, steps, buffers, stream)
    stream = stream or device.stream
    local list = ffi.new 'mare_step_list'
    list.all.steps, list.all.count = list.steps, math.min(#steps, most)
    for k = 1, tonumber(list.all.count) do set_step(list, list.steps[k - 1], steps[k]) end
    local made = call.create(device, { label = label, run = mare.C.mare_call_steps, data = list,
        buffers = buffers })
    mare.check(mare.C.mare_call_run(made.handle, stream.handle))
    -- Only a plan runs it again; otherwise the numbers have been read by now.
    if not anchors.mark(stream) then anchors.keep(stream, list) end
    made:release()
end

return M
