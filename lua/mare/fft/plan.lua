-- Plans: what a transform of arrays of one shape and type does, checked before anything is
-- allocated, as steps along single axes.

local array = require 'mare.ndarray.array'
local assign = require 'mare.ndarray.assign'
local axis = require 'mare.fft.axis'
local composed = require 'mare.fft.composed'
local dialect = require 'mare.dialect.nodes'
local ends = require 'mare.stages.ends'
local errors = require 'bindings.errors'
local halves = require 'mare.fft.halves'
local host = require 'mare.stages.host'
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
    if given ~= nil and type(given) ~= 'table' then
        errors.argument('%s: n: a number or a list of them is wanted, not %s', what, type(given))
    end
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

-- Checks the names of numbers that functions get. Returns them in order, or nil.
local function names_of(what, given)
    if not given then return nil end
    local list = {}
    for k, name in ipairs(given) do
        if type(name) ~= 'string' or not name:find '^[%a_][%w_]*$' then
            errors.argument('%s: numbers: names are wanted, not %s', what, tostring(name))
        end
        list[k] = name
    end
    return list
end

-- Returns what the script's function of that name, 'load', 'store' or 'filter', gives of a number
-- of a type.
local function tried(desc, name, type)
    local part, who = dialect.input('x', 'real', 'x'), ('%s: %s'):format(desc.what, name)
    local result = desc[name](type.complex and { re = part, im = part } or part,
        dialect.input('i', 'int32', 'i'), dialect.input('batch', 'int32', 'batch'),
        ends.numbers(desc.numbers))
    local is_pair = is_complex(result)
    dialect.wrap(is_pair and result.re or result, who)
    if is_pair then dialect.wrap(result.im, who .. ': im') end
    return result
end

-- Checks what the functions `load` and `filter` give.
local function check_given(desc)
    if desc.load and is_complex(tried(desc, 'load', desc.type)) and desc.transform == 'rfft' then
        errors.argument('%s: load gives a complex number, real ones are wanted: fft takes those',
            desc.what)
    end
    if desc.filter then tried(desc, 'filter', types.complex_float) end
end

-- Returns the type of what the script's function `store` returns; own: that of its argument.
local function stored_type(what, desc, own, real)
    local store = desc.store
    local result = store and tried(desc, 'store', own)
    local is_whole = own.complex and (not store or is_complex(result))
    if is_complex(result) and not own.complex then
        errors.argument('%s: store gives a complex number of a real', what)
    end
    local is_halved = desc.type == halves.type and is_whole
    if not desc.result then return is_halved and halves.type or is_whole and own or types[real] end
    local wanted = halves.named(desc.result, what .. ': result')
    if is_whole and wanted == halves.type and real == 'float' then return wanted end
    if is_whole or wanted.complex or wanted.kind == 0 or wanted.kind == 1 and wanted.bits > 16
        or wanted.kind == 2 and wanted.name ~= 'half' and wanted.name ~= real then
        errors.argument("%s: result = '%s' of %s numbers (allowed of real ones: half, %s, integers "
            .. 'of up to 16 bits; of complex floats: complex_half)', what, desc.result,
            is_whole and 'complex' or 'real', real)
    end
    return wanted
end

-- ---- steps ----

local function add_step(steps, transform, along, n, shape, is_inverse)
    local length = transform == 'rfft' and math.floor(n / 2) + 1 or n
    local to = axis.shape_with(shape, along, length)
    steps[#steps + 1] = { kind = transform, axis = along, n = n, from = shape, to = to, scale = 1,
        is_inverse = is_inverse }
    return to
end

