-- The structs of both headers against tests/embed/layout.txt: what programs were built with. A
-- struct that changes there needs another MARE_API_VERSION or MARE_ENGINE_API_VERSION; then
-- `MARE_LAYOUT=write build/mare tests/busted.lua tests/lua/layout_spec.lua` writes the list anew. A
-- field that takes words of `reserved` moves nothing and needs none, nor does a new struct.
local ffi = require 'ffi'
local home = require 'bindings.home'
local read = require 'bindings.read'

require 'bindings.ffi'

-- Field names of a struct's body, which declares one or more on a line.
local function fields_of(body)
    local names = {}
    body = body:gsub('/%*.-%*/', ''):gsub('%(%*([%w_]+)%)%b()', ' %1')
    for declaration in body:gmatch '[^;]+' do
        for name in declaration:gsub('%b[]', ''):gmatch '([%w_]+)%s*%f[,%z]' do
            names[#names + 1] = name
        end
    end
    return names
end

local function describe_structs(list, text)
    for name, body in text:gmatch 'typedef struct ([%w_]+) (%b{}) ' do
        local type = ffi.typeof(name)
        list[#list + 1] = ('%s: %d bytes'):format(name, ffi.sizeof(type))
        local start = #list
        for _, field in ipairs(fields_of(body)) do
            local offset = assert(ffi.offsetof(type, field), name .. '.' .. field)
            list[#list + 1] = ('    %d %s'):format(offset, field)
        end
        assert(#list > start, name)
    end
end

local function declarations(path)
    return assert(read(path)):match '/%* cdef:begin %*/(.-)/%* cdef:end %*/'
end

local function layout()
    local list, engine = {}, declarations(home.root .. '/bindings/mare_engine.h')
    pcall(ffi.cdef, engine)
    describe_structs(list, declarations(home.header))
    describe_structs(list, engine)
    return table.concat(list, '\n') .. '\n'
end

describe('the headers', function()
    it('declare structs as they were when their API got its number', function()
        local path = home.root .. '/tests/embed/layout.txt'
        local function number(name, file)
            return read(home.root .. file):match('#define ' .. name .. ' (%d+)')
        end
        local now = ('API %s, of the engine %s\n'):format(
            number('MARE_API_VERSION', '/core/mare.h'),
            number('MARE_ENGINE_API_VERSION', '/bindings/mare_engine.h')) .. layout()
        if os.getenv 'MARE_LAYOUT' == 'write' then
            local file = assert(io.open(path, 'w'))
            file:write(now)
            file:close()
        end
        assert.equal(read(path), now)
    end)

    it('leave a growing descriptor of the same size for old programs', function()
        for _, name in ipairs { 'mare_buffer_desc', 'mare_stream_desc', 'mare_program_desc',
                'mare_call_desc', 'mare_tensor_desc', 'mare_engine_desc' } do
            local size = ffi.sizeof(name)
            local words = ffi.sizeof(ffi.new(name).reserved)
            assert.equal(size, ffi.offsetof(name, 'reserved') + words)
        end
    end)
end)
