-- Arrays that are brought to another device of this process: from memory to memory where the device
-- reaches the other's, else through the host.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local memory = require 'mare.expression.memory'
local reach = require 'mare.links.reach'

-- Copies a cell's memory, behind what is queued on its device, and before what will be.
local function copy_in_order(to, from, device, own, bytes)
    local written, copied = own:event(), device:event()
    written:record(own.stream)
    device.stream:wait_event(written)
    bound.copy(to, from, bytes)
    copied:record(device.stream)
    own.stream:wait_event(copied)
    written:release()
    copied:release()
end

-- Returns an array on a device: the same one, or a copy.
return function(a, device)
    local own = array.node(a).device
    if own == device then return a end
    local leaf = array.leaf(a, 'divided')
    if leaf.strides or leaf.offset ~= 0 or leaf.shape.count == 0 or not reach(device, own) then
        return array.drop(leaf, a:to(device))
    end
    local version = memory.new(device, leaf.type, leaf.shape.count)
    copy_in_order(version.cell, leaf.version.cell, device, own,
        leaf.shape.count * leaf.type.size)
    return array.drop(leaf, array.of_version(version, leaf.shape))
end
