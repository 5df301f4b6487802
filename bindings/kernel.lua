-- kernel.lua - kernels with arguments by name, and launches: bound once, run often.
--
-- A run is one C call on arguments that lie ready in core; nothing is allocated, LuaJIT compiles
-- the loop around it.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local carried = require 'bindings.carried'
local block = require 'bindings.block'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local buffer = require 'bindings.buffer'
local signal = require 'bindings.signal'
local stream = require 'bindings.stream'

local C, check = mare.C, mare.check
local kernels = handle.class('kernel', 'mare_kernel', C.mare_kernel_release)
local launches = handle.class('launch', 'mare_launch', C.mare_launch_release)
local kernel, launch = kernels.methods, launches.methods
local M = {}

local kernel_info = ffi.new 'mare_kernel_info'
local arg_info = ffi.new 'mare_arg_info'
local int64, uint64 = ffi.typeof 'int64_t', ffi.typeof 'uint64_t'
local complex, complex_float = ffi.typeof 'complex', ffi.typeof 'complex float'
local boxed, half = ffi.new 'uint64_t[1]', 2ULL^63
local global_c, group_c = ffi.new 'uint32_t[3]', ffi.new 'uint32_t[3]'

local info_fields = { 'arg_count', 'max_group_size', 'registers', 'warp_size', 'local_memory',
                      'private_memory', 'groups_per_unit' }

-- What NVIDIA's OpenCL tells of programs from code alone, so this one is loaded once more; 0 if it
-- cannot be.
local function registers_of(program, name)
    local given = program.compiled
    if (given.options or ''):find 'maxrregcount' then return 0 end     -- code goes without options
    local ok, count = pcall(function()
        local again = program.device:program { name = program.label, code = program:binary(),
            source = given.source, defines = given.defines, include_paths = given.include_paths,
            language = given.language }
        return again:kernel(name).info.registers
    end)
    return ok and count or 0
end

local function read_info(k, program)
    check(C.mare_kernel_query(k, kernel_info))
    local info = { name = ffi.string(kernel_info.name) }
    for _, field in ipairs(info_fields) do info[field] = tonumber(kernel_info[field]) end
    if info.registers > 0 or not program.compiled then return info end
    info.registers = nil
    return setmetatable(info, { __index = function(self, field)
        if field ~= 'registers' then return nil end
        self.registers = registers_of(program, self.name)
        return self.registers
    end })
end

local function read_args(k, count)
    local args, index = {}, {}
    for i = 1, count do
        check(C.mare_kernel_arg(k, i - 1, arg_info))
        local name = ffi.string(arg_info.name)
        local field_count = tonumber(arg_info.field_count)
        args[i] = {
            name = name, type = mare.type_names[tonumber(arg_info.type)],
            is_buffer = arg_info.is_buffer ~= 0, is_const = arg_info.is_const ~= 0,
        }
        index[name] = i - 1
        if field_count > 0 then
            args[i].type, args[i].fields = 'struct', block.read(k, i - 1, name, field_count)
        end
    end
    return args, index
end

function M.create(program, name)
    if type(name) ~= 'string' then
        errors.argument('program:kernel: a name is wanted, not %s', type(name))
    end
    local owner = kernels.own()
    mare.create(C.mare_kernel_create, program.handle, name, owner)
    local self = kernels.wrap(owner, { name = name, device = program.device })
    self.info = read_info(self.handle, program)
    self.args, self.index = read_args(self.handle, self.info.arg_count)
    return self
end

-- kernel { ... } binds, runs and waits, with data of the host: carried.lua.
kernels.on_call(carried.call)

local function no_argument(k, name)
    local names = {}
    for i, arg in ipairs(k.args) do names[i] = arg.name end
    errors.argument("kernel '%s' has no argument '%s' (it has: %s)", k.name, tostring(name),
                    table.concat(names, ', '))
end

-- A launch with no argument and no shape set.
function kernel:launch()
    local owner = launches.own()
    mare.create(C.mare_launch_create, self.handle, owner)
    return launches.wrap(owner, { label = self.name, kernel = self, index = self.index })
end

local extras = { global = true, group = true, bytes = true, together = true, programmatic = true }

