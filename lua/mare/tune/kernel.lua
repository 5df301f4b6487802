-- A kernel as a target of runner.lua. Its parameters are defines; some also
-- have a meaning of their own. Arguments are in host memory and uploaded once;
-- those that the kernel may write are restored before it is verified.

local bind = require 'mare.array.bind'
local device_buffer = require 'bindings.buffer'
local digest = require 'mare.tune.digest'
local errors = require 'bindings.errors'
local memory = require 'bindings.memory'
local shapes = require 'mare.shapes'
local space = require 'mare.tune.space'
local tables = require 'bindings.tables'

local kernel = {}

local Kernel = {}
Kernel.__index = Kernel

local axes = { 'x', 'y', 'z' }

-- The values of `math`. Block sizes are defines too, as with Kernel Tuner.
local maths = { strict = true, fast = true, relaxed = true }

-- Returns the description for device:program with these parameters.
local function program_of(self, params)
    local defines, options = tables.merged(self.defines), { self.compiler_options }
    local math = self.math
    for name, value in pairs(params) do
        if name == 'max_registers' then
            options[#options + 1] = shapes.options(self.device.info, value)
        elseif name == 'math' then
            if not maths[value] then
                errors.argument("tune: math = '%s' (allowed: strict, fast, relaxed)", value)
            end
            math = value
        elseif name == 'compiler_options' then
            options[#options + 1] = value
        else
            if type(value) == 'boolean' then value = value and 1 or 0 end
            defines[name] = value
        end
    end
    local source = self.source
    if type(source) == 'function' then source = source(params) end
    return { source = source, name = self.name, defines = defines, language = self.language,
        include_paths = self.include_paths, math = math, options = table.concat(options, ' ') }
end

-- Returns a finite number of at least `least`; refuses anything else.
local function checked(what, value, least)
    local number = tonumber(value)
    if number and number >= least and number < math.huge then return number end
    errors.argument('tune.kernel: %s = %s (allowed: %g or more)', what, tostring(value), least)
end

-- Returns a value that may depend on the parameters.
local function resolve(self, value, params)
    if type(value) == 'function' then return value(params) end
    if type(value) == 'string' then return space.expression(value, self.names)(params) end
    return value
end

-- Returns the groups along an axis: the problem size divided by all of
-- grid_div.
local function groups_along(self, axis, size, params)
    local divisors = self.grid_div[axis]
    if not divisors then divisors = params['block_size_' .. axes[axis]] or 1 end
    if type(divisors) ~= 'table' then divisors = { divisors } end
    for _, divisor in ipairs(divisors) do
        size = size / checked('grid_div_' .. axes[axis], resolve(self, divisor, params), 1e-9)
    end
    return math.max(1, math.ceil(size - 1e-9))
end

-- Returns global and group of a launch.
local function shape_of(self, params)
    local sizes, global, group = resolve(self, self.problem_size, params), {}, {}
    if type(sizes) ~= 'table' then sizes = { sizes } end
    if #sizes < 1 or #sizes > 3 then
        errors.argument('tune.kernel: problem_size has %d numbers (allowed: 1 to 3)', #sizes)
    end
    for axis = 1, 3 do
        local block = params['block_size_' .. axes[axis]] or 1
        local size = checked('problem_size', resolve(self, sizes[axis] or 1, params), 1)
        group[axis], global[axis] = block, block * groups_along(self, axis, size, params)
    end
    return global, group
end

-- ---- arguments ----

-- Returns the arguments by name, in whatever form they were given.
local function named(arguments, args, what)
    local values, known = {}, {}
    for k, arg in ipairs(args) do
        known[arg.name], known[k] = true, true
        values[arg.name] = arguments[arg.name]
        if values[arg.name] == nil then values[arg.name] = arguments[k] end
    end
    for name in pairs(arguments) do
        if not known[name] then
            errors.raise('MARE_ERROR_SCRIPT', "tune: %s '%s': the kernel has no such argument",
                what, tostring(name))
        end
    end
    return values
end

-- Makes a buffer for an array.
local function make_buffer(self, arg, value)
    local buffer = self.device:buffer { type = arg.type, count = value.count or #value,
        label = arg.name }
    self.own[#self.own + 1] = buffer
    buffer:upload(value)
    return buffer
end

-- Makes the buffers for all arguments that are not numbers, once.
local function make_buffers(self, args)
    local values, buffers, originals = named(self.arguments, args, 'argument'), {}, {}
    for _, arg in ipairs(args) do
        local value = values[arg.name]
        if value == nil then
            errors.raise('MARE_ERROR_SCRIPT', "tune: argument '%s' is missing", arg.name)
        end
        if arg.is_buffer and type(value) == 'table' and not value.handle then
            values[arg.name] = make_buffer(self, arg, value)
            if not arg.is_const then
                buffers[arg.name], originals[arg.name] = values[arg.name], value
            end
        end
    end
    self.values, self.buffers, self.originals = values, buffers, originals
end

-- Refuses arguments that `bind` would refuse for every candidate.
local function check_arguments(self, k)
    bind(k, self.values):release()
end

-- ---- answers ----

-- Returns the numbers of an array, the index of its first, and their count;
-- infinity if a pointer does not know its count.
local function contents(expected)
    if type(expected) == 'cdata' then
        return expected, 0, select(2, memory.elements(expected)) or math.huge
    end
    if expected.data then return expected.data, 0, expected.count end
    return expected, 1, #expected
end

local function refuse_answer(name, why, ...)
    errors.argument("tune: answer '%s': " .. why, name, ...)
end

local function check_expected(self, name, expected)
    local buffer = self.values[name]
    if not device_buffer.is(buffer) then refuse_answer(name, 'the argument is no array') end
    if self.verify then return end
    if type(expected) ~= 'table' and type(expected) ~= 'cdata' then
        refuse_answer(name, 'an array is wanted, not a %s', type(expected))
    end
    local data, first, count = contents(expected)
    if count < buffer.count then
        refuse_answer(name, 'it has %d elements, the argument %d', count, buffer.count)
    end
    for k = first, first + buffer.count - 1 do
        if not tonumber(data[k]) then refuse_answer(name, 'element %d is no number', k) end
    end
end

local function take_answer(self, args)
    if not self.answer then return end
    self.expected = named(self.answer, args, 'answer')
    for name, expected in pairs(self.expected) do check_expected(self, name, expected) end
end

-- Calls f(...). Its error is the fault of the call, not of a candidate.
local function by_caller(f, ...)
    local ok, result = pcall(f, ...)
    if ok then return result end
    if errors.is(result) and result.status == 'MARE_ERROR_ARGUMENT' then
        errors.raise('MARE_ERROR_SCRIPT', '%s', result.message)
    end
    error(result, 0)
end

local function take(self, k)
    make_buffers(self, k.args)
    check_arguments(self, k)
    take_answer(self, k.args)
end

-- ---- verification ----

-- Returns whether two arrays differ by at most atol everywhere, and the largest
-- difference. Infinities must be equal; a NaN is right where NaN is expected.
local function is_close(expected, found, count, first, atol)
    local worst = 0
    for k = 0, count - 1 do
        local a, b = tonumber(expected[k + first]), tonumber(found[k])
        if a ~= b and (a == a or b == b) then
            local difference = math.abs(a - b)
            if difference ~= difference then return false, difference end
            worst = math.max(worst, difference)
        end
    end
    return worst <= atol, worst
end

local function check_answer(self, name, expected, buffer)
    local found = buffer:download()
    if self.verify then
        if self.verify(expected, found, self.atol) then return true end
        return false, string.format("argument '%s' is refused by verify", name)
    end
    local data, first = contents(expected)
    local ok, worst = is_close(data, found, buffer.count, first, self.atol)
    if ok then return true end
    return false, string.format("argument '%s' differs by %g, allowed is %g", name, worst,
        self.atol)
end

local Run = {}
Run.__index = Run

-- Restores what the kernel writes, runs it once and compares. If no answer was
-- given, the result of the first candidate becomes the answer; see learn().
function Run:verify()
    local target = self.target
    for name, original in pairs(target.originals) do target.buffers[name]:upload(original) end
    self.launch:run()
    target.device:wait()
    if target.answer == false then return true end
    if not target.expected then
        target.expected = {}
        for name, buffer in pairs(target.buffers) do target.expected[name] = buffer:download() end
    end
    for name, expected in pairs(target.expected) do
        local ok, why = check_answer(target, name, expected, target.values[name])
        if not ok then return false, why end
    end
    return true
end

-- Queues n launches.
function Run:batch(n)
    for _ = 1, n do self.launch:run() end
end

-- Waits for what is queued, and releases what was built.
function Run:release()
    local ok, failure = pcall(self.target.device.wait, self.target.device)
    for _, owned in ipairs { self.launch, self.kernel, self.program } do owned:release() end
    if not ok then error(failure, 0) end
end

-- ---- the target ----

-- See runner.lua.
function Kernel:job(params)
    local ok, program = pcall(program_of, self, params)
    return ok and { kind = 'kernel', program = program } or nil
end

-- Returns a short text of what a candidate is built of and how it is launched,
-- or nil if it fails before that is known.
function Kernel:digest(params)
    local ok, found = pcall(function()
        local program = program_of(self, params)
        return digest.of { program, digest.included(program.source, self.include_paths or {}),
            shape_of(self, params) }
    end)
    return ok and found or nil
end

-- Returns all else that decides the results of candidates.
function Kernel:identity()
    return { self.arguments, self.answer or self.answer == nil, self.atol, self.verify or false }
end

-- See ahead.lua.
function kernel.compile(device, job)
    device:program(job.program)
end

-- See runner.lua.
function Kernel:build(params)
    local program = self.device:program(program_of(self, params))
    local k = by_caller(program.kernel, program, self.name)
    if not self.values then
        self:release()      -- what the previous attempt had allocated
        by_caller(take, self, k)
    end
    local global, group = shape_of(self, params)
    return setmetatable({ target = self, kernel = k, program = program,
        launch = bind(k, self.values, { global = global, group = group }) }, Run)
end

-- See runner.lua.
function Kernel:learn(params)
    if self.answer ~= nil then return end
    local run = self:build(params)
    local ok, failure = pcall(run.verify, run)
    run:release()
    if not ok then error(failure, 0) end
end

-- Releases the buffers of the arguments.
function Kernel:release()
    for k, buffer in ipairs(self.own) do
        buffer:release()
        self.own[k] = nil
    end
end

local function check_language(device, language)
    local own = device.name:match '^%a+'
    if language ~= 'mare' and language ~= own then
        errors.argument("tune.kernel: lang = '%s' (allowed on %s: %s, mare)", language, device.name,
            own)
    end
end

-- Raises an error if no candidate has a program and a launch.
local function check_candidates(self, candidates)
    local first
    for index = 1, candidates.size do
        local ok, failure = pcall(function()
            local params = candidates:params(index)
            return program_of(self, params), shape_of(self, params)
        end)
        if ok then return end
        first = first or failure
    end
    error(first, 0)
end

-- desc: as for tune.kernel, with an open device.
function kernel.new(desc, candidates)
    local self = setmetatable({
        name = desc.kernel_name, source = desc.kernel_source, problem_size = desc.problem_size,
        arguments = desc.arguments, answer = desc.answer, atol = desc.atol or 1e-6,
        verify = desc.verify, device = desc.device, names = candidates.names,
        language = desc.lang and desc.lang:lower() or 'mare', math = desc.math,
        defines = desc.defines or {}, include_paths = desc.include_paths,
        compiler_options = table.concat(desc.compiler_options or {}, ' '),
        own = {}, grid_div = { desc.grid_div_x, desc.grid_div_y, desc.grid_div_z },
    }, Kernel)
    check_language(self.device, self.language)
    check_candidates(self, candidates)
    return self
end

return kernel
