-- Systems of equations, least squares, eigenvalues and singular values: by cuSOLVER on CUDA
-- devices where it is there, else by the LAPACK of OpenBLAS on the host; the results are on the
-- array's device.

local array = require 'mare.ndarray.array'
local bound = require 'bindings.array'
local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local openblas = require 'bindings.openblas'
local shapes = require 'mare.expression.shapes'
local solver = require 'mare.ndarray.solver'
local transfer = require 'mare.ndarray.transfer'
local types = require 'mare.expression.types'

local linear = {}
local Array = array.methods

-- ---- matrices as LAPACK has them ----

-- Returns rows, columns and the type that a matrix is computed in, and the device. may_be_complex:
-- whether complex numbers are taken
local function matrix(self, what, may_be_complex)
    local node = array.node(self)
    local shape, type = node.shape, types.real(node.type)
    if shape.rank ~= 2 or shape.count == 0 then
        errors.argument('%s: the shape is %s: a matrix with elements is wanted', what,
            tostring(shape))
    end
    if type.complex and not may_be_complex then
        errors.argument('%s: it is for reals, not %s', what, type.name)
    end
    return shape[1], shape[2], type == types.half and types.float or type, node.device
end

local function square(self, what, may_be_complex)
    local rows, columns, type, on = matrix(self, what, may_be_complex)
    if rows ~= columns then
        errors.argument('%s: the shape is %s: a square matrix is wanted', what,
            tostring(array.node(self).shape))
    end
    return rows, type, on
end

-- Returns the elements of a matrix, column after column.
local function columns_of(self, type, what)
    return (transfer.read(self:to(type.name):transpose(), what))
end

-- Returns the matrix of elements that lie column after column.
local function of_columns(on, type, data, rows, columns)
    return creation.uploaded(on, type, data, shapes.of({ columns, rows }, 2)):transpose()
end

local function line(on, type, data, count)
    return creation.uploaded(on, type, data, shapes.line(count))
end

-- Returns the right-hand sides for a matrix of `rows` rows as a matrix, and whether there is only
-- one.
local function right_sides(b, rows, type, on, what)
    if not array.is(b) then b = creation.new(b, { type = type.name, device = on }) end
    local shape, elsewhere = array.node(b).shape, array.node(b).device
    if elsewhere ~= on then
        errors.argument('%s: the matrix is on %s, the right-hand side on %s', what, on.name,
            elsewhere.name)
    end
    if shape.rank < 1 or shape.rank > 2 or shape[1] ~= rows or shape.count == 0 then
        errors.argument('%s: the matrix has %d rows, the right-hand side is %s', what, rows,
            tostring(shape))
    end
    return shape.rank == 1 and b:reshape(-1, 1) or b, shape.rank == 1
end

-- Returns the type that a matrix and right-hand sides are computed in.
local function common(type, b)
    if not array.is(b) then return type end
    return types.common(type, types.real(array.node(b).type))
end

-- ---- systems of equations ----

local function solved(on, type, a, b)
    if solver.is_there(on) then return solver.solve(on, type, a, b) end
    local n, columns = array.node(b).shape[1], array.node(b).shape[2]
    local x = columns_of(b, type, 'solve')
    openblas.solve(type.name, n, columns, columns_of(a, type, 'solve'), x)
    return of_columns(on, type, x, n, columns)
end

-- Returns x with a x = b: of a vector b, or of each column of a matrix. The matrix is
-- square; by Gaussian elimination with row exchanges: a:solve(b):totable(). A singular matrix
-- is an error.
function Array:solve(b)
    local n, type, on = square(self, 'solve', true)
    type = common(type, b)
    local sides, is_one = right_sides(b, n, type, on, 'solve')
    local made = solved(on, type, self, sides)
    return is_one and made:reshape(-1) or made
end

-- Returns the inverse of a square matrix; a:solve(b) is faster and more exact than
-- a:inv():matmul(b).
function Array:inv()
    local n, type, on = square(self, 'inv', true)
    return self:solve(creation.eye(n, { type = type.name, device = on }))
end

-- Returns the determinant of a square matrix as a number; LAPACK finds it on the host.
function Array:det()
    local n, type = square(self, 'det')
    local a = columns_of(self, type, 'det')
    local pivots = openblas.triangles(type.name, n, a)
    local all = pivots and 1 or 0
    for k = 0, pivots and n - 1 or -1 do
        all = all * a[k * n + k] * (pivots[k] == k + 1 and 1 or -1)
    end
    return all
end

-- Returns the lower triangle l of a symmetric, positive definite matrix a = l l^T; only the
-- lower triangle of a is read.
function Array:cholesky()
    local n, type, on = square(self, 'cholesky')
    if solver.is_there(on) then return solver.cholesky(on, type, self) end
    local a = transfer.read(self:to(type.name), 'cholesky')
    openblas.cholesky(type.name, n, a)
    for i = 0, n - 1 do
        for j = i + 1, n - 1 do a[i * n + j] = 0 end
    end
    return creation.uploaded(on, type, a, shapes.of({ n, n }, 2))