-- Adds the steps of a filter along an axis: one kernel, or a transform there and back, of which the
-- first one stores what the script's function returns.
local function add_filter(steps, desc, along, n, shape, real)
    local can = axis.can_filter(desc.device, real, n)
    shape = add_step(steps, 'complex', along, n, shape, false)
    local step = steps[#steps]
    if can then
        step.filter, step.aside = desc.filter, desc.aside
        return shape
    elseif desc.aside then
        errors.argument('%s: aside is for lengths that one kernel takes, not for %d', desc.what, n)
    end
    step.store = desc.filter
    return add_step(steps, 'complex', along, n, shape, true)
end

-- Returns the steps of a filter: transforms along the other axes there, the last one first, and
-- back. Real numbers along one axis have no complex transform between.
local function filter_steps(desc, shape, axes, lengths, real)
    local steps, count = {}, #axes
    local kinds = desc.type.complex and { 'complex', 'complex' } or { 'rfft', 'irfft' }
    local first = (count > 1 or not desc.type.complex) and count or 0
    if first == count then shape = add_step(steps, kinds[1], axes[count], lengths[count], shape,
        false) end
    for k = count - 1, 2, -1 do
        shape = add_step(steps, 'complex', axes[k], lengths[k], shape, false)
    end
    if count > 1 or desc.type.complex then
        shape = add_filter(steps, desc, axes[1], lengths[1], shape, real)
    elseif desc.aside then
        errors.argument('%s: aside of real numbers along one axis', desc.what)
    else
        steps[1].store = desc.filter
    end
    for k = 2, count - 1 do
        shape = add_step(steps, 'complex', axes[k], lengths[k], shape, true)
    end
    if first == count then
        add_step(steps, kinds[2], axes[count], lengths[count], shape, true)
    end
    return steps
end

-- Returns the steps. The last axis that is named comes first, but last where the result is real.
local function steps_of(desc, shape, axes, lengths, real)
    local steps, count, transform = {}, #axes, desc.transform
    if transform == 'filter' then return filter_steps(desc, shape, axes, lengths, real) end
    local is_inverse = transform == 'ifft' or transform == 'irfft'
    local kind = (transform == 'rfft' or transform == 'irfft') and transform or 'complex'
    local function add(step_kind, k)
        shape = add_step(steps, step_kind, axes[k], lengths[k], shape, is_inverse)
    end
    if kind ~= 'irfft' then add(kind, count) end
    for k = count - 1, 1, -1 do add('complex', k) end
    if kind == 'irfft' then add(kind, count) end
    return steps
end

local Plan = {}
Plan.__index = Plan

local function check_functions(desc)
    local what, is_filter = desc.what, desc.transform == 'filter'
    if is_filter and not desc.filter then
        errors.argument("%s: transform = 'filter' without a function filter", what)
    elseif not is_filter and (desc.filter or desc.aside) then
        errors.argument("%s: filter and aside are for transform = 'filter'", what)
    end
end

-- Raises an error if complex halves, of what is transformed or of the result, cannot be.
local function check_halves(desc, steps, result)
    local function check(type, step)
        if type ~= halves.type then return end
        if desc.backend == 'cufft' then
            errors.argument("%s: backend 'cufft' takes no complex_half", desc.what)
        elseif not desc.device.is_null and not axis.is_direct(desc.device, step) then
            errors.argument('%s: complex_half is for lengths that kernels take, not for %d',
                desc.what, step.n)
        end
    end
    check(desc.type, steps[1])
    check(result, steps[#steps])
end

-- Marks the last step but the first that is not to be done in place, as is_apart, and those before
-- it, whose results are not the whole one's, as is_before.
local function mark_apart(device, steps)
    for k = #steps, 2, -1 do
        if axis.is_in_two(device, steps[k]) then
            steps[k].is_apart = true
            for j = 1, k - 1 do steps[j].is_before = true end
            return
        end
    end
end

local inverses = { ifft = true, irfft = true, filter = true }

-- Checks what a description says of the numbers and axes. Returns the axes, counted from 1, the
-- lengths along them, the factor of the results, and 'float' or 'double'.
function plan.checked(desc)
    local what, transform, shape = desc.what, desc.transform, desc.shape
    local axes = axes_of(what, shape, desc.axes)
    local lengths = lengths_of(what, transform, shape, axes, desc.n)
    local real = precision(what, transform, desc.type)
    return axes, lengths, scale_of(what, desc.norm, lengths, inverses[transform]), real
end

-- Returns a plan. desc: { what: the beginning of messages, transform: 'fft', 'ifft', 'rfft',
-- 'irfft' or 'filter', shape, type, device, axes, n, norm, load, store, filter, aside, numbers,
-- result, backend; share: of a share of a divided array { many, is_of_columns: see kernels.lua,
-- scale: the factor, instead of norm } }
function plan.of(desc)
    local what, transform, shape, share = desc.what, desc.transform, desc.shape, desc.share or {}
    local axes, lengths, scale, real = plan.checked(desc)
    check_functions(desc)
    desc.numbers = names_of(what, desc.numbers)
    check_given(desc)
    if real == 'double' and not desc.device.info.has_double then
        errors.argument('%s: %s computes no doubles: convert to float', what, desc.device.name)
    end
    local steps = steps_of(desc, shape, axes, lengths, real)
    for _, step in ipairs(steps) do
        step.real, step.numbers = real, desc.numbers
        step.many, step.is_of_columns = share.many, share.is_of_columns
    end
    local complex, last = types['complex_' .. real], steps[#steps]
    local own = last.kind == 'irfft' and types[real] or complex
    last.scale = share.scale or scale
    steps[1].load, last.store = desc.load, desc.store or last.store
    axis.cross(desc.device, steps)
    mark_apart(desc.device, steps)
    local result = stored_type(what, desc, own, real)
    check_halves(desc, steps, result)
    local by_library = library.of({ what = what, backend = desc.backend, transform = transform,
        axes = axes, lengths = lengths, load = desc.load, store = desc.store }, desc.device, real,
        shape, last.to)
    return setmetatable({ what = what, shape = shape, type = desc.type, device = desc.device,
        steps = steps, complex = complex, own = own, is_inverse = inverses[transform] or false,
        library = by_library, numbers = desc.numbers, has_aside = desc.aside ~= nil,
        result = result }, Plan)
end

-- ---- running ----

-- Returns a leaf as plans see it, where complex halves are wanted: with the numbers that it shows.
local function shown(leaf, type)
    local shape = leaf.shape
    local is_shown = type == halves.type and leaf.type == types.half and shape.rank > 1
        and shape[shape.rank] == 2
    return is_shown and halves.packed(leaf) or leaf
end

-- Returns the leaf that a result is stored in: that of the array `out`. from: the leaf of what is
-- transformed
local function target_of(self, out, from)
    local what, shape = self.what, self.steps[#self.steps].to
    local leaf = array.leaf(out, what .. ': out')
    local is_part = leaf.strides or self.result == halves.type and leaf.type == types.half
        and not halves.are_words(leaf)
    leaf = shown(leaf, self.result)
    local is_same, here, there = leaf.version == from.version, self.device, leaf.device
    if leaf.shape ~= shape or leaf.type ~= self.result or here ~= there then
        errors.argument('%s: out is %s %s on %s: %s %s on %s is wanted', what, leaf.type.name,
            tostring(leaf.shape), there.name, self.result.name, tostring(shape), here.name)
    elseif is_part or is_same and (from.strides or from.offset ~= leaf.offset
        or from.type ~= leaf.type or from.shape ~= shape) then
        errors.argument('%s: out is a part of an array, or shows the memory of what is transformed '
            .. 'in another way', what)
    end
    assign.settle(leaf.version)
    return leaf
end

-- Returns the leaf for the result of a step. into: nil, or that of the whole result
local function leaf_of(self, step, from, is_own, type, into)
    if into and not step.is_before and into.shape == step.to and into.type == type then
        into.refs = into.refs + 1
        return into
    elseif is_own and not step.is_apart and step.from == step.to and type == from.type then
        from.refs = from.refs + 1
        return from
    end
    if type == halves.type then return halves.new_leaf(self.device, step.to) end
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

-- Returns the numbers that functions get, by name; all that the plan has are wanted.
local function values_of(self, given)
    local values = {}
    for name in pairs(given or {}) do values[name] = false end
    for _, name in ipairs(self.numbers or {}) do
        values[name] = errors.wanted(self.what .. ': numbers.' .. name, 'number',
            given and given[name])
    end
    for name, value in pairs(values) do
        if not value then
            errors.argument('%s: the plan has no number %s (%s)', self.what, name,
                table.concat(self.numbers or {}, ', '))
        end
    end
    return values
end

-- Returns the leaf that bytes beside the result are stored in.
local function aside_of(self, given)
    if not self.has_aside then
        if given then errors.argument('%s: the plan has no function aside', self.what) end
        return nil
    end
    local leaf = array.leaf(given, self.what .. ': aside')
    local here, there = self.device, leaf.device
    if leaf.type.name ~= 'uint8' or leaf.strides or leaf.offset ~= 0 or here ~= there then
        errors.argument('%s: aside is %s %s on %s: a whole array of uint8 on %s is wanted',
            self.what, leaf.type.name, tostring(leaf.shape), there.name, here.name)
    end
    assign.settle(leaf.version)
    return leaf
end

-- Goes through all steps, from a leaf on, with a sequence that runs nothing.
local function go_through(self, leaf, sequence)
    local from = { shape = self.shape, type = self.type, strides = leaf and leaf.strides or false,
        offset = leaf and leaf.offset or 0 }
    for k, step in ipairs(self.steps) do
        local to = { shape = step.to, type = k < #self.steps and self.complex or self.result,
            offset = 0, strides = false }
        for _, one in ipairs { from, to } do
            one.device, one.refs, one.version = self.device, 2, { count = one.shape.count }
        end
        if axis.is_direct(self.device, step) then
            -- The step itself may be half done.
            local copy = setmetatable({ sequence = sequence }, { __index = step })
            axis.run(copy, from, to, function()
                return { shape = to.shape, type = self.complex, version = to.version,
                    device = self.device, offset = 0, strides = false, refs = 2 }
            end)
        end
        from = to
    end
    kernels.finish(sequence)
end

-- Transforms a leaf, which it gives up, in steps. Returns the leaf with the result.
local function run_steps(self, leaf, into, values, aside)
    local first = leaf
    local sequence = kernels.sequence { look_ahead = function()
        go_through(self, first, kernels.sequence { is_ahead = true })
    end }
    for k, step in ipairs(self.steps) do
        step.values, step.aside_leaf = values, step.aside and aside
        local type = k < #self.steps and self.complex or self.result
        local next_one = leaf_of(self, step, leaf, k > 1, type, into)
        run_step(self, step, leaf, next_one, sequence)
        nodes.release(leaf)
        leaf = next_one
    end
    kernels.finish(sequence)
    return leaf
end

local call_fields = { out = 'any', numbers = 'table', aside = 'any' }

-- Returns the transform of an array, which has the plan's shape and type and is on its device; it
-- is the array `out` if that is given, which may be the same one. numbers: by the names of the
-- plan's; aside: the array that its function of this name stores in
function Plan:__call(x, options)
    options = errors.fields(self.what, options or {}, call_fields)
    local out, values = options.out, values_of(self, options.numbers)
    local aside = aside_of(self, options.aside)
    local leaf = shown(array.leaf(x, self.what), self.type)
    local own, there = self.device, leaf.device
    if leaf.shape ~= self.shape or leaf.type ~= self.type then
        errors.argument('%s: the plan is for %s %s, the array is %s %s', self.what,
            self.type.name, tostring(self.shape), leaf.type.name, tostring(leaf.shape))
    elseif own ~= there then
        errors.argument('%s: the plan is on %s, the array on %s', self.what, own.name, there.name)
    end
    local into = out and target_of(self, out, leaf)
    if self.library then
        leaf = library.run(self, leaf, into)
    else
        leaf = run_steps(self, leaf, into, values, aside)
    end
    if into then nodes.release(into) end
    if aside then nodes.release(aside) end
    if leaf.type == halves.type then leaf = halves.unpacked(leaf) end
    return array.drop(leaf, out or array.of(leaf))
end

-- Returns the texts of the kernels that transform an array whose elements lie one after another.
function Plan:source()
    local texts = {}
    go_through(self, nil, kernels.sequence { texts = texts })
    return texts
end

function Plan:__tostring()
    return ('plan of %s %s on %s'):format(self.type.name, tostring(self.shape), self.device.name)
end

return plan
