-- boxes.lua - arrays on devices (mare.array) in messages. They arrive with their type and
-- shape on the device that arrays take there, or in an array of one's own.

local bound = require 'bindings.array'
local errors = require 'bindings.errors'
local message = require 'bindings.message'
local public = require 'mare.base.public'

local boxes = { is = bound.is }

-- Returns the parcel of an array. Waits for its device.
function boxes.pack(what, array)
    return message.of_box(what, array:data(), array.shape)
end

-- Returns an array of these sizes. host: its elements; device: nil for the usual one
function boxes.make(host, sizes, device)
    return public.table().array(host, { device = device }):reshape(unpack(sizes))
end

function boxes.unpack(parcel)
    local sizes, flat = message.opened(parcel)
    return boxes.make(message.array(flat), sizes)
end

local function describe(type_name, sizes)
    local shape = sizes[1] and ('{ %s }'):format(table.concat(sizes, ', ')) or '{}'
    return type_name .. ' of shape ' .. shape
end

-- Puts what came from a rank into an array of the same type and shape.
function boxes.put(what, parcel, into, from)
    local own, sizes, flat = describe(into.type, into.shape), nil, parcel
    if message.is_box(parcel) then sizes, flat = message.opened(parcel) end
    local came = sizes and describe(message.type_name(flat), sizes) or message.describe(parcel)
    if came ~= own then
        errors.argument('%s: rank %d sends %s, into is %s', what, from, came, own)
    end
    into:assign(boxes.make(message.array(flat), sizes, into.device))
end

return boxes
