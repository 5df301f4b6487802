-- Plans: what a transform of arrays of one shape and type does, checked before anything is
-- allocated, as steps along single axes.

local array = require 'mare.ndarray.array'
local assign = require 'mare.ndarray.assign'
local axis = require 'mare.fft.axis'
local composed = require 'mare.fft.composed'
local dialect = require 'mare.dialect.nodes'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local host = require 'mare.fft.host'
local kernels = require 'mare.fft.kernels'
local library = require 'mare.fft.library'
local nodes = require 'mare.expression.nodes'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

local plan = {}

-- ---- what is wanted ----

-- Returns the axes, counted from 1, in the order in which they are named.
local function axes_of(what, shape, given)
    if type(given) == 'number' then given = { given } end
    errors.wanted(what .. ': axes', 'table', given)
    if #given == 0 then errors.argument('%s: no axis is named', what) end
    local list, seen = {}, {}
    for k, number in ipairs(given) do
        local along = shapes.axis(shape, number, what) + 1
        if seen[along] then errors.argument('%s: axis %d is named twice', what, along - 1) end
        list[k], seen[along] = along, true
    end
    return list
end

-- Returns the length along each of the axes.
local function lengths_of(what, transform, shape, axes, given)
    if type(given) == 'number' then given = { given } end
    if given and #given ~= #axes then
        errors.argument('%s: %d lengths n for %d axes', what, #given, #axes)
    end
    local list = {}
    for k, along in ipairs(axes) do
        local own = shape[along]
        if transform == 'irfft' and k == #axes then own = 2 * (own - 1) end
        local n = given and given[k] or own
        if type(n) ~= 'number' or n % 1 ~= 0 or n < 1 or shape[along] < 1 then
            errors.argument('%s: length %s along axis %d of %s: at least 1 is wanted', what,
                tostring(n), along - 1, tostring(shape))
        end
        list[k] = n
    end
    return list
end

local scales = {
    backward = function(n, is_inverse) return is_inverse and 1 / n or 1 end,
    ortho = function(n) return 1 / math.sqrt(n) end,
    forward = function(n, is_inverse) return is_inverse and 1 or 1 / n end,
}

local function scale_of(what, norm, lengths, is_inverse)
    if norm ~= nil and not scales[norm] then
        errors.argument("%s: norm = '%s' (allowed: backward, forward, ortho)", what, tostring(norm))
    end
    local n = 1
    for _, length in ipairs(lengths) do n = n * length end
    return scales[norm or 'backward'](n, is_inverse)
end

-- Returns whether a type is transformed in 'float' or in 'double'.
local function precision(what, transform, type)
    if transform == 'rfft' and type.complex then
        errors.argument('%s: real numbers are wanted, not %s: fft takes those', what, type.name)
    end
    return types.part(type).name == 'double' and 'double' or 'float'
end

-- ---- functions of scripts ----

local function is_complex(value)
    return type(value) == 'table' and not dialect.is(value) and value.re ~= nil
end

-- Returns the type of what the script's function `store` returns; own: that of its argument.
local function stored_type(what, store, own, real)
    if not store then return own end
    local part = dialect.input('x', 'real', 'x')
    local result = store(own.complex and { re = part, im = part } or part,
        dialect.input('i', 'int32', 'i'), dialect.input('batch', 'int32', 'batch'))
    if is_complex(result) then
        if own.complex then return own end
        errors.argument('%s: store gives a complex number of a real', what)
    end
    dialect.wrap(result, what .. ': store')
    return types[real]
end

-- ---- steps ----

local function add_step(steps, transform, along, n, shape)
    local length = transform == 'rfft' and math.floor(n / 2) + 1 or n
    local to = axis.shape_with(shape, along, length)
    steps[#steps + 1] = { kind = transform, axis = along, n = n, from = shape, to = to, scale = 1 }
    return to
end

-- Returns the steps. The last axis that is named comes first, but last where the result is real.
local function steps_of(transform, shape, axes, lengths)
    local steps, count = {}, #axes
    local kind = (transform == 'rfft' or transform == 'irfft') and transform or 'complex'
    if kind ~= 'irfft' then shape = add_step(steps, kind, axes[count], lengths[count], shape) end
    for k = count - 1, 1, -1 do shape = add_step(steps, 'complex', axes[k], lengths[k], shape) end
    if kind == 'irfft' then add_step(steps, kind, axes[count], lengths[count], shape) end
    return steps
end

local Plan = {}
Plan.__index = Plan

-- Returns a plan. desc: { what: the beginning of messages, transform: 'fft', 'ifft', 'rfft'
-- or 'irfft', shape, type, device, axes, n, norm, load, store, backend }
function plan.of(desc)
    local what, transform, shape = desc.what, desc.transform, desc.shape
    local is_inverse = transform == 'ifft' or transform == 'irfft'
    local axes = axes_of(what, shape, desc.axes)
    local lengths = lengths_of(what, transform, shape, axes, desc.n)
    local real = precision(what, transform, desc.type)
    if real == 'double' and not desc.device.info.has_double then
        errors.argument('%s: %s computes no doubles: convert to float', what, desc.device.name)
    end
    local steps = steps_of(transform, shape, axes, lengths)
    for _, step in ipairs(steps) do step.is_inverse, step.real = is_inverse, real end
    local complex = types['complex_' .. real]
    local own = transform == 'irfft' and types[real] or complex
    local last = steps[#steps]
    last.scale = scale_of(what, desc.norm, lengths, is_inverse)
    steps[1].load, last.store = desc.load, desc.store
    local by_library = library.of({ what = what, backend = desc.backend, transform = transform,
        axes = axes, lengths = lengths, load = desc.load, store = desc.store }, desc.device, real,
        shape, last.to)
    return setmetatable({ what = what, shape = shape, type = desc.type, device = desc.device,
        steps = steps, complex = complex, own = own, is_inverse = is_inverse,
        library = by_library, result = stored_type(what, desc.store, own, real) }, Plan)
end

-- ---- running ----

-- Returns the leaf that a result is stored in: that of the array `out`. from: the leaf of what is
-- transformed
local function target_of(self, out, from)
    local what, shape = self.what, self.steps[#self.steps].to
    local leaf = array.leaf(out, what .. ': out')
    local is_same, here, there = leaf.version == from.version, self.device, leaf.device
    if leaf.shape ~= shape or leaf.type ~= self.result or here ~= there then
        errors.argument('%s: out is %s %s on %s: %s %s on %s is wanted', what, leaf.type.name,
            tostring(leaf.shape), there.name, self.result.name, tostring(shape), here.name)
    elseif leaf.strides or is_same and (from.strides or from.offset ~= leaf.offset
        or from.type ~= leaf.type or from.shape ~= shape) then
        errors.argument('%s: out is a part of an array, or shows the memory of what is transformed '
            .. 'in another way', what)
    end
    assign.settle(leaf.version)
    return leaf
end

-- Returns the leaf for the result of a step. into: nil, or that of the whole result
local function leaf_of(self, step, from, is_own, type, into)
    if into and into.shape == step.to and into.type == type then
        into.refs = into.refs + 1
        return into
    elseif is_own and step.from == step.to and type == from.type then
        from.refs = from.refs + 1
        return from
    end
    return nodes.new_leaf(self.device, type, step.to)
end

-- Runs a step, and keeps the order of what `sequence` holds back.
local function run_step(self, step, from, to, sequence)
    if step.to.count == 0 then return end
    if self.device.is_null then
        host.run(step, from, to)
    elseif axis.is_direct(self.device, step) then
        step.sequence = sequence
        axis.run(step, from, to, function()
            return nodes.new_leaf(self.device, self.complex, step.to)
        end)
    else
        kernels.finish(sequence)
        composed.run(step, from, to)
    end
end

-- Transforms a leaf, which it gives up, in steps. Returns the leaf with the result.
local function run_steps(self, leaf, into)
    local sequence = kernels.sequence()
    for k, step in ipairs(self.steps) do
        local type = k < #self.steps and self.complex or self.result
        local next_one = leaf_of(self, step, leaf, k > 1, type, into)
        run_step(self, step, leaf, next_one, sequence)
        nodes.release(leaf)
        leaf = next_one
    end
    kernels.finish(sequence)
    return leaf
end

-- Returns the transform of an array, which has the plan's shape and type and is on its device; it
-- is the array `out` if that is given, which may be the same one.
function Plan:__call(x, options)
    local out = options and errors.fields(self.what, options, { out = 'any' }).out
    local node = array.hold(x, self.what)
    local own, there = self.device, node.device
    if node.shape ~= self.shape or node.type ~= self.type then
        errors.argument('%s: the plan is for %s %s, the array is %s %s', self.what,
            self.type.name, tostring(self.shape), node.type.name, tostring(node.shape))
    elseif own ~= there then
        errors.argument('%s: the plan is on %s, the array on %s', self.what, own.name, there.name)
    end
    local leaf = evaluate.node(node)
    local into = out and target_of(self, out, leaf)
    if self.library then
        leaf = library.run(self, leaf, into)
    else
        leaf = run_steps(self, leaf, into)
    end
    if into then nodes.release(into) end
    return array.drop(leaf, out or array.of(leaf))
end

-- Returns the texts of the kernels that transform an array whose elements lie one after another.
function Plan:source()
    local texts, from = {}, { shape = self.shape, type = self.type, refs = 2 }
    local sequence = kernels.sequence(texts)
    for k, step in ipairs(self.steps) do
        local to = { shape = step.to, type = k < #self.steps and self.complex or self.result,
            refs = 2 }
        for _, leaf in ipairs { from, to } do
            leaf.device, leaf.offset, leaf.strides = self.device, 0, false
            leaf.version = { count = leaf.shape.count }
        end
        if axis.is_direct(self.device, step) then
            step.sequence = sequence
            axis.run(step, from, to, function()
                return { shape = to.shape, type = self.complex, version = to.version,
                    device = self.device, offset = 0, strides = false, refs = 2 }
            end)
        end
        from = to
    end
    kernels.finish(sequence)
    return texts
end

function Plan:__tostring()
    return ('plan of %s %s on %s'):format(self.type.name, tostring(self.shape), self.device.name)
end

return plan
