-- Transforms by cuFFT, where a script asks for backend = 'cufft': of neighbouring axes, up to
-- three, which are the last ones of an array or the first ones.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local cufft = require 'bindings.cufft'
local errors = require 'bindings.errors'
local nodes = require 'mare.expression.nodes'
local types = require 'mare.expression.types'

local library = {}

local backends = { own = true, cufft = true }

-- Returns the first and the last of the axes, counted from 1, which are neighbours.
local function range_of(what, shape, axes)
    local first, last = axes[1], axes[1]
    for _, along in ipairs(axes) do first, last = math.min(first, along), math.max(last, along) end
    local outer, inner = 1, 1
    for k = 1, first - 1 do outer = outer * shape[k] end
    for k = last + 1, shape.rank do inner = inner * shape[k] end
    if last - first + 1 ~= #axes or #axes > 3 or outer > 1 and inner > 1 then
        errors.argument("%s: backend 'cufft' takes up to three axes that are neighbours, the first "
            .. 'or the last ones of %s', what, tostring(shape))
    end
    return first, last, outer, inner
end

-- Returns one side of a plan of cuFFT: how the numbers of an array of this shape lie.
local function side_of(shape, first, last, inner)
    local sizes, points = {}, 1
    for k = first, last do
        sizes[#sizes + 1], points = shape[k], points * shape[k]
    end
    return { sizes = sizes, stride = inner, apart = inner > 1 and 1 or points }
end

-- Checks what is given to a plan, whose steps are known. Returns nil if Mare's own kernels do it.
-- given: { what, backend, transform, axes: from 1, lengths, load, store }; first, last: the shapes
-- of what is transformed and of the result
function library.of(given, device, real, shape, result)
    local what, axes = given.what, given.axes
    if given.backend ~= nil and not backends[given.backend] then
        errors.argument("%s: backend = '%s' (allowed: cufft, own)", what, tostring(given.backend))
    end
    if given.backend ~= 'cufft' then return nil end
    local is_there, reason = cufft.is_there(device)
    if not is_there then
        errors.raise('MARE_ERROR_UNAVAILABLE', ("%s: backend 'cufft' on %s: %s"):format(what,
            device.name, reason))
    end
    if given.load or given.store then
        errors.argument("%s: backend 'cufft' takes no functions load and store", what)
    end
    local is_real = given.transform == 'rfft' or given.transform == 'irfft'
    local first, last, outer, inner = range_of(what, shape, axes)
    local desc = { kind = is_real and given.transform or 'complex', real = real, sizes = {},
        count = outer * inner, from = side_of(shape, first, last, inner),
        to = side_of(result, first, last, inner) }
    for k, along in ipairs(axes) do
        local is_half = given.transform == 'irfft' and k == #axes
        local wanted = is_half and math.floor(given.lengths[k] / 2) + 1 or given.lengths[k]
        if wanted ~= shape[along] then
            errors.argument("%s: backend 'cufft' cuts and fills nothing: n = %d along axis %d of "
                .. '%s', what, given.lengths[k], along - 1, tostring(shape))
        end
        desc.sizes[along - first + 1] = given.lengths[k]
    end
    if is_real and axes[#axes] ~= last then
        errors.argument("%s: backend 'cufft' halves the last of the axes alone", what)
    end
    return desc
end

-- Returns the leaf with the numbers that cuFFT reads, which it may overwrite.
local function prepared(desc, leaf)
    local wanted = types[desc.kind == 'rfft' and desc.real or 'complex_' .. desc.real]
    if leaf.type == wanted and not leaf.strides and leaf.offset == 0 and desc.kind ~= 'irfft' then
        return leaf
    end
    return array.drop(leaf, array.leaf(array.of(leaf):to(wanted.name):copy(), 'fft'))
end

-- Transforms a leaf, which it gives up. Returns the leaf with the result. plan: of plan.lua; into:
-- nil, or the leaf for the result
function library.run(plan, leaf, into)
    local desc, device, last = plan.library, plan.device, plan.steps[#plan.steps]
    local from = prepared(desc, leaf)
    local to = into and into.offset == 0 and into or nodes.new_leaf(device, plan.own, last.to)
    cufft.run(device, cufft.plan(device, desc), desc, bound.buffer(from.version.cell),
        bound.buffer(to.version.cell), plan.is_inverse)
    nodes.release(from)
    if to == into then into.refs = into.refs + 1 end
    if last.scale == 1 and (to == into or not into) then return to end
    local scaled = array.drop(to, array.of(to)) * last.scale
    if not into then return array.leaf(scaled, 'fft') end
    local whole = array.of(into)
    whole:assign(scaled)
    return array.leaf(whole, 'fft')
end

return library
