-- Products of matrices, systems of equations, eigenvalues and singular values: by what they must
-- satisfy.

local fails = require 'tests.fails'
local mare = require 'mare'
local openblas = require 'bindings.openblas'

local null = mare.device.open 'null'

local function array(list, type) return mare.array(list, { type = type, device = null }) end

local function random(sizes, seed)
    return mare.rand(sizes, { seed = seed, type = 'double', device = null }):eval()
end

local function equal(a, b)
    assert.same(b.shape, a.shape)
    assert.truthy((a - b):abs():max():item() < 1e-12)
end

describe('products of matrices', function()
    it('follow the rule of NumPy about axes', function()
        local a, b = array { { 1, 2 }, { 3, 4 } }, array { 5, 6 }
        assert.same({ { 7, 10 }, { 15, 22 } }, a:matmul(a):totable())
        assert.same({ 17, 39 }, a:matmul(b):totable())
        assert.same({ 23, 34 }, b:matmul(a):totable())
        assert.equal(61, b:matmul(b):item())
        local many = a:matmul(mare.ones({ 4, 2, 2 }, { device = null }))
        assert.same({ 4, 2, 2 }, { unpack(many.shape) })
        assert.same({ 'int32', 'double' },
            { a:gt(1):matmul(a:gt(1)).type, a:matmul(a:double()).type })
        assert.same({ { 4, 4 }, { 4, 4 } }, mare.blas.gemm(a, mare.eye(2, { device = null }),
            { c = 4 - a }):totable())
        assert.same({ 11, 14 }, mare.blas.axpy(2, b, array { 1, 2 }):totable())
        assert.equal('host', mare.blas.library(null))
    end)

    it('are refused by shapes and types', function()
        local a = array { { 1, 2, 3 } }
        fails(function() a:matmul(a) end, 'MARE_ERROR_ARGUMENT', '{ 1, 3 }', 'float')
        fails(function() a:matmul(array(2)) end, nil, 'do not fit')
        fails(function() a:matmul(2) end, nil, 'array', 'number')
        fails(function() a:matmul(array { 1, 2, 3 }, { library = 'mkl' }) end, nil, 'mkl', 'own')
    end)
end)

describe('linear algebra', function()
    if not openblas.is_there() then return pending 'needs OpenBLAS' end
    local a, b = random({ 5, 5 }, 1), random({ 5, 2 }, 2)
    local s = a:matmul(a:transpose())

    it('solves systems of equations', function()
        equal(a:matmul(a:solve(b)), b)
        equal(a:transpose():matmul(a:transpose():solve(b { {}, 1 })), b { {}, 1 })
        equal(a:matmul(a:inv()), mare.eye(5, { device = null }):double())
        local z, w = a:complex(s), b:complex(1)
        equal(z:matmul(z:solve(w)), w)
        local c = s:cholesky()
        equal(c:matmul(c:transpose()), s)
        assert.equal(0, c:at(0, 1))
        assert.truthy(math.abs(s:det() - a:det() ^ 2) < 1e-14)
        assert.equal(-2, array({ { 0, 1 }, { 2, 7 } }):det())
        assert.equal(0, array({ { 1, 2 }, { 2, 4 } }):det())
        assert.same({ 1, 2 }, array({ { 2, 0 }, { 0, 2 } }):solve({ 2, 4 }):totable())
    end)

    it('finds eigenvalues and singular values', function()
        local w, v = s:eigh()
        equal(s:matmul(v), v * w)
        w, v = a:eig()
        equal(a:matmul(v), v * w)
        assert.same({ 'complex_double', 'complex_double' }, { w.type, v.type })
        for _, m in ipairs { random({ 7, 4 }, 3), random({ 4, 7 }, 3) } do
            local u, values, vt = m:svd()
            equal((u * values):matmul(vt), m)
            local q, r = m:qr()
            equal(q:matmul(r), m)
            equal(q:transpose():matmul(q), mare.eye(4, { device = null }):double())
            assert.same({ 0, 0 }, { r:at(1, 0), r:at(3, 2) })
            local x, rank, again = m:lstsq(random({ #m }, 4))
            equal(m:transpose():matmul(m:matmul(x)), m:transpose():matmul(random({ #m }, 4)))
            equal(again, values)
            assert.equal(4, rank)
        end
    end)

    it('refuses what has no solution, before anything is made', function()
        local none = mare.zeros({ 2, 2 }, { device = null })
        fails(function() none:solve { 1, 2 } end, 'MARE_ERROR_STATE', 'singular')
        fails(function() none:cholesky() end, 'MARE_ERROR_STATE', 'positive definite')
        fails(function() b:solve { 1, 2 } end, 'MARE_ERROR_ARGUMENT', '{ 5, 2 }', 'square')
        fails(function() a:solve { 1, 2 } end, nil, '5 rows', '{ 2 }')
        fails(function() a:complex(a):svd() end, nil, 'complex_double')
        fails(function() array { 1 }:eigh() end, nil, '{ 1 }', 'matrix')
    end)
end)
