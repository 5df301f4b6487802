-- call.lua - the work of somebody else's library in the order of a stream, in plans and profiles.
--
--     ffi.cdef 'typedef struct { float *x; int n; } scale_job; int scale(void *job, void *queue);'
--     local library = ffi.load 'scale'
--     local job = ffi.new('scale_job', pointer, 1000)
--     local scale = d:call { label = 'scale', run = library.scale, data = job, buffers = { x },
--         bytes = 2 * x.size }
--     scale:run(s)                                -- after what is queued on s, before what follows
--     plan = s:record(function() scale:run(s) end)
--
-- The function queues its work on the native queue of the stream (a CUstream, a cl_command_queue,
-- NULL on null) and returns a mare_status as an int; what else it may do stands in mare.h, under
-- calls. It is a function of C. One of Lua's is refused: compiled code of LuaJIT cannot be called
-- back while it calls C, and a plan may be replayed by a thread that this state does not know. A
-- pointer that ffi.cast has made of a Lua function cannot be told from one of C and breaks so.

local ffi = require 'ffi'
local mare = require 'bindings.ffi'
local anchors = require 'bindings.anchors'
local buffer = require 'bindings.buffer'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local memory = require 'bindings.memory'
local signal = require 'bindings.signal'
local stream = require 'bindings.stream'

local C, check = mare.C, mare.check
local class = handle.class('call', 'mare_call', C.mare_call_release)
local call = class.methods
local M = {}

local fields = { label = 'string', run = 'any', data = 'any', buffers = 'table', bytes = 'number' }

local function described(value)
    return type(value) == 'cdata' and tostring(ffi.typeof(value)) or type(value)
end

local function check_function(what, f)
    if type(f) == 'function' then
        errors.argument('%s: run is a Lua function, which a library must not call; a function of C '
            .. '(int f(void *data, void *queue), of ffi.load or ffi.C) is wanted', what)
    end
    if type(f) ~= 'cdata' or not described(f):find '%b()' then
        errors.argument('%s: run must be a function of C, int f(void *data, void *queue), not %s',
            what, described(f))
    end
    return ffi.cast('mare_call_function', f)
end

-- The address of data, NULL if there is none.
local function address_of(what, data)
    if memory.is_host(data) then return data:pointer() end
    local name = type(data) == 'cdata' and described(data) or ''
    local is_memory = name:find '[%*%]]>$' or name:find '^ctype<struct' or name:find '^ctype<union'
    if data ~= nil and not is_memory then
        errors.argument('%s: data must be a pointer, an array or a struct of C, or host memory, '
            .. 'not %s', what, described(data))
    end
    return data
end

local function handles_of(what, list)
    local handles = ffi.new('mare_buffer *[?]', #list)
    for k, x in ipairs(list) do handles[k - 1] = buffer.handle(x, what .. ': buffers') end
    return handles
end

-- device:call { label = 'scale', run = C function, data = what it is given (nil: NULL), buffers =
-- those that it reads or writes, bytes = that it moves, for the profile }: a call, to be run often.
-- The data lives as long as the call, and as what it has queued.
function M.create(device, options)
    local what = handle.title('call', options)
    errors.fields(what, options, fields)
    for _, name in ipairs { 'label', 'run' } do
        if options[name] == nil then errors.argument('%s: %s is missing', what, name) end
    end
    local buffers = options.buffers or {}
    local handles = handles_of(what, buffers)
    local owner = class.own()
    local desc = ffi.new('mare_call_desc', { label = options.label,
        ['function'] = check_function(what, options.run),
        data = ffi.cast('void *', address_of(what, options.data)), buffers = handles,
        buffer_count = #buffers, bytes = handle.whole(options.bytes or 0, what, 'bytes') })
    mare.create(C.mare_call_create, device.handle, desc, owner)
    return class.wrap(owner, { label = options.label, device = device, data = options.data })
end

-- Calls the function, which queues its work on the stream s or the default one; in a recording the
-- plan calls it. A status other than 0 is raised, with the message that the function has set.
function call:run(s)
    check(C.mare_call_run(self.handle, stream.handle(s, 'call:run')))
    if self.data ~= nil then anchors.keep(s or self.device.stream, self.data) end
    if signal.came[0] ~= 0 then signal.heed() end
end

class.on_call(call.run)

return M
