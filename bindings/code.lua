-- code.lua - programs as code: p:ptx(), p:cubin(), p:binary(), p:sass(), the variables of a
-- program, and programs from code that was compiled elsewhere.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local buffer = require 'bindings.buffer'
local errors = require 'bindings.errors'

local C = mare.C
local variable_fields = { name = 'string', type = mare.types }

local data, size = ffi.new 'const void *[1]', ffi.new 'uint64_t[1]'

local function code(self, form)
    mare.check(C.mare_program_code(self.handle, form, data, size))
    return ffi.string(data[0], size[0])
end

-- ---- instructions ----

-- NVIDIA's disassemblers, the first of which is the one of cubins.
local tools = { 'nvdisasm -c', 'cuobjdump -sass' }
local home = os.getenv 'CUDA_HOME' or '/usr/local/cuda'
local places = { '', home .. '/bin/', '/usr/local/cuda/bin/' }

-- The output of a command, or nil.
local function output(command)
    local pipe = io.popen(command .. ' 2>/dev/null')
    local text = pipe and pipe:read '*a'
    if pipe then pipe:close() end
    return text and text:find '%S' and text
end

local function disassemble(cubin)
    local path = os.tmpname()
    local file = assert(io.open(path, 'wb'))
    file:write(cubin)
    file:close()
    local text
    for _, tool in ipairs(tools) do
        for _, place in ipairs(places) do
            text = text or output(place .. tool .. ' ' .. path)
        end
    end
    os.remove(path)
    return text
end

-- ---- methods of programs ----

local methods = {}

-- The code that the driver is given, as a string of bytes; PoCL's has Mare's checksum in front.
function methods:binary() return code(self, 'binary') end

-- The text in NVIDIA's virtual instructions; the program is compiled once more for it.
function methods:ptx() return code(self, 'ptx') end

-- The binary of NVIDIA's own instructions.
function methods:cubin() return code(self, 'cubin') end

-- The text in the device's own instructions, by nvdisasm or cuobjdump of the CUDA toolkit, which
-- are looked for in PATH, $CUDA_HOME/bin and /usr/local/cuda/bin.
function methods:sass()
    local text = disassemble(code(self, 'cubin'))
    if text then return text end
    errors.raise('MARE_ERROR_UNAVAILABLE', "program '%s': sass: neither nvdisasm nor cuobjdump is "
        .. 'here: they come with the CUDA toolkit (PATH, $CUDA_HOME/bin, /usr/local/cuda/bin)',
        self.label)
end

-- A variable that the source declares extern "C" __device__ or __constant__, as a buffer of that
-- type: p:variable('table', 'float'):upload { 1, 2, 3 }. It is shared by all launches.
function methods:variable(name, type_name)
    errors.fields('program:variable', { name = name, type = type_name }, variable_fields)
    if not name then errors.argument 'program:variable: the name is missing' end
    return buffer.of_program(self, name, type_name or 'float')
end

return methods
