-- Systems of equations, eigenvalues and singular values by cuSOLVER: what Mare asks it for, by a
-- fake of it (tests/fake/solver.c) that computes in the memory of null devices.

local fakes = require 'tests.fakes'
local home = require 'bindings.home'
local openblas = require 'bindings.openblas'
local trial = require 'tests.scenarios.trial'

local script = [[
local mare, cusolver = require 'mare', require 'bindings.cusolver'
require('bindings.openblas').is_there()     -- loads it, for the fake
local on = mare.device.open 'null'
local function random(sizes, seed, type)
    return mare.rand(sizes, { seed = seed, type = type or 'double', device = on }):eval()
end
local function both(f)
    local host = { f() }
    cusolver.is_fake = true
    local made = { f() }
    cusolver.is_fake = false
    return made, host
end
-- The largest difference of results by cuSOLVER and by LAPACK, the first `count` of them.
local function difference(count, f)
    local worst = 0
    local made, host = both(f)
    for k = 1, count do
        local d = type(host[k]) == 'number' and math.abs(host[k] - made[k])
            or (host[k] - made[k]):abs():max():item()
        assert(type(host[k]) == 'number' or tostring(host[k].shape) == tostring(made[k].shape))
        worst = math.max(worst, d)
    end
    return worst
end
local a, b = random({ 5, 5 }, 1), random({ 5, 2 }, 2)
local s = a:matmul(a:transpose())
]]

-- Returns the exit status and what a script prints that uses the fake. failure: MARE_FAKE_FAIL
local function run(text, failure)
    local folder = trial.new_folder()
    finally(function() trial.remove(folder) end)
    trial.spit(folder .. '/script.lua', script .. text)
    local status, printed = trial.status_of(
        ("MARE_FAKE_FAIL='%s' LD_LIBRARY_PATH='%s/fake_solver' '%s' '%s/script.lua'"):format(
        failure or '', fakes, home.launcher, folder))
    return status, (printed:gsub('%s+status %d+%s*$', ''))
end

describe('systems of equations by cuSOLVER', function()
    if not openblas.is_there() then return pending 'the fake needs OpenBLAS' end

    it('give what LAPACK gives', function()
        local status, text = run [[
for k, f in ipairs {
    function()
        return a:solve(b), a:transpose():solve(b { {}, 1 }), a { {}, { nil, nil, -1 } }:inv()
    end,
    function() return a:complex(s):solve(b:complex(1)):imag(), s:cholesky() end,
    function() return (s:eigh()) end,
    function() return (select(2, random({ 7, 4 }, 3):svd())) end,
    function() return (select(2, random({ 4, 7 }, 3):svd())) end,
    function() return random({ 7, 4 }, 3):lstsq(random({ 7 }, 4)) end,
    function() return random({ 4, 7 }, 3):lstsq(random({ 4, 2 }, 4)) end,
    function() return mare.ones({ 3, 2 }, { device = on }):lstsq({ 1, 2, 3 }) end,
} do
    local count = select('#', f())
    assert(difference(count, f) < 1e-5, k .. ' ' .. difference(count, f))
end
cusolver.is_fake = true
local w, v = s:eigh()
assert((s:matmul(v) - v * w):abs():max():item() < 1e-12)
for _, m in ipairs { random({ 7, 4 }, 3, 'float'), random({ 4, 7 }, 3, 'float') } do
    local u, values, vt = m:svd()
    assert(((u * values):matmul(vt) - m):abs():max():item() < 1e-5)
    assert(u.type == 'float')
end
local none = mare.zeros({ 2, 2 }, { device = on })
print(pcall(none.solve, none, { 1, 2 }))
print(pcall(none.cholesky, none))
]]
        assert.equal(0, status, text)
        assert.truthy(text:find 'solve: the matrix is singular', text)
        assert.truthy(text:find 'cholesky: the matrix is not positive definite', text)
    end)

    it('say which function failed', function()
        for failure, words in pairs {
            ['cusolverDnSetStream:1:7'] = "call 'solve': cusolverDnSetStream returned 7",
            ['cusolverDnDgetrf:1:6'] = 'cusolverDnDgetrf returned 6',
        } do
            local status, text = run('cusolver.is_fake = true print(pcall(a.solve, a, b))', failure)
            assert.equal(0, status, text)
            assert.truthy(text:find(words, 1, true), text)
        end
        local _, text = run('cusolver.is_fake = true print(a:solve(b).shape)',
            'cusolverDnCreate:1:3')
        assert.equal('{ 5, 2 }', text)      -- by LAPACK, since the device has no cuSOLVER
    end)
end)
