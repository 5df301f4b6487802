-- Fourier transforms of divided arrays. Along other axes than the first one each share transforms
-- its own rows; for the first axis the array is divided along the second one meanwhile, and back.

local array = require 'mare.ndarray.array'
local errors = require 'bindings.errors'
local handles = require 'mare.divided.handles'
local here = require 'mare.ranks.here'
local ndarray = require 'mare.ndarray'
local plans = require 'mare.fft.plan'
local ranks = require 'mare.ranks'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

-- ---- who has which elements ----

-- Returns the range of share k along an axis of n elements that is divided.
local function range_of(group, n, k)
    return handles.first_row(n, group.count, k), handles.first_row(n, group.count, k + 1)
end

-- Returns a view of the elements of a range along an axis, counted from 1.
local function slice(a, axis, low, high)
    local places = {}
    for k = 1, axis do places[k] = {} end
    places[axis] = { low, high }
    return a(places)
end

-- Returns what share `from` has for share `to`, on the device of the latter, where this rank has
-- the latter; nil if it is nothing. piece(own, k): a copy of what share k gets of an array; has(i,
-- k): whether there is something
local function brought(group, own, from, to, device, piece, has)
    if here.size == 1 then
        return has(from, to) and handles.moved(piece(own[from], to), device)
    elseif from == to then
        return has(from, to) and piece(own[from], to)
    end
    local receiver = (2 * to - from) % group.count          -- as far away as the sender
    local value = has(to, receiver) and piece(own[to], receiver):eval() or 0
    local got = ranks.exchange(receiver, value, from)
    return has(from, to) and handles.moved(got, device)
end

-- Returns the arrays of the shares of an array that is divided along one axis, by index, as those
-- of the same array divided along another axis. list: by index
local function redivided(group, list, shape, from_axis, to_axis)
    local made = {}
    local function size(axis, k)
        local low, high = range_of(group, shape[axis], k)
        return high - low
    end
    local function has(i, k) return size(from_axis, i) > 0 and size(to_axis, k) > 0 end
    local function piece(own, k)
        return slice(own, to_axis, range_of(group, shape[to_axis], k)):copy()
    end
    for _, own in ipairs(group.own_devices) do
        local sizes = { unpack(shape) }
        sizes[to_axis] = size(to_axis, own.index)
        local whole = ndarray.zeros(sizes, { type = list[own.index].type, device = own.device })
            :eval()
        for step = 0, group.count - 1 do
            local i = (own.index - step) % group.count
            local part = brought(group, list, i, own.index, own.device, piece, has)
            if part then
                local low, high = range_of(group, shape[from_axis], i)
                slice(whole, from_axis, low, high):assign(part)
            end
        end
        made[own.index] = whole
    end
    return made
end

-- ---- transforms ----

-- Transforms along the first axis. f(a): the transform of an array on one device
local function along_rows(what, x, f)
    local group, shape, list = x.group, x.shape, {}
    if shape.rank == 1 then
        errors.argument('%s: a divided array with one axis has no other one to be divided along: '
            .. ':gather() makes one array', what)
    end
    for _, share in ipairs(x.shares) do list[share.index] = share.array end
    list = redivided(group, list, shape, 1, 2)
    local type, sizes
    for k, own in pairs(list) do
        list[k] = f(own):eval()
        type, sizes = list[k].type, { unpack(shape) }
        sizes[1] = list[k].shape[1]
    end
    local result = shapes.of(sizes, #sizes)
    list = redivided(group, list, result, 2, 1)
    return handles.made(group, { shape = result, type = types[type] }, function(share)
        return list[share.index]
    end)
end

-- Returns parts { transform, axes: some that are named, by number; is_first: whether that is the
-- first one of the array }, in the order of one device, see fft/plan.lua. Axes that follow each
-- other, and are not the first one, are one part.
local function parts_of(transform, axes)
    local list, count = {}, #axes
    local is_real = transform == 'rfft' or transform == 'irfft'
    local plain = (transform == 'ifft' or transform == 'irfft') and 'ifft' or 'fft'
    local function add(k)
        local is_first, last = axes[k] == 1, list[#list]
        local name = is_real and k == count and transform or plain
        if not last or is_first or last.is_first then
            last = { transform = name, axes = {}, is_first = is_first }
            list[#list + 1] = last
        end
        if transform == 'irfft' and k == count then
            last.transform = name
            table.insert(last.axes, k)
        else
            table.insert(last.axes, 1, k)
        end
    end
    if transform ~= 'irfft' then add(count) end
    for k = count - 1, 1, -1 do add(k) end
    if transform == 'irfft' then add(count) end
    return list
end

-- Returns a function that does a part of a transform of shares of an array of `count` elements.
-- desc: of plans, with axes counted from 1
local function part_of(desc, part, count)
    return function(a)
        local node, own = array.hold(a, desc.what), {}
        for name, value in pairs(desc) do own[name] = value end
        own.shape, own.type, own.device = node.shape, node.type, node.device
        own.transform, own.axes, own.n = part.transform, {}, {}
        for k, number in ipairs(part.axes) do
            own.axes[k], own.n[k] = desc.axes[number] - 1, desc.n[number]
        end
        own.share = { many = count / math.max(1, node.shape.count), is_of_columns = part.is_first,
            scale = part.scale }
        return array.drop(node, plans.of(own)(a))
    end
end

function plans.divided(what, transform, x, given, axes)
    if given.load or given.store then
        errors.argument('%s: functions load and store are not for divided arrays', what)
    end
    local desc = { what = what, transform = transform, shape = x.shape, type = types[x.type],
        axes = axes, n = given.n, norm = given.norm, backend = given.backend }
    local scale
    desc.axes, desc.n, scale = plans.checked(desc)
    local parts = parts_of(transform, desc.axes)
    for k, part in ipairs(parts) do
        part.scale = k == #parts and scale or 1
        local f = part_of(desc, part, x.shape.count)
        x = part.is_first and along_rows(what, x, f) or x:each(f)
    end
    return x
end
