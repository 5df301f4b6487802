-- Products by cuBLAS and CLBlast: what Mare asks them for, by fakes of them (tests/fake/blas.c)
-- that compute in the memory of null devices, and what it says where they fail.

local fakes = require 'tests.fakes'
local home = require 'bindings.home'
local trial = require 'tests.scenarios.trial'

local script = [[
local mare, device = require 'mare', require 'bindings.device'
require('bindings.cublas').is_fake = true
require('bindings.clblast').is_fake = true
local on = device.open 'null'
local function random(sizes, seed, type)
    return (mare.randint(-40, 40, sizes, { seed = seed, device = on }) / 8):to(type):eval()
end
]]

-- Returns the exit status and what a script prints that uses the fakes. failure: MARE_FAKE_FAIL
local function run(text, failure)
    local folder = trial.new_folder()
    finally(function() trial.remove(folder) end)
    trial.spit(folder .. '/script.lua', script .. text)
    local status, printed = trial.status_of(
        ("MARE_FAKE_FAIL='%s' LD_LIBRARY_PATH='%s/fake_blas' '%s' '%s/script.lua'"):format(
        failure or '', fakes, home.launcher, folder))
    return status, (printed:gsub('%s+status %d+%s*$', ''))
end

-- Compares products with those of Lua, which are exact for multiples of 1/8.
local compare = [[
for _, library in ipairs { 'cublas', 'clblast' } do
    for _, type in ipairs { 'float', 'double' } do
        if library == 'cublas' or type == 'float' then
            local a, b, c = random({ 5, 7 }, 1, type), random({ 7, 6 }, 2, type),
                random({ 3, 1, 4, 5 }, 3, type)
            local how = { library = library }
            for k, pair in ipairs { { a, b }, { b:transpose(), a:transpose() }, { c, a },
                { a { { 1, 4 }, { 2, 6 } }, b { { 1, 5 }, { 0, 5 } } },
                { a { {}, { nil, nil, 2 } }, b { { 0, 4 } } }, { a { 0 }, b },
                { random({ 2, 4, 5 }, 4, type), random({ 2, 5, 3 }, 5, type) } } do
                local difference = pair[1]:matmul(pair[2], how) - pair[1]:matmul(pair[2])
                assert(difference:abs():max():item() == 0, library .. type .. k)
            end
        end
    end
end
local fine = mare.full({ 2, 2 }, 1 + 2 ^ -12, { device = on })
print(fine:matmul(fine, { library = 'cublas' }):at(0, 0) > 2,
    fine:matmul(fine, { library = 'cublas', tf32 = true }):at(0, 0) == 2,
    fine:double():matmul(fine:double(), { library = 'cublas', tf32 = true }):at(0, 0) > 2)
]]

describe('products by libraries of others', function()
    it('are asked for what they are', function()
        local status, text = run(compare)
        assert.equal('0 true\ttrue\ttrue', status .. ' ' .. text)
    end)

    it('are part of plans, and of memory that is used again', function()
        local status, text = run [[
local a, b = random({ 8, 8 }, 1, 'float'), random({ 8, 8 }, 2, 'float')
a:buffer()                      -- so that a stays where it is
local c
local plan = on.stream:record(function() c = a:matmul(b, { library = 'cublas' }) end)
a:assign(2 * a)
plan:run(2)
print((c - a:matmul(b)):abs():max():item())
for _ = 1, 2000 do c = a:matmul(b, { library = 'cublas' }) end
print((on:pool()) < 2 ^ 26, (c - a:matmul(b)):abs():max():item())
]]
        assert.equal('0 0\ntrue\t0', status .. ' ' .. text)
    end)

    it('keep nothing of a device that nobody holds any more', function()
        local status, text = run [[
            on = nil
            local function use()
                local own = device.open 'null'
                local a = mare.ones({ 4, 4 }, { device = own })
                a:matmul(a, { library = 'cublas' }):at(1, 1)
            end
            local function count()
                for _ = 1, 4 do collectgarbage() end
                return device.live_objects()
            end
            use()
            local first = count()
            for _ = 1, 8 do use() end
            print(count() - first)
        ]]
        assert.equal('0 0', status .. ' ' .. text)
    end)

    it('say which function failed, and leave the array as it was', function()
        for failure, words in pairs {
            ['cublasCreate_v2:1:3'] = "cublasCreate_v2 returned 3",
            ['cublasSetStream_v2:1:7'] = "call 'product': cublasSetStream_v2 returned 7",
            ['cublasSetWorkspace_v2:1:7'] = 'cublasSetWorkspace_v2 returned 7',
            ['cublasGemmEx:1:13'] = 'cublasGemmEx returned 13',
        } do
            local status, text = run([[
local a = random({ 4, 4 }, 1, 'float')
print(pcall(a.matmul, a, a, { library = 'cublas' }))
print(a:matmul(a):sum():item() == a:matmul(a, { library = 'own' }):sum():item())
]], failure)
            assert.equal(0, status, text)
            assert.truthy(text:find('false', 1, true) and text:find(words, 1, true), text)
            assert.truthy(text:find('\ntrue', 1, true), text)
        end
    end)

    it('are refused on devices of others', function()
        local status, text = run [[
require('bindings.cublas').is_fake, require('bindings.clblast').is_fake = false, false
local a = random({ 4, 4 }, 1, 'float')
print(pcall(a.matmul, a, a, { library = 'cublas' }))
print(pcall(a.matmul, a, a, { library = 'clblast' }))
print(pcall(a.matmul, a, a, { library = 'other' }))
]]
        assert.equal(0, status, text)
        for _, words in ipairs { "library 'cublas' on null:0: cuBLAS is for CUDA devices",
            'CLBlast is for OpenCL devices', 'clblast, cublas, openblas, own' } do
            assert.truthy(text:find(words, 1, true), text)
        end
    end)
end)
