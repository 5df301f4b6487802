-- Functions of C that Lua calls: each is declared once, as two declarations may differ unseen.

local lfs = require 'lfs'

-- The names of the functions that a file's text declares to the FFI.
local function declared(text)
    local names = {}
    for block in text:gmatch 'cdef%s*(%b[])' do
        for name in block:gmatch '([%w_]+)%s*%b()%s*;' do names[#names + 1] = name end
    end
    return names
end

-- 'name: file, file' of what two of the files declare.
local function declared_twice(texts)
    local home, twice = {}, {}
    for path, text in pairs(texts) do
        for _, name in ipairs(declared(text)) do
            if home[name] then
                local pair = { home[name], path }
                table.sort(pair)
                twice[#twice + 1] = name .. ': ' .. table.concat(pair, ', ')
            end
            home[name] = path
        end
    end
    return twice
end

describe('functions of C', function()
    it('are found where they are declared twice', function()
        local found = declared_twice {
            a = 'ffi.cdef [[\n    int getpid(void);\n    int one(int a,\n        int b);\n]]\n',
            b = 'ffi.cdef [[\n    int two(void);\n    int getpid(void);\n]]\nlocal x = one(2);\n',
        }
        assert.same({ 'getpid: a, b' }, found)
    end)

    it('are declared once', function()
        local texts, count = {}, 0
        for name in lfs.dir 'bindings' do
            if name:find '%.lua$' then
                local file = assert(io.open('bindings/' .. name))
                texts[name] = file:read '*a'
                file:close()
                count = count + #declared(texts[name])
            end
        end
        assert.is_true(count > 100)
        assert.same({}, declared_twice(texts))
    end)
end)
