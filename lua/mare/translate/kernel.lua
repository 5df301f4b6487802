-- mare.kernel(f): a function of Lua as a kernel.
--
--     local scale = mare.kernel(function(i, a, x, y)
--         if i < x.count then y[i] = a * x[i] + y[i] end
--     end)
--     scale(x.count, 2.0, x, y)        -- work-items, then the arguments
--
-- The first parameters are the work-item's place, counted from 0: one, or two or three
-- if the first argument is { nx, ny } or { nx, ny, nz }. Buffers, and arrays of mare.array, are
-- x[0] to x[x.count - 1]. The kernel is compiled at the first call, and again only for arguments
-- of other types. Numbers outside the function are arguments that are read at each
-- call. README.md says what a function may contain; what it may not is an error that
-- names the line.

local arrays = require 'bindings.array'
local check = require 'mare.translate.check'
local errors = require 'bindings.errors'
local resolve = require 'mare.parse.resolve'
local signature = require 'mare.translate.signature'
local source = require 'mare.base.source'
local unit = require 'mare.translate.unit'

local kernel = {}

local Kernel = {}
Kernel.__index = Kernel

local allowed = { name = 'string', checked = 'boolean', device = 'table', group = 'any',
    math = { strict = true, fast = true, relaxed = true },
    precision = { float = true, double = true } }

-- f: a function of Lua. options, with what holds if one is not given: { name = what
-- profiles and messages call the kernel (a name made of its line), math = 'strict', 'fast'
-- or 'relaxed' ('strict'), precision = 'float' or 'double' for numbers that are in no array
-- ('double' if an array holds doubles), device = where the kernel runs (the device of the
-- first buffer), group = the work-items of a group, a number or { x, y, z } (core chooses),
-- checked = whether a call waits, and refuses an index outside of an array or list (false) }
function kernel.new(f, options)
    if type(f) ~= 'function' then
        errors.argument('mare.kernel: a function is wanted, not %s', type(f))
    end
    options = errors.fields('mare.kernel', options or {}, allowed)
    local line = resolve.of(f).tree.line        -- what no kernel can do is told at once
    return setmetatable({ f = f, options = options, compiled = {},
        name = options.name or ('kernel_of_line_%d'):format(line) }, Kernel)
end