end

local function least_squares(on, type, a, b, cutoff)
    if solver.is_there(on) then return solver.lstsq(on, type, a, b, cutoff) end
    local m, n = a.shape[1], a.shape[2]
    local columns, rows = array.node(b).shape[2], math.max(m, n)
    local given, x = columns_of(b, type, 'lstsq'), bound.new_array(type.name, rows * columns)
    for c = 0, columns - 1 do
        for k = 0, m - 1 do x[c * rows + k] = given[c * m + k] end
    end
    local s = bound.new_array(type.name, math.min(m, n))
    local rank = openblas.least_squares(type.name, m, n, columns, columns_of(a, type, 'lstsq'), x,
        s, cutoff)
    return of_columns(on, type, x, rows, columns) { { 0, n } }, rank,
        line(on, type, s, math.min(m, n))
end

-- Returns the x for which the sum of squares of a x - b is least, of all these the shortest;
-- the rank of a; and its singular values, the largest first. Singular values below cutoff
-- times the largest count as 0 (cutoff, if not given: the precision of the type times the larger
-- size).
function Array:lstsq(b, options)
    options = errors.fields('lstsq', options or {}, { cutoff = 'number' })
    local m, n, type, on = matrix(self, 'lstsq')
    type = common(type, b)
    local sides, is_one = right_sides(b, m, type, on, 'lstsq')
    local precision = type.name == 'float' and 2 ^ -23 or 2 ^ -52
    local x, rank, s = least_squares(on, type, self, sides,
        options.cutoff or precision * math.max(m, n))
    return is_one and x:reshape(-1) or x, rank, s
end

-- Returns q and r of a matrix a = q r: of m x n, q is m x k with columns of length 1 at right
-- angles, and r is k x n with zeros below its diagonal, with k the smaller of m and n; LAPACK finds
-- them on the host: local q, r = a:qr()
function Array:qr()
    local m, n, type, on = matrix(self, 'qr')
    local k, a = math.min(m, n), columns_of(self, type, 'qr')
    local r = bound.new_array(type.name, k * n)
    openblas.orthogonal(type.name, m, n, a, r)
    return of_columns(on, type, a, m, k), of_columns(on, type, r, k, n)
end

-- ---- eigenvalues, singular values ----

-- Returns the eigenvalues of a symmetric matrix, the least first, and a matrix with the
-- eigenvectors as its columns; only the lower triangle is read.
function Array:eigh()
    local n, type, on = square(self, 'eigh')
    if solver.is_there(on) then return solver.eigh(on, type, self) end
    local a, w = transfer.read(self:to(type.name), 'eigh'), bound.new_array(type.name, n)
    openblas.symmetric_eigenvalues(type.name, n, a, w, true)
    return line(on, type, w, n), of_columns(on, type, a, n, n)
end

-- Returns the eigenvalues of a square matrix, as complex numbers, and a complex matrix with
-- the eigenvectors as its columns; LAPACK finds them on the host.
function Array:eig()
    local n, type, on = square(self, 'eig')
    local function new(count) return bound.new_array(type.name, count) end
    local re, im, v = new(n), new(n), new(n * n)
    openblas.eigenvalues(type.name, n, columns_of(self, type, 'eig'), re, im, v)
    -- Of a pair of conjugate values the two columns are the parts of the first one's vector.
    local parts, k = new(n * n), 0
    while k < n do
        local is_pair = im[k] ~= 0 and k + 1 < n
        for i = 0, is_pair and n - 1 or -1 do
            local first, second = k * n + i, k * n + n + i
            parts[first], parts[second] = v[second], -v[second]
            v[second] = v[first]
        end
        k = k + (is_pair and 2 or 1)
    end
    return line(on, type, re, n):complex(line(on, type, im, n)),
        of_columns(on, type, v, n, n):complex(of_columns(on, type, parts, n, n))
end

-- Returns u, s and v^T of a matrix a = u diag(s) v^T: of m x n, u is m x k, s has k values,
-- the largest first, and v^T is k x n, with k the smaller of m and n:
--     local u, s, vt = a:svd()      (u * s):matmul(vt) is a
function Array:svd()
    local m, n, type, on = matrix(self, 'svd')
    if solver.is_there(on) then return solver.svd(on, type, self) end
    local k = math.min(m, n)
    local function new(count) return bound.new_array(type.name, count) end
    local s, u, vt = new(k), new(m * k), new(k * n)
    openblas.singular_values(type.name, m, n, columns_of(self, type, 'svd'), s, u, vt)
    return of_columns(on, type, u, m, k), line(on, type, s, k), of_columns(on, type, vt, k, n)
end

return linear
