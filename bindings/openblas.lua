-- OpenBLAS: products of matrices, and LAPACK, on C arrays whose elements lie row after row.
-- LAPACK's functions are those of Fortran, which has columns after columns; who calls them says
-- which is which.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local foreign = require 'bindings.foreign'
local memory = require 'bindings.memory'

local M = {}

-- What a name of LAPACK begins with, and the type of C, of an element, and of a real part.
local letters = {
    float = { 's', 'float', 'float' }, double = { 'd', 'double', 'double' },
    complex_float = { 'c', 'void', 'float' }, complex_double = { 'z', 'void', 'double' },
}

-- { T: the type of an element, R: of a real part }; all of LAPACK's arguments are pointers.
local gemm_real = [[
    void cblas_@gemm(int order, int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda,
        const T *b, int ldb, T beta, T *c, int ldc);
    void cblas_@gemv(int order, int t, int m, int n, T alpha, const T *a, int lda, const T *x,
        int step, T beta, T *y, int y_step);]]
local gemm_complex = [[
    void cblas_@gemm(int order, int ta, int tb, int m, int n, int k, const void *alpha,
        const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
    void cblas_@gemv(int order, int t, int m, int n, const void *alpha, const void *a, int lda,
        const void *x, int step, const void *beta, void *y, int y_step);]]
local lapack = [[
    void @gesv_(int *n, int *nrhs, T *a, int *lda, int *pivots, T *b, int *ldb, int *info);
    void @getrf_(int *m, int *n, T *a, int *lda, int *pivots, int *info);
    void @potrf_(const char *uplo, int *n, T *a, int *lda, int *info);]]
local lapack_real = [[
    void @gelsd_(int *m, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, T *s, T *rcond,
        int *rank, T *work, int *lwork, int *iwork, int *info);
    void @syevd_(const char *jobz, const char *uplo, int *n, T *a, int *lda, T *w, T *work,
        int *lwork, int *iwork, int *liwork, int *info);
    void @geev_(const char *jobvl, const char *jobvr, int *n, T *a, int *lda, T *wr, T *wi, T *vl,
        int *ldvl, T *vr, int *ldvr, T *work, int *lwork, int *info);
    void @gesdd_(const char *jobz, int *m, int *n, T *a, int *lda, T *s, T *u, int *ldu, T *vt,
        int *ldvt, T *work, int *lwork, int *iwork, int *info);
    void @geqrf_(int *m, int *n, T *a, int *lda, T *tau, T *work, int *lwork, int *info);
    void @orgqr_(int *m, int *n, int *k, T *a, int *lda, T *tau, T *work, int *lwork,
        int *info);]]

ffi.cdef 'char *openblas_get_config(void);'
for name, entry in pairs(letters) do
    local is_real = not name:find 'complex'
    local text = is_real and gemm_real .. lapack .. lapack_real or gemm_complex .. lapack
    ffi.cdef((text:gsub('@', entry[1]):gsub('%f[%w]T%f[%W]', entry[2])))
end

local C

local function library()
    C = C or foreign.load('OpenBLAS', { 'libopenblas.so.0', 'libopenblas.so' }, 'libopenblas0')
    return C
end

-- Whether the library is there, and why not.
function M.is_there()
    local ok, reason = pcall(library)
    return ok, not ok and tostring(reason) or nil
end

-- Whether it multiplies elements of a type.
function M.has_type(name) return letters[name] ~= nil end

-- What the library says of itself; raises an error that says what to install where there is none.
function M.version()
    return ffi.string(library().openblas_get_config()):match '^%S+ %S+'
end

local ROWS, PLAIN, TRANSPOSED = 101, 111, 112

local function scalar(name, value)
    if not name:find 'complex' then return value end
    local pair = ffi.new(letters[name][3] .. '[2]')
    pair[0] = value
    return pair
end

-- y = a x, of m x k elements of a type; from one element of x to the next are `step`.
local function times_vector(name, m, k, a, lda, is_t, x, step, y)
    library()['cblas_' .. letters[name][1] .. 'gemv'](ROWS, is_t and TRANSPOSED or PLAIN,
        is_t and k or m, is_t and m or k, scalar(name, 1), a, lda, x, step, scalar(name, 0), y, 1)
end

-- c = a b, of m x k and k x n elements of a type; from one row of a to the next are lda elements. A
-- factor that is_t is stored transposed. a, b, c: pointers
function M.multiply(name, m, n, k, a, lda, a_is_t, b, ldb, b_is_t, c)
    if n == 1 then return times_vector(name, m, k, a, lda, a_is_t, b, ldb, c) end
    if m == 1 then
        return times_vector(name, n, k, b, ldb, not b_is_t, a, a_is_t and lda or 1, c)
    end
    library()['cblas_' .. letters[name][1] .. 'gemm'](ROWS, a_is_t and TRANSPOSED or PLAIN,
        b_is_t and TRANSPOSED or PLAIN, m, n, k, scalar(name, 1), a, lda, b, ldb,
        scalar(name, 0), c, n)
end

local function int(value) return ffi.new('int[1]', value) end

local function call(name, f, ...)
    return library()[letters[name][1] .. f .. '_'](...)
end

-- ---- LAPACK: matrices are columns after columns ----

-- Raises the error of a status; told: what one above 0 means
local function heed(info, what, told)
    if info[0] > 0 then errors.raise('MARE_ERROR_STATE', ('%s: %s'):format(what, told)) end
    if info[0] < 0 then errors.argument('%s: LAPACK refuses argument %d', what, -info[0]) end
end

-- Solves a x = b for the columns of b, in place.
function M.solve(name, n, columns, a, b)
    local info = int(0)
    call(name, 'gesv', int(n), int(columns), a, int(n), ffi.new('int[?]', n + 1), b, int(n), info)
    heed(info, 'solve', 'the matrix is singular')
end

-- Splits a into triangles, in place. Returns their row exchanges, from 1, or nil if it is singular.
function M.triangles(name, n, a)
    local info, pivots = int(0), ffi.new('int[?]', n + 1)
    call(name, 'getrf', int(n), int(n), a, int(n), pivots, info)
    if info[0] > 0 then return nil end
    heed(info, 'det', '')
    return pivots
end

-- Makes of a positive definite a its lower triangle, whose rows are rows of memory, in place.
function M.cholesky(name, n, a)
    local info = int(0)
    call(name, 'potrf', 'U', int(n), a, int(n), info)
    heed(info, 'cholesky', 'the matrix is not positive definite')
end

-- Calls f(work, size of work, iwork, size of iwork), first to ask for the sizes.
local function with_work(name, f)
    local work, whole = ffi.new(letters[name][2] .. '[1]'), ffi.new 'int[1]'
    f(work, int(-1), whole, int(-1))
    local size, whole_size = math.max(1, tonumber(work[0])), math.max(1, whole[0])
    f(memory.array(name, size), int(size), ffi.new('int[?]', whole_size), int(whole_size))
end

-- Least squares of an m x n matrix a; b has max(m, n) rows. Returns the rank; s: singular values
function M.least_squares(name, m, n, columns, a, b, s, cutoff)
    local info, rank, rows = int(0), int(0), math.max(m, n)
    local condition = ffi.new(letters[name][2] .. '[1]', cutoff)
    -- The size of iwork is told in its first element.
    with_work(name, function(work, size, whole)
        call(name, 'gelsd', int(m), int(n), int(columns), a, int(m), b, int(rows), s, condition,
            rank, work, size, whole, info)
    end)
    heed(info, 'lstsq', 'the singular values did not converge')
    return rank[0]
end

-- Splits an m x n matrix a = q r; k is the smaller of m and n. In place of a's first k columns come
-- those of q; r: k x n, columns after columns, which were 0
function M.orthogonal(name, m, n, a, r)
    local info, k, tau = int(0), math.min(m, n), memory.array(name, math.min(m, n))
    with_work(name, function(work, size)
        call(name, 'geqrf', int(m), int(n), a, int(m), tau, work, size, info)
    end)
    heed(info, 'qr', '')
    for column = 0, n - 1 do
        for row = 0, math.min(column, k - 1) do r[column * k + row] = a[column * m + row] end
    end
    with_work(name, function(work, size)
        call(name, 'orgqr', int(m), int(k), int(k), a, int(m), tau, work, size, info)
    end)
    heed(info, 'qr', '')
end

-- Eigenvalues w of a symmetric matrix, ascending, and its eigenvectors in place of a.
function M.symmetric_eigenvalues(name, n, a, w, has_vectors)
    local info = int(0)
    with_work(name, function(work, size, whole, whole_size)
        call(name, 'syevd', has_vectors and 'V' or 'N', 'U', int(n), a, int(n), w, work, size,
            whole, whole_size, info)
    end)
    heed(info, 'eigh', 'the eigenvalues did not converge')
end

-- Eigenvalues re + i im of a matrix, and into v its eigenvectors; v: nil if they are not wanted
function M.eigenvalues(name, n, a, re, im, v)
    local info, none = int(0), ffi.new(letters[name][2] .. '[1]')
    with_work(name, function(work, size)
        call(name, 'geev', 'N', v and 'V' or 'N', int(n), a, int(n), re, im, none, int(1),
            v or none, int(n), work, size, info)
    end)
    heed(info, 'eig', 'the eigenvalues did not converge')
end

-- Singular values s of an m x n matrix, and u (m x k) and vt (k x n), k the smaller of m and n;
-- u and vt: nil if they are not wanted
function M.singular_values(name, m, n, a, s, u, vt)
    local info, k, none = int(0), math.min(m, n), ffi.new(letters[name][2] .. '[1]')
    local whole = ffi.new('int[?]', 8 * k + 1)
    with_work(name, function(work, size)
        call(name, 'gesdd', u and 'S' or 'N', int(m), int(n), a, int(m), s, u or none, int(m),
            vt or none, int(u and k or 1), work, size, whole, info)
    end)
    heed(info, 'svd', 'the singular values did not converge')
end

return M
