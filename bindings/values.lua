-- values.lua - what C and Lua hand each other beside numbers and texts: buffers, which both
-- hold, and arrays in memory of Lua, which C reads where they are.

local ffi = require 'ffi'
local buffer = require 'bindings.buffer'
local mare = require 'bindings.ffi'
local device = require 'bindings.device'
local host_array = require 'bindings.host_array'

local M = {}

local type_of = {}      -- the number of an element type by LuaJIT's spelling of it
for name, ctype in pairs(mare.ctypes) do
    type_of[tostring(ffi.typeof(ctype .. '[1]')):match '^ctype<(.-)%s*%['] = mare.types[name]
end

local function pointer(address)
    return ffi.new('void *[1]', ffi.cast('void *', address))
end

-- Of an array whose length is known: 'array', where its address is, elements, type.
local function export_array(array, count)
    local name, length = tostring(ffi.typeof(array)):match '^ctype<(.-)%s*%[(%d*)%]>$'
    if not name then name = tostring(ffi.typeof(array)):match '^ctype<(.-)%s*%*>$' end
    local type = name and type_of[name:gsub('^const ', '')]
    count = count or tonumber(length)
    if type and count then return 'array', pointer(array), count, type end
end

-- See read_foreign in engine_value.c. Fields and pinned memory have their array in `data`.
function M.export(value)
    if host_array.is(value) then
        return 'array', pointer(value:pointer()), value.count, mare.types[value.type]
    elseif type(value) == 'cdata' then
        if tonumber(value) then return 'number', tonumber(value) end
        return export_array(value)
    elseif buffer.is(value) then
        return 'buffer', pointer(value.handle)
    elseif type(rawget(value, 'data')) == 'cdata' then
        if host_array.is(value.data) then return M.export(value.data) end
        return export_array(value.data, rawget(value, 'count'))
    end
end

-- Returns `size` bytes of a C array, for export, which keeps that.
function M.bytes(array, size)
    return { data = ffi.cast('uint8_t *', array), count = size, owner = array }
end

-- The buffer at this address, which stays alive as long as what is returned.
function M.import(address)
    return buffer.adopt(ffi.cast('mare_buffer *', address), device.adopt)
end

-- A pointer for C, as C data that holds it.
M.pointer = pointer

return M
