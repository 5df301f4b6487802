-- block.lua - parameter blocks: kernel arguments that are structs, by the names of their fields.
--
--     typedef struct params { real dt; int n; real weights[3]; } params;      in the source
--     MR_KERNEL void f(const params p, MR_GLOBAL real *x) { ... }
--
--     launch = kernel:bind { p = { dt = 0.1, n = 5, weights = { 1, 2, 1 } }, x = x, global = 5 }
--     launch:set('p.dt', 0.2)
--     launch:set('p', { dt = 0.2, n = 6, weights = { 1, 4, 1 } })

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local errors = require 'bindings.errors'
local suggest = require 'bindings.suggest'

local C, check = mare.C, mare.check
local M = {}

local info = ffi.new 'mare_field_info'

-- The fields of argument `index` of a kernel, in the order of the declaration: { name, path =
-- 'p.dt', type, count, index = of the argument, field }.
function M.read(k, index, argument, count)
    local fields = {}
    for i = 1, count do
        check(C.mare_kernel_field(k, index, i - 1, info))
        local name = ffi.string(info.name)
        fields[i] = { name = name, path = argument .. '.' .. name, index = index, field = i - 1,
            type = mare.type_names[tonumber(info.type)], count = tonumber(info.count) }
    end
    return fields
end

local function names_of(arg)
    local names = {}
    for i, field in ipairs(arg.fields) do names[i] = field.name end
    return names
end

local function no_field(kernel_name, arg, name)
    local names = names_of(arg)
    errors.argument("kernel '%s': argument '%s' has no field '%s'%s (it has: %s)", kernel_name,
        arg.name, tostring(name), suggest(name, names), table.concat(names, ', '))
end

local function check_names(kernel_name, arg, values)
    local known = {}
    for _, name in ipairs(names_of(arg)) do known[name] = true end
    for name in pairs(values) do
        if not known[name] then no_field(kernel_name, arg, name) end
    end
    for _, field in ipairs(arg.fields) do
        if values[field.name] == nil then
            errors.argument("kernel '%s': argument '%s': field '%s' is missing", kernel_name,
                arg.name, field.name)
        end
    end
end

local function wrong(self, path, value, wanted)
    local what = type(value)
    if what == 'cdata' then what = tostring(ffi.typeof(value)) end
    errors.argument("kernel '%s': '%s' is %s: %s is wanted", self.label, path, what, wanted)
end

-- Returns the field of a kernel that 'p.dt' names, or nil.
function M.find(k, path)
    if type(path) ~= 'string' then return nil end
    local argument, name = path:match '^([^.]+)%.(.+)$'
    local arg = argument and k.index[argument] and k.args[k.index[argument] + 1]
    if not arg or not arg.fields then return nil end
    for _, field in ipairs(arg.fields) do
        if field.name == name then return field end
    end
    no_field(k.name, arg, name)
end

-- Where the field of a launch lies, as a pointer to its type.
function M.pointer(self, field)
    local pointer = C.mare_launch_field(self.handle, field.index, field.field)
    if pointer == nil then check(C.MARE_ERROR_ARGUMENT) end
    return ffi.cast(mare.ctypes[field.type] .. ' *', pointer)
end

local int64, uint64 = ffi.typeof 'int64_t', ffi.typeof 'uint64_t'
local complex, complex_float = ffi.typeof 'complex', ffi.typeof 'complex float'

local function set_element(self, field, element, value, path)
    local number = value
    if ffi.istype(uint64, value) and value >= 2ULL^63 and field.type == 'uint64' then
        M.pointer(self, field)[element] = value
        return
    elseif ffi.istype(int64, value) or ffi.istype(uint64, value) and value < 2ULL^63 then
        check(C.mare_launch_set_field_int(self.handle, field.index, field.field, element, value))
        return
    elseif type(value) == 'cdata' then
        local is_complex = ffi.istype(complex, value) or ffi.istype(complex_float, value)
        number = not is_complex and tonumber(value) or nil
    end
    if type(number) ~= 'number' then wrong(self, path, value, 'a number') end
    check(C.mare_launch_set_field_real(self.handle, field.index, field.field, element, number))
end

-- Sets one field of a launch: a number, of an array a table of so many.
function M.set_field(self, field, value)
    if field.count == 1 then return set_element(self, field, 0, value, field.path) end
    local wanted = ('a table of %d numbers'):format(field.count)
    if type(value) ~= 'table' then wrong(self, field.path, value, wanted) end
    if #value ~= field.count then
        errors.argument("kernel '%s': '%s' has %d values: %s is wanted", self.label, field.path,
            #value, wanted)
    end
    for i = 1, field.count do
        set_element(self, field, i - 1, value[i], ('%s[%d]'):format(field.path, i))
    end
end

-- Sets all fields of a launch's argument from a table by their names, of which none may be missing.
function M.set(self, arg, values)
    if type(values) ~= 'table' or getmetatable(values) then
        wrong(self, arg.name, values, 'a table of its fields')
    end
    check_names(self.label, arg, values)
    for _, field in ipairs(arg.fields) do M.set_field(self, field, values[field.name]) end
end

return M
