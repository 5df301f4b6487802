-- program.lua - device programs from source text.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local code = require 'bindings.code'
local compiler = require 'bindings.compiler'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local kernel = require 'bindings.kernel'

local C = mare.C
local class = handle.class('program', 'mare_program', C.mare_program_release)
local program = class.methods

local size, log_size = ffi.new 'uint64_t[1]', 65536
local languages = {
    mare = C.MARE_LANGUAGE_MARE, cuda = C.MARE_LANGUAGE_CUDA, opencl = C.MARE_LANGUAGE_OPENCL,
}
local M = { languages = languages }
local maths = {
    strict = C.MARE_MATH_STRICT, fast = C.MARE_MATH_FAST, relaxed = C.MARE_MATH_RELAXED,
}
local fields = {
    source = 'string', name = 'string', defines = 'table', include_paths = 'table',
    language = languages, math = maths, options = 'string', code = 'string',
}

local function define_text(name, value, what)
    local kind = type(value)
    if value == true then return nil end
    if kind == 'string' then return value end
    if kind == 'number' and value % 1 ~= 0 then return ('%.17g'):format(value) end
    if kind == 'number' then return ('%.0f'):format(value) end
    local text = tostring(value)
    if kind == 'cdata' and text:find '^%-?%d+U?LL$' then return text end
    errors.argument("%s: define '%s' must be a string, a number or a boolean, not %s", what, name,
                    kind)
end

-- Sorted, because the text of the defines is part of the cache's key. `false` leaves a name
-- undefined. `anchor` keeps the texts, which C only points to, from the collector.
local function define_array(defines, anchor, what)
    local names = {}
    for name, value in pairs(defines) do
        if type(name) ~= 'string' then
            errors.argument('%s: defines are { NAME = value }; [%s] is no name', what,
                            tostring(name))
        end
        if value ~= false then names[#names + 1] = name end
    end
    table.sort(names)
    local array = ffi.new('mare_define[?]', #names)
    for i, name in ipairs(names) do
        local value = define_text(name, defines[name], what)
        array[i - 1].name, array[i - 1].value = name, value
        anchor[#anchor + 1] = value
    end
    anchor[#anchor + 1] = array
    return array, #names
end

local function path_array(paths, what)
    for i, path in ipairs(paths) do
        errors.wanted(('%s: include_paths[%d]'):format(what, i), 'string', path)
    end
    return ffi.new('const char *[?]', #paths, paths)
end

-- Calls use(desc) with a descriptor made of the table of d:program.
local function with_desc(options, use)
    local what = handle.title('program', options)
    errors.fields(what, options, fields)
    if not options.source then errors.argument('%s: source is missing', what) end
    local nul = options.source:find('\0', 1, true)
    if nul then errors.argument('%s: source: byte %d is 0, which would end it', what, nul) end
    local anchor = {}
    local defines, define_count = define_array(options.defines or {}, anchor, what)
    local paths = options.include_paths or {}
    local include_paths = path_array(paths, what)
    local desc = ffi.new('mare_program_desc', {
        source = options.source, name = options.name or 'source', options = options.options,
        language = languages[options.language or 'mare'], math = maths[options.math or 'strict'],
        defines = defines, define_count = define_count,
        include_paths = include_paths, include_path_count = #paths,
    })
    use(desc)
    return anchor, include_paths
end

local function make(make_in_c, device, options)
    local owner = class.own()
    with_desc(options, function(desc)
        mare.create(make_in_c, device.handle, desc, owner)
    end)
    return owner
end

local function begin(device, options)
    compiler.count()
    return make(C.mare_program_begin, device, options)
end

local begun = setmetatable({}, { __mode = 'k' })    -- by device: cells of programs, by their key

-- device:prepare(options): begins to compile on a thread of core what device:program will be asked
-- for with the same table, so that the two go on side by side, and several programs do. What is
-- wrong with the text device:program tells. One that it is never asked for stays until the device
-- is released.
function M.prepare(device, options)
    local waiting = begun[device] or {}
    begun[device] = waiting
    errors.wanted('device:prepare', 'table', options)
    local key = type(options.source) == 'string' and compiler.key(options)
    if key and waiting[key] then return end
    local owner = begin(device, options)
    waiting[key] = owner
end

-- To be called when a device is released.
function M.forget(device)
    for _, owner in pairs(begun[device] or {}) do
        ffi.gc(owner, nil)
        C.mare_program_release(owner[0])
    end
    begun[device] = nil
end

local function take(device, options)
    local waiting = begun[device]
    if not waiting or not next(waiting) then return nil end
    errors.wanted('program', 'table', options)
    local key = type(options.source) == 'string' and compiler.key(options)
    local owner = key and waiting[key]
    if owner then waiting[key] = nil end
    return owner
end

-- Raises what the compiler has to say. An exception of a C++ library is raised as LuaJIT raises it
-- where it flies through Lua. Where memory was short what the collector gives back may be enough.
local function finish(owner, device, options)
    local status = compiler.finish(owner[0])
    mare.poll_log()
    if status == 0 then return owner end
    local message = ffi.string(C.mare_error_message())
    if message:find(errors.foreign, 1, true) then error(errors.foreign, 0) end
    if status ~= C.MARE_ERROR_MEMORY then mare.check(status) end
    collectgarbage()
    return make(C.mare_program_create, device, options)
end

local function load(device, options)
    errors.wanted("program: code", 'string', options.code)
    return make(function(own, desc, owner)
        return C.mare_program_load(own, desc, options.code, #options.code, owner)
    end, device, options)
end

-- device:program { source = text, name = 'x.krn', defines = { N = 4 }, include_paths = { ... },
-- language = 'mare', math = 'strict', options = '' }: compiles, or takes the binary from the cache;
-- while somebody holds the same program in the dialect, nothing is built again.
-- With code = bytes, PTX, a cubin or SPIR-V, nothing is compiled: source declares their kernels.
function M.create(device, options)
    local owner = type(options) == 'table' and options.code and load(device, options)
        or finish(take(device, options) or begin(device, options), device, options)
    local self = class.wrap(owner, { label = options.name or 'source', device = device })
    if device.name:find '^opencl' and device.info.vendor:find 'NVIDIA' and not options.code then
        self.compiled = options         -- for the registers of its kernels (kernel.lua)
    end
    self.log = ffi.string(C.mare_program_log(self.handle))
    self.cached = C.mare_program_cached(self.handle) ~= 0
    return self
end

-- Compiles without a device for a target such as 'cuda:sm_90'; returns the bytes of the binary and
-- the compiler's warnings.
function M.check(target, options)
    local log = ffi.new('char[?]', log_size)
    with_desc(options, function(desc)
        mare.check(C.mare_program_check(target, desc, size, log, log_size))
    end)
    return tonumber(size[0]), ffi.string(log)
end

for name, method in pairs(code) do program[name] = method end

-- The kernel of that name: its arguments in `args`, what it takes of the device in `info`. In plain
-- CUDA C++ also an instance of a template, 'scale<float, 4>'.
function program:kernel(name)
    return kernel.create(self, name)
end

return M
