-- ffi.lua - libmare as LuaJIT sees it: the marked part of mare.h, the loaded library, the version
-- handshake and the one place where a status becomes a Lua error.

local ffi = require 'ffi'
require 'bindings.pairs'
local errors = require 'bindings.errors'
local home = require 'bindings.home'
local read = require 'bindings.read'

local function declarations(path)
    local text, reason = read(path)
    if not text then error(reason, 0) end
    return (assert(text:match '/%* cdef:begin %*/(.-)/%* cdef:end %*/',
                   path .. ': no cdef section'))
end

ffi.cdef(declarations(home.header))

local C = ffi.load(home.library)
if C.mare_api_version() ~= tonumber(C.MARE_API_VERSION) then
    error(('%s has API version %d, %s declares %d: they belong to different versions of Mare')
        :format(home.library, C.mare_api_version(), home.header, tonumber(C.MARE_API_VERSION)), 0)
end

local M = { C = C, version = ffi.string(C.mare_version()), commit = ffi.string(C.mare_commit()) }

local log_level, log_line = ffi.new 'uint32_t[1]', ffi.new 'char[512]'
local log_names = { 'error', 'warn', 'info', 'debug' }

-- Hands what core has to say to the host, if the host wants it: home.log(level, text).
function M.poll_log()
    if not home.log then return end
    while C.mare_log_next(log_level, log_line, 512) ~= 0 do
        home.log(log_names[log_level[0]], ffi.string(log_line))
    end
end

function M.check(status)
    if status ~= 0 then
        local message = ffi.string(C.mare_error_message())
        M.poll_log()
        errors.raise(ffi.string(C.mare_status_name(status)), (message:gsub('%s+$', '')))
    end
end

-- Calls create(...), which may fail for lack of memory that only the collector can give back:
-- handles that nothing refers to any more. The second collection frees what the finalizers of the
-- first let go.
function M.create(create, ...)
    local status = create(...)
    if status == C.MARE_ERROR_MEMORY then
        collectgarbage()
        collectgarbage()
        status = create(...)
    end
    M.check(status)
    M.poll_log()
end

-- Names of enumerated values, both ways: M.types.float == 9, M.type_names[9] == 'float'.
M.types, M.type_names, M.ctypes = {}, {}, {}
local spelling = { bytes = 'uint8_t', half = 'mare_half', complex_float = 'complex float',
                   complex_double = 'complex' }
for id = tonumber(C.MARE_TYPE_NONE), tonumber(C.MARE_TYPE_COMPLEX_DOUBLE) do
    local name = ffi.string(C.mare_type_name(id))
    M.types[name], M.type_names[id] = id, name
    M.ctypes[name] = spelling[name] or name:match '^u?int' and name .. '_t' or name
end

return M
