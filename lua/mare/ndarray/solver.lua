-- Systems of equations, eigenvalues and singular values by cuSOLVER, which leaves them on the
-- device: linear.lua asks it where it is there. A matrix is a handle; its transpose's rows are what
-- cuSOLVER takes for columns.

local array = require 'mare.ndarray.array'
local creation = require 'mare.ndarray.creation'
local cusolver = require 'bindings.cusolver'

local solver = {}

-- Returns whether it computes on a device.
function solver.is_there(device)
    return (cusolver.is_there(device))
end

-- Returns the values as another type in memory of their own.
local function fresh(a, type) return a:to(type.name):copy():eval() end

local function new(on, type, ...)
    return creation.zeros({ ... }, { type = type.name, device = on }):eval()
end

-- Returns x with a x = b, of n x n and n x columns.
function solver.solve(on, type, a, b)
    local n, x = #a, fresh(b:transpose(), type)
    cusolver.solve(on, type.name, n, #x, fresh(a, type):buffer(), x:buffer())
    return x:transpose()
end

function solver.cholesky(on, type, a)
    local n, l = #a, fresh(a, type)
    cusolver.cholesky(on, type.name, n, l:buffer())
    local numbers = creation.arange(n, { device = on })
    return array.where(numbers:reshape(n, 1):ge(numbers), l, 0):eval()
end

-- Returns the eigenvalues and the eigenvectors as columns.
function solver.eigh(on, type, a)
    local v, w = fresh(a, type), new(on, type, #a)
    cusolver.symmetric_eigenvalues(on, type.name, #a, v:buffer(), w:buffer())
    return w, v:transpose()
end

-- Returns u, s and v^T. The rows of a wide matrix are the columns of its transpose v diag(s) u^T.
function solver.svd(on, type, a)
    local is_wide = a.shape[2] > a.shape[1]
    local given = fresh(is_wide and a or a:transpose(), type)
    local columns, rows = given.shape[1], given.shape[2]
    local s, left, right = new(on, type, columns), new(on, type, columns, rows),
        new(on, type, columns, columns)
    cusolver.singular_values(on, type.name, rows, columns, given:buffer(), s:buffer(),
        left:buffer(), right:buffer())
    if is_wide then return right, s, left end
    return left:transpose(), s, right:transpose()
end

-- Returns x, the rank and the singular values, of which those below cutoff times the largest count
-- as 0.
function solver.lstsq(on, type, a, b, cutoff)
    local u, s, vt = solver.svd(on, type, a)
    local counts = s:gt(s { 0 } * cutoff)
    local inverse = array.where(counts, 1 / s, 0):reshape(-1, 1)
    local x = vt:transpose():matmul((inverse * u:transpose():matmul(b:to(type.name))):eval())
    return x, tonumber(counts:sum():item()), s
end

return solver