function Kernel:__tostring()
    return ('kernel %s of %d parameters'):format(self.name, #resolve.of(self.f).parameters)
end

-- ---- compiling ----

local function shape_of(self, size)
    if type(size) == 'number' then return { size } end
    if type(size) ~= 'table' or #size < 1 or #size > 3 then
        errors.argument('%s: work-items: a number or { nx, ny, nz } is wanted', self.name)
    end
    return size
end

-- Returns the types of all parameters for these arguments.
local function types_of(self, indices, arguments)
    local parameters, list = resolve.of(self.f).parameters, {}
    if #parameters ~= indices + arguments.count then
        errors.argument('%s: %d arguments behind the work-items are wanted, not %d', self.name,
            #parameters - indices, arguments.count)
    end
    local real = self.options.precision or signature.real(arguments)
    for k, symbol in ipairs(parameters) do
        list[k] = k <= indices and 'int32'
            or signature.of(self.name, symbol, arguments[k - indices], real)
    end
    return list, real
end

-- Returns the arguments of a call. Arrays are their buffers; copied[k] is set where it is a copy.
local function arguments_of(...)
    local list = { count = select('#', ...), ... }
    for k = 1, list.count do
        local value = list[k]
        if arrays.is(value) then
            if not value:is_dense() then
                list.copied = list.copied or {}
                list.copied[k] = true
            end
            list[k] = value:buffer()
        end
    end
    return list
end

-- Refuses to write an array whose elements lie apart: they would go into a copy.
local function check_written(self, made, arguments)
    for k in pairs(arguments.copied or {}) do
        local symbol = resolve.of(self.f).parameters[k + made.indices]
        if made.instance.written[symbol] then
            errors.argument("%s: argument '%s' is written, but the elements of this view do not "
                .. 'lie one after another: :copy() makes an array of them', self.name, symbol.name)
        end
    end
end

local function sizes_of(group)
    if group == nil then return nil end
    local list = type(group) == 'number' and { group } or group
    return { list[1], list[2] or 1, list[3] or 1 }
end

local function translate(self, indices, arguments)
    local types, real = types_of(self, indices, arguments)
    local made = unit.kernel(self.f, types, indices, self.name, {
        memory = function(stored) return signature.array(stored, 0, real) end,
        is_checked = self.options.checked, group = sizes_of(self.options.group),
    })
    if made.has_barrier and not self.options.group then
        errors.argument('%s: a kernel with a barrier wants options.group', self.name)
    end
    made.types, made.real, made.indices = types, real, indices
    return made
end

-- Whether a compiled kernel is the one for these arguments.
local function fits(made, indices, arguments)
    if made.indices ~= indices or #made.types ~= indices + arguments.count then return false end
    for k = 1, arguments.count do
        if not signature.fits(made.types[indices + k], arguments[k]) then return false end
    end
    for _, argument in ipairs(made.arguments) do
        local entry = argument.capture
        local is_number = entry and not entry.is_fault
        if is_number and not signature.fits(entry.type, entry.value()) then return false end
    end
    return true
end

local function device_of(self, arguments)
    for k = 1, arguments.count do
        if signature.is_array(arguments[k]) then return arguments[k].device end
        errors.check_argument(self.name, arguments[k])
    end
    return self.options.device or errors.argument('%s: no argument is a buffer: options.device is '
        .. 'to say where the kernel runs', self.name)
end

local function compile(self, made, device)
    return device:program(source.text(made.text, self.name, {
        defines = { MARE_REAL = made.real }, math = self.options.math,
    })):kernel(made.name)
end

-- Returns what is compiled for these arguments on their device.
local function compiled_for(self, indices, arguments)
    local device = device_of(self, arguments)
    for _, made in ipairs(self.compiled) do
        if made.on == device and fits(made, indices, arguments) then return made end
    end
    local made = translate(self, indices, arguments)
    if made.fault then
        made.fault.buffer = device:buffer { type = 'int32', count = 2, label = 'checks' }
        made.fault.buffer:fill(0)
    end
    made.on, made.kernel = device, compile(self, made, device)
    self.compiled[#self.compiled + 1] = made
    return made
end

-- ---- running ----

-- Returns the value of an argument of the kernel.
local function value_of(argument, shape, arguments, indices)
    local value
    if argument.axis then return shape[argument.axis] end
    if argument.count_of then return arguments[argument.count_of - indices].count end
    if argument.capture then
        value = argument.capture.value()
    else
        value = arguments[argument.parameter - indices]
    end
    if type(value) == 'boolean' then return value and 1 or 0 end
    return value
end

local function bind(self, made, shape, arguments)
    local values = { global = shape, group = self.options.group }
    for _, argument in ipairs(made.arguments) do
        values[argument.name] = value_of(argument, shape, arguments, made.indices)
    end
    return made.kernel:bind(values)
end

-- Returns a launch for these arguments, as kernel:bind of a kernel in the dialect does.
-- Running it costs no more than running one of those.
function Kernel:bind(size, ...)
    local shape, arguments = shape_of(self, size), arguments_of(...)
    if self.options.checked then
        errors.argument('%s: bind: a kernel that is checked can only be called', self.name)
    end
    local made = compiled_for(self, #shape, arguments)
    check_written(self, made, arguments)
    return bind(self, made, shape, arguments)
end

-- Sets what changed since the last call.
local function update(self, made, shape, arguments)
    local launch, last = made.launch, made.last
    for k, argument in ipairs(made.arguments) do
        local value = value_of(argument, shape, arguments, made.indices)
        if value ~= last[k] then
            launch:set(argument.name, value)
            last[k] = value
        end
    end
    local old = made.shape
    if old[1] ~= shape[1] or old[2] ~= shape[2] or old[3] ~= shape[3] then
        launch:shape(shape, self.options.group)
        made.shape = { shape[1], shape[2], shape[3] }
    end
    return launch
end

-- Waits, and raises what a checked kernel has noted.
local function check_indices(self, made)
    local noted = made.fault.buffer:download()
    local site = made.fault.sites[noted[0]]
    if not site then return end
    made.fault.buffer:fill(0)
    errors.argument_at(site.where, "%s: element %d of '%s' is asked for, which is outside of it",
        self.name, noted[1] + site.first, site.name)
end

-- kernel(size, ...) queues the kernel on the device's default stream.
function Kernel:__call(size, ...)
    local shape, arguments = shape_of(self, size), arguments_of(...)
    local made = compiled_for(self, #shape, arguments)
    check_written(self, made, arguments)
    if made.launch then
        update(self, made, shape, arguments)
    else
        made.launch, made.last = bind(self, made, shape, arguments), {}
        made.shape = { shape[1], shape[2], shape[3] }
    end
    made.launch:run()
    if made.fault then check_indices(self, made) end
end

-- kernel:source(size, ...) returns the text in the dialect, with the number of the line of
-- Lua behind each line. Without arguments it returns that of the kernel compiled last.
function Kernel:source(size, ...)
    if size == nil then
        local last = self.compiled[#self.compiled]
            or errors.argument('%s: source: the arguments of a call are wanted, whose types the '
                .. 'text follows', self.name)
        return last.source
    end
    local shape = shape_of(self, size)
    return translate(self, #shape, arguments_of(...)).source
end

-- kernel:check(size, ...) runs the function as plain Lua too, on copies of the arrays, and
-- tells how far the two are apart: see check.lua.
function Kernel:check(size, ...)
    local shape, parameters = shape_of(self, size), {}
    for k, symbol in ipairs(resolve.of(self.f).parameters) do parameters[k - #shape] = symbol end
    return check.run(self, shape, parameters, arguments_of(...))
end

return kernel