local function set_all(self, bound, values)
    for _, arg in ipairs(self.args) do
        local value = values[arg.name]
        if value == nil then
            errors.argument("kernel '%s': argument '%s' is missing", self.name, arg.name)
        end
        bound:set(arg.name, value)
    end
    if values.global then
        bound:shape(values.global, not self.index.group and values.group or nil)
    end
    if values.bytes and not self.index.bytes then
        check(C.mare_launch_set_bytes(bound.handle, handle.whole(values.bytes, 'bytes')))
    end
    if values.together and not self.index.together then
        check(C.mare_launch_set_together(bound.handle, 1))
    end
    if values.programmatic and not self.index.programmatic then
        bound:set_programmatic()
    end
end

-- Binds every argument by name, a struct from a table of its fields (block.lua). What is no
-- argument's name may be: global and group, the shape (a number or { x, y, z }); bytes, what a run
-- reads and writes, which the profile turns into a rate; together, whether all groups must run at
-- the same time, which CUDA alone can promise; programmatic, whether it may begin before the launch
-- before it on the stream has ended, once all groups of that one have said mr_start_dependents():
-- MARE_ERROR_UNAVAILABLE unless device.info.has_programmatic. Returns the launch.
function kernel:bind(values)
    if type(values) ~= 'table' then
        errors.argument("kernel '%s': bind takes a table", self.name)
    end
    for name in pairs(values) do
        if not self.index[name] and not extras[name] then
            no_argument(self, name)
        end
    end
    local bound = self:launch()
    local ok, failure = pcall(set_all, self, bound, values)
    if ok then return bound end
    bound:release()             -- with the buffers that it has by now
    error(failure, 0)
end

local function wrong_value(self, name, value)
    errors.check_argument(("kernel '%s': argument '%s'"):format(self.label, name), value)
    local what = type(value)
    if what == 'cdata' then what = tostring(ffi.typeof(value)) end
    errors.argument("kernel '%s': argument '%s' is %s: a number or a buffer is wanted", self.label,
                    name, what)
end

-- Sets a number of C: integers of 64 bits as they are, others as Lua's numbers, which hold them.
local function set_boxed(self, index, name, value)
    if ffi.istype(int64, value) then return C.mare_launch_set_int(self.handle, index, value) end
    if ffi.istype(uint64, value) then
        if value < half then return C.mare_launch_set_int(self.handle, index, value) end
        boxed[0] = value
        return C.mare_launch_set_scalar(self.handle, index, C.MARE_TYPE_UINT64, boxed)
    end
    local number = tonumber(value)
    if not number or ffi.istype(complex, value) or ffi.istype(complex_float, value) then
        wrong_value(self, name, value)
    end
    return C.mare_launch_set_real(self.handle, index, number)
end

-- Sets what is no argument of a number or a buffer: a block, or a field of one.
local function set_block(self, name, value)
    local k, index = self.kernel, self.index[name]
    local field = not index and block.find(k, name)
    if field then return block.set_field(self, field, value) end
    if not index then no_argument(k, name) end
    local arg = k.args[index + 1]
    if not arg.fields then wrong_value(self, name, value) end
    block.set(self, arg, value)
end

local is_array = function() return false end

-- Lets arguments be arrays of array.lua, which requires this file: is(value) tells them.
function M.take_arrays(is)
    is_array = is
    carried.take_arrays(is)
end

-- Raises an error if a kernel may write an array of which it would be given a copy.
local function check_dense(k, arg, array)
    if arg.is_const or not arg.is_buffer or array:is_dense() then return end
    errors.argument("kernel '%s': argument '%s': the elements of the view %s do not lie one after "
        .. 'another, and what is written into a copy is lost: bind a :copy() and assign that',
        k.name, arg.name, tostring(array.shape))
end

-- Sets one argument: a number, a buffer or an array; of a struct all fields by a table, or one of
-- them by 'argument.field'.
function launch:set(name, value)
    local index, kind = self.index[name], type(value)
    local status
    if not index then
        return set_block(self, name, value)
    elseif kind == 'number' then
        status = C.mare_launch_set_real(self.handle, index, value)
    elseif buffer.is(value) then
        status = C.mare_launch_set_buffer(self.handle, index, value.handle)
    elseif kind == 'cdata' and is_array(value) then
        check_dense(self.kernel, self.kernel.args[index + 1], value)
        return self:set(name, value:buffer())
    elseif kind == 'cdata' then
        status = set_boxed(self, index, name, value)
    else
        return set_block(self, name, value)
    end
    if status ~= 0 then check(status) end
