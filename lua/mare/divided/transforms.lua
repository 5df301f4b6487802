-- Fourier transforms of divided arrays. Along other axes than the first one each share transforms
-- its own rows; for the first axis the array is divided along the second one meanwhile, and back.

local errors = require 'bindings.errors'
local fft = require 'mare.fft'
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

-- Returns the steps { function of mare.fft, number of the axis among those that are named }, in the
-- order of one device: see fft/plan.lua.
local function steps_of(transform, count)
    local steps = {}
    local is_inverse = transform == 'ifft' or transform == 'irfft'
    for k = count, 1, -1 do steps[#steps + 1] = { is_inverse and 'ifft' or 'fft', k } end
    if transform == 'rfft' then steps[1][1] = 'rfft' end
    if transform == 'irfft' then
        table.remove(steps, 1)
        steps[count] = { 'irfft', count }
    end
    return steps
end

function plans.divided(what, transform, x, given, axes)
    if given.load or given.store then
        errors.argument('%s: functions load and store are not for divided arrays', what)
    end
    axes = type(axes) == 'number' and { axes } or { unpack(axes) }
    local lengths, seen = type(given.n) == 'number' and { given.n } or given.n or {}, {}
    for k, axis in ipairs(axes) do
        local along = shapes.axis(x.shape, axis, what)
        if seen[along] then errors.argument('%s: axis %d is named twice', what, along) end
        axes[k], seen[along] = along, true
    end
    for _, step in ipairs(steps_of(transform, #axes)) do
        local name, k = unpack(step)
        local function f(a)
            return (fft[name](a, { axes = axes[k], n = lengths[k], norm = given.norm,
                backend = given.backend }))
        end
        x = axes[k] == 0 and along_rows(what, x, f) or x:each(f)
    end
    return x
end
