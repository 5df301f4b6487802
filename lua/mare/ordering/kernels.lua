-- The kernels of kernels/ordering/ by device and defines, and their launches.

local bound = require 'bindings.array'
local launches = require 'mare.expression.launches'
local nodes = require 'mare.expression.nodes'
local evaluate = require 'mare.expression.evaluate'
local errors = require 'bindings.errors'
local source = require 'mare.base.source'
local straight = require 'mare.expression.straight'
local tables = require 'bindings.tables'
local types = require 'mare.expression.types'

local kernels = {}

-- Whether kernels work in groups, as on a GPU. nil: unless the device is a processor; tests set it
kernels.in_groups = nil

-- Whether groups may wait for groups that began before them. nil: on CUDA; tests set it
kernels.may_wait = nil

kernels.group = 256     -- work-items that work together

function kernels.by_groups(device)
    if kernels.in_groups ~= nil then return kernels.in_groups end
    return device.info.kind ~= 'cpu'
end

-- Returns whether a kernel whose groups wait for each other can be used.
function kernels.can_wait(device)
    if not (kernels.by_groups(device) and device.info.has_scopes) then return false end
    if kernels.may_wait ~= nil then return kernels.may_wait end
    return device.name:find '^cuda' ~= nil
end

-- Returns the type that elements of a type are computed in.
function kernels.computed(type)
    return type.stored == 'mr_half' and types.float or type
end

-- The unsigned type of the size of an element.
local words = { [1] = 'uchar', [2] = 'ushort', [4] = 'uint', [8] = 'ulong', [16] = 'two_words' }

-- Returns the defines of elements.h for elements of a type that are computed in another one, and
-- more of them. Raises an error if the device has no doubles and they are wanted.
function kernels.defines(device, type, computed, more)
    if not device.info.has_double and (type.computed == 'double' or computed.computed == 'double')
    then
        errors.argument('%s computes no doubles: convert to float', device.name)
    end
    return tables.merged({ TYPE = type.stored, VALUE = computed.stored,
        WORD = words[type.size], HALVES = type.stored == 'mr_half' and 1 or 0,
        IN_GROUPS = kernels.by_groups(device) and 1 or 0,
        GROUP = kernels.by_groups(device) and kernels.group or 1 }, more)
end

local programs = setmetatable({}, launches.by_device)

local function program_of(device, file, key, defines, text)
    local kept = tables.under(tables.under(programs, device), kernels.by_groups(device))
    local name = file .. ' ' .. key
    if not kept[name] then
        kept[name] = { launches = {}, program = launches.program(device, source.text(
            text or source.read(file), file, { math = 'strict', defines = defines() })) }
        launches.compiled = launches.compiled + 1
    end
    return kept[name]
end

-- Returns { entry, launch, handle } of a kernel. key: what the defines depend on, besides
-- the device; defines(): returns them; text: that of the file, if it is changed
function kernels.of(device, file, entry, key, defines, text)
    local kept = program_of(device, file, key, defines, text)
    local found = kept.launches[entry]
    if not found then
        found = launches.begin({ entry = kept.program:kernel(entry) }, device)
        kept.launches[entry] = found
    end
    return launches.ready(found, device)
end

-- Sets arguments from number `at` on: versions, then numbers. Returns the number of the next.
local function set_arguments(kernel, at, given)
    local handle, count = kernel.handle, #given.memories
    for k, version in ipairs(given.memories) do
        launches.set_memory(kernel, at + k - 1, version)
    end
    for k, value in ipairs(given.numbers) do bound.set_number(handle, at + count + k - 1, value) end
    return at + count + #given.numbers
end

-- Queues a kernel. memories, numbers: its arguments, which stand in this order;
-- x: work-items; group: those of a group; more: { memories, numbers } that follow
function kernels.run(kernel, device, memories, numbers, x, group, more)
    local handle, count = kernel.handle, #memories
    local at = set_arguments(kernel, 0, { memories = memories, numbers = numbers })
    if more then set_arguments(kernel, at, more) end
    bound.set_shape(handle, x, 1, group, 1)
    launches.queue(kernel)
    straight.let_go(kernel, device, count - 1)
    if more then straight.let_go(kernel, device, at + #more.memories - 1, at) end
end

local group, least, most = kernels.group, 4096, 2 ^ 20

-- Returns the work-items and the group of a kernel that goes over `count` elements by
-- EACH_ELEMENT. share: least elements of a work-item of a CPU (4096)
function kernels.shape(device, count, share)
    if kernels.by_groups(device) then
        return math.min(math.ceil(count / group), most) * group, group
    end
    return math.max(1, math.min(math.ceil(count / (share or least)),
        8 * device.info.compute_units)), 1
end

-- Returns the same for a kernel in which a group, or a work-item of a CPU, takes each of `count`
-- blocks.
function kernels.blocks(device, count)
    if kernels.by_groups(device) then return math.min(count, most) * group, group end
    return math.min(count, 8 * device.info.compute_units), 1
end

-- Returns a contiguous leaf with the values of a node: its elements lie one after another from the
-- beginning of its memory. It is held; the reference to the node is given up for it.
function kernels.contiguous(node)
    if node.op then evaluate.node(node) end
    if node.version and not node.strides and node.offset == 0 then return node end
    local copy = evaluate.copied(node)
    nodes.release(node)
    return copy
end

return kernels