end

-- The type of a scalar, or of a field 'argument.field', and where it lives in the launch.
local function scalar_of(self, name)
    local index = self.index[name]
    local field = not index and block.find(self.kernel, name)
    if field then return field.type, block.pointer(self, field) end
    if not index then no_argument(self.kernel, name) end
    local pointer = C.mare_launch_scalar(self.handle, index)
    if pointer == nil then check(C.MARE_ERROR_ARGUMENT) end
    local type = self.kernel.args[index + 1].type
    return type, ffi.cast(mare.ctypes[type] .. ' *', pointer)
end

-- Where a scalar or a field lives, as a pointer to its type: p[0] = value changes the next run and
-- costs nothing else. Valid as long as the launch, and unchecked.
function launch:scalar(name)
    local _, pointer = scalar_of(self, name)
    return pointer
end

local function extent(into, what, sizes)
    if type(sizes) == 'number' then sizes = { sizes } end
    if type(sizes) ~= 'table' or #sizes < 1 or #sizes > 3 then
        errors.argument('%s: a number or a table of one to three numbers is wanted', what)
    end
    for i = 0, 2 do
        local size = sizes[i + 1] or 1
        if handle.whole(size, what) >= 2^32 then
            errors.argument('%s: %.0f exceeds 32 bits', what, size)
        end
        into[i] = size
    end
    return into
end

-- Work-items along x, y, z, rounded up to whole groups; without `group` Mare chooses.
function launch:shape(global, group)
    check(C.mare_launch_set_shape(self.handle, extent(global_c, 'global', global),
                                  group and extent(group_c, 'group', group)))
end

-- Lets the launch begin as `programmatic` of kernel:bind says. Returns it.
function launch:set_programmatic()
    check(C.mare_launch_set_programmatic(self.handle, 1))
    return self
end

-- Queues the kernel, on the stream s or the default one.
function launch:run(s)
    local status = C.mare_launch_run(self.handle, stream.handle(s, 'launch:run'))
    if status ~= 0 then check(status) end
    if signal.came[0] ~= 0 then signal.heed() end
end

launches.on_call(launch.run)

-- A call of a runner touches a line or two of the caches, where launch:run() has tables and
-- metatables, and each launch:scalar() is a pointer of its own: after a wait they come one after
-- another.
local call = [[
local run, check = ...
return function(self%s)
    %s
    local status = run(self.launch, self.stream)
    if status ~= 0 then check(status) end
end]]

local function release_runner(self)
    C.mare_launch_release(self.launch)
    C.mare_stream_release(self.stream)
end

local function make_runners(types)
    local fields, arguments, stores = {}, {}, {}
    for k, type in ipairs(types) do
        fields[k] = ('%s *p%d;'):format(type, k)
        arguments[k], stores[k] = ', v' .. k, ('self.p%d[0] = v%d'):format(k, k)
    end
    local text = call:format(table.concat(arguments), table.concat(stores, '\n    '))
    return ffi.metatype(
        ('struct { mare_launch *launch; mare_stream *stream; %s }'):format(table.concat(fields)),
        { __call = assert(loadstring(text, '=runner'))(C.mare_launch_run, check),
          __gc = release_runner })
end

local runners = {}      -- by the types of their scalars

-- Sets these scalars, unchecked, and queues the kernel, on the stream s or the default one, when
-- called: run = launch:runner({ 'a', 'b' }, s); run(a, b). It keeps the launch and the stream.
function launch:runner(names, s)
    errors.wanted('launch:runner', 'table', names)
    local types, pointers = {}, {}
    for k, name in ipairs(names) do
        types[k], pointers[k] = scalar_of(self, name)
        types[k] = mare.ctypes[types[k]]
    end
    local on, key = stream.handle(s, 'launch:runner'), table.concat(types, ' ')
    runners[key] = runners[key] or make_runners(types)
    C.mare_launch_retain(self.handle)
    C.mare_stream_retain(on)
    return runners[key](self.handle, on, unpack(pointers))
end

-- `launch.a = 5` would set nothing.
launches.on_assign(function(self, name)
    if not self.index[name] then no_argument(self.kernel, name) end
    errors.argument("kernel '%s': argument '%s' is set by launch:set('%s', value)", self.label,
                    name, name)
end)

return M
