-- cuSOLVER: systems of equations, eigenvalues and singular values on NVIDIA's GPUs, in memory of
-- Mare. Matrices are columns after columns, as in LAPACK, and are overwritten. Each function waits
-- for its result, since it must know whether there is one.

local ffi = require 'ffi'
local errors = require 'bindings.errors'
local foreign = require 'bindings.foreign'
local nvidia = require 'bindings.nvidia'
local steps = require 'bindings.steps'

local M, pointer = {}, nvidia.pointer

-- What the names of functions have of a type, and what they do with it. All are called by
-- mare_call_steps.
local letters = { float = 'S', double = 'D', complex_float = 'C', complex_double = 'Z' }
local all = { 'getrf', 'getrf_bufferSize', 'getrs', 'potrf', 'potrf_bufferSize' }
local of_reals = { 'syevd', 'syevd_bufferSize', 'gesvd', 'gesvd_bufferSize' }

ffi.cdef [[
int cusolverDnCreate(void **);
int cusolverDnSetStream(void);
int cusolverGetProperty(int, int *);
]]
for name, letter in pairs(letters) do
    for _, list in ipairs { all, not name:find 'complex' and of_reals or nil } do
        for _, routine in ipairs(list) do
            ffi.cdef(('int cusolverDn%s%s(void);'):format(letter, routine))
        end
    end
end

local C

local function library()
    C = C or foreign.load('cuSOLVER', { 'libcusolver.so.12', 'libcusolver.so.11' },
        'NVIDIA\'s CUDA toolkit')
    return C
end

-- What the library says of itself; raises an error that says what to install where there is none.
function M.version() return nvidia.version(library().cusolverGetProperty) end

-- On a stream of its own, because that of the device may be recorded.
local function open(device)
    local handle, stream = ffi.new 'void *[1]', device:stream {}
    steps.run(device, 'cuSOLVER', { { name = 'cusolverDnCreate', run = library().cusolverDnCreate,
        words = { handle } } }, {}, stream)
    stream:release()
    return { handle = handle[0] }
end

-- Returns { handle } of a device, which keeps it, or the reason why there is none. The handle goes
-- with the process.
local function of(device)
    local found = rawget(device, 'cusolver')
    if found == nil then
        local ok, made = pcall(open, device)
        found = ok and made or { reason = tostring(made) }
        rawset(device, 'cusolver', found)
    end
    return found
end

-- Whether null devices count as NVIDIA's; tests, whose library computes on the host, set it.
M.is_fake = false

-- Whether it computes on a device, and why not.
function M.is_there(device)
    local has, why = nvidia.has(device, 'cuSOLVER', M.is_fake)
    if not has then return false, why end
    local reason = of(device).reason
    return not reason, reason
end

-- ---- a routine ----

-- What routines need: { device, type, name: what messages call it, buffers, steps, whole: int32s,
-- of which the first two tell how the routines ended, and `more` are theirs }
local function begin(device, type, name, more, buffers)
    local whole = device:buffer { type = 'int32', count = 2 + more, label = name }
    whole:fill(0)
    return { device = device, type = type, name = name, whole = whole,
        buffers = { whole, unpack(buffers) }, steps = { { name = 'cusolverDnSetStream',
            run = library().cusolverDnSetStream, words = { of(device).handle, steps.queue } } } }
end

local function routine(own, name, words)
    local full = ('cusolverDn%s%s'):format(letters[own.type], name)
    return { name = full, run = C[full], words = { of(own.device).handle, unpack(words) } }
end

-- Adds a routine to what is to be run.
local function add(own, name, words)
    own.steps[#own.steps + 1] = routine(own, name, words)
end

-- Returns memory for the elements that a routine wants besides its arguments. words: of its
-- function that tells how many
local function work_for(own, name, words)
    local size, stream = ffi.new 'int[1]', own.device:stream {}
    words[#words + 1] = size
    steps.run(own.device, own.name, { routine(own, name .. '_bufferSize', words) }, {}, stream)
    stream:release()
    local count = math.max(1, size[0])
    local buffer = own.device:buffer { type = own.type, count = count, label = 'work of cuSOLVER' }
    own.buffers[#own.buffers + 1] = buffer
    return pointer(buffer), count
end

-- Where the k-th routine tells how it ended.
local function info_of(own, k) return pointer(own.whole, 4 * (k - 1)) end

-- Runs what was added. told: what it means where a routine ended with a number above 0
local function run(own, told)
    steps.run(own.device, own.name, own.steps, own.buffers)
    local first, second = unpack(own.whole:totable { offset = 0, count = 2 })
    local info = first ~= 0 and first or second
    for k, buffer in ipairs(own.buffers) do
        if k == 1 or buffer.label == 'work of cuSOLVER' then buffer:release() end
    end
    if info > 0 then errors.raise('MARE_ERROR_STATE', ('%s: %s'):format(own.name, told)) end
    if info < 0 then errors.argument('%s: cuSOLVER refuses argument %d', own.name, -info) end
end

local upper, transposed = 1, 1

-- Solves x with transposed(a) x = b for the columns of b, in place.
function M.solve(device, type, n, columns, a, b)
    local own = begin(device, type, 'solve', n, { a, b })
    local work, pivots = work_for(own, 'getrf', { n, n, pointer(a), n }), pointer(own.whole, 4 * 2)
    add(own, 'getrf', { n, n, pointer(a), n, work, pivots, info_of(own, 1) })
    add(own, 'getrs', { transposed, n, columns, pointer(a), n, pivots, pointer(b), n,
        info_of(own, 2) })
    run(own, 'the matrix is singular')
end

-- Makes of a positive definite a its lower triangle, whose rows are rows of memory, in place.
function M.cholesky(device, type, n, a)
    local own = begin(device, type, 'cholesky', 0, { a })
    local work, count = work_for(own, 'potrf', { upper, n, pointer(a), n })
    add(own, 'potrf', { upper, n, pointer(a), n, work, count, info_of(own, 1) })
    run(own, 'the matrix is not positive definite')
end

local with_vectors, some = 1, ('S'):byte()

-- Eigenvalues w of a symmetric matrix, ascending, and its eigenvectors in place of a.
function M.symmetric_eigenvalues(device, type, n, a, w)
    local own = begin(device, type, 'eigh', 0, { a, w })
    local work, count = work_for(own, 'syevd', { with_vectors, upper, n, pointer(a), n,
        pointer(w) })
    add(own, 'syevd', { with_vectors, upper, n, pointer(a), n, pointer(w), work, count,
        info_of(own, 1) })
    run(own, 'the eigenvalues did not converge')
end

-- Singular values s of an m x n matrix, which has no fewer rows than columns, and u (m x n) and
-- vt (n x n).
function M.singular_values(device, type, m, n, a, s, u, vt)
    local own = begin(device, type, 'svd', 0, { a, s, u, vt })
    local work, count = work_for(own, 'gesvd', { m, n })
    add(own, 'gesvd', { some, some, m, n, pointer(a), m, pointer(s), pointer(u), m, pointer(vt), n,
        work, count, 0, info_of(own, 1) })
    run(own, 'the singular values did not converge')
end

return M
