-- Products of matrices: a:matmul(b), mare.blas.

local array = require 'mare.ndarray.array'
local epilogue = require 'mare.products.epilogue'
local errors = require 'bindings.errors'
local evaluate = require 'mare.expression.evaluate'
local launches = require 'mare.expression.launches'
local multiply = require 'mare.products.multiply'
local nodes = require 'mare.expression.nodes'
local operations = require 'mare.expression.operations'
local shapes = require 'mare.expression.shapes'
local strides = require 'mare.expression.strides'
local tables = require 'bindings.tables'
local types = require 'mare.expression.types'

local products = {}
local Array = array.methods

-- ---- factors ----

local function no_fit(what, a, b)
    errors.argument('%s: %s %s and %s %s do not fit: the last axis of the first must be as long '
        .. 'as the last but one of the second', what, a.type.name, tostring(a.shape), b.type.name,
        tostring(b.shape))
end

-- Returns the common type of two factors.
local function type_of(what, a, b)
    local type = types.common(a.type, b.type)
    if type == types.bool then type = types.int32 end
    return type or errors.argument('%s: there is no type for %s and %s', what, a.type.name,
        b.type.name)
end

-- Returns a factor with at least two axes. An array of one axis becomes a row, or a column if it
-- is the second factor.
local function matrix(handle, is_second)
    local shape = array.node(handle).shape
    if shape.rank == 1 then return handle:reshape(is_second and { -1, 1 } or { 1, -1 }) end
    return handle
end

-- Returns the shape of the axes before the last two.
local function batches_of(shape)
    return shapes.of({ unpack(shape, 1, shape.rank - 2) }, shape.rank - 2)
end

-- Returns the layout of a leaf for multiply.into, { version, offset, batch, row, column }, or nil
-- if the matrices of its batches are not evenly spaced in memory. shape: whose last two axes it is
-- repeated to, if not its own
local function layout_of(leaf, batches, shape)
    shape = shape or leaf.shape
    local wide = { unpack(batches) }
    for k = shape.rank - 1, shape.rank do wide[#wide + 1] = shape[k] end
    local list = strides.repeated(leaf, shapes.of(wide, #wide))
    local outer = {}
    for k = 1, #wide - 2 do outer[k] = list[k] end
    local sizes, found = strides.collapsed(batches, { outer })
    if #sizes > 1 then return nil end
    return { version = leaf.version, offset = leaf.offset, batch = found[1][1],
        row = list[#wide - 1], column = list[#wide] }
end

-- Returns the held leaf of a factor and its layout.
local function factor(handle, type, batches, what)
    local leaf = evaluate.node(array.hold(handle:to(type.name), what))
    local layout = layout_of(leaf, batches)
    if layout then return leaf, layout end
    local wide = { unpack(batches) }
    for k = leaf.shape.rank - 1, leaf.shape.rank do wide[#wide + 1] = leaf.shape[k] end
    nodes.release(leaf)
    leaf = array.leaf(handle:to(type.name):expand(wide):copy(), what)
    return leaf, layout_of(leaf, batches)
end

-- ---- epilogues ----

-- Returns what `finish` makes of an array, which must be an array of its shape.
local function applied(finish, made)
    local result = finish(made)
    if not array.is(result) or array.node(result).shape ~= array.node(made).shape then
        errors.argument('matmul: epilogue: it must return an array of the shape %s, not %s',
            tostring(array.node(made).shape),
            array.is(result) and tostring(array.node(result).shape) or type(result))
    end
    return result
end

-- Returns { text, memories, numbers } for the kernel, or nil if the expression is none that it can
-- compute as it stores. product: the leaf that stands for the product
local function finish_of(result, product, batches)
    local found = epilogue.of(array.node(result), product)
    if not found then return nil end
    local memories, numbers = {}, { unpack(found.numbers) }
    for _, leaf in ipairs(found.leaves) do
        local layout = leaf ~= product and layout_of(leaf, batches, product.shape)
        if layout == nil then return nil end
        if layout then
            memories[#memories + 1] = leaf.version
            for _, name in ipairs { 'offset', 'batch', 'row', 'column' } do
                numbers[#numbers + 1] = layout[name]
            end
        end
    end
    return { text = epilogue.text(found, product), memories = memories, numbers = numbers }
end

-- Computes the product into the array `made`, whose memory is new, and returns what the epilogue
-- makes of it, or nil where nothing multiplies such complex numbers.
local function finished(made, x, y, size, batches, library, how)
    local leaf, finish = array.node(made), nil
    if how.epilogue and multiply.takes_epilogue(x.version.device, size, library) then
        local runs = launches.run
        local result = applied(how.epilogue, made)
        if launches.run ~= runs then
            errors.argument('matmul: epilogue: it must not compute anything, as :sum() and '
                .. ':eval() do')
        end
        finish = finish_of(result, leaf, batches)
    end
    if not multiply.into(leaf.version, x, y, size, library, how.tf32, finish) then return nil end
    return not finish and how.epilogue and applied(how.epilogue, made) or made
end

-- ---- products ----

-- Returns the product of the matrices in the last two axes, or nil if it is of complex numbers and
-- the library does not compute it. how: { library, tf32 }
local function product(what, a, b, how)
    local p, q = array.node(a), array.node(b)
    local here, there = p.device, q.device
    if here ~= there then
        errors.argument('%s: one array is on %s, the other on %s', what, here.name, there.name)
    end
    local rows, depth, columns = p.shape[p.shape.rank - 1], p.shape[p.shape.rank],
        q.shape[q.shape.rank]
    local batches = shapes.common(batches_of(p.shape), batches_of(q.shape))
    if depth ~= q.shape[q.shape.rank - 1] or not batches then no_fit(what, p, q) end
    local type = type_of(what, p, q)
    local library = how.library or multiply.library(here, type)
    if how.library then multiply.check(library, here, what) end
    if type.complex and not multiply.takes(library, type) then return nil end
    local one, x = factor(a, type, batches, what)
    local other, y = factor(b, type, batches, what)
    local size = { count = batches.count, rows = rows, columns = columns, depth = depth }
    local sizes = { unpack(batches) }
    sizes[#sizes + 1], sizes[#sizes + 2] = rows, columns
    library = multiply.takes(library, type) and library
    local made = array.of_version(multiply.room(x, size), shapes.of(sizes, #sizes))
    made = finished(made, x, y, size, batches, library, how)
    nodes.release(one)
    return array.drop(other, made)
end

-- Returns a complex product, from four real ones, or what an epilogue makes of it.
local function complex_product(what, a, b, given)
    local how = { library = given.library, tf32 = given.tf32 }
    local function real(x) return array.node(x).type.complex and x:real() or x end
    local function imag(x) return array.node(x).type.complex and x:imag() or x * 0 end
    local ar, ai, br, bi = real(a):eval(), imag(a):eval(), real(b):eval(), imag(b):eval()
    local re = product(what, ar, br, how) - product(what, ai, bi, how)
    local made = re:complex(product(what, ar, bi, how) + product(what, ai, br, how))
    return given.epilogue and applied(given.epilogue, made) or made
end

local allowed = { library = tables.set(multiply.names), tf32 = 'boolean', epilogue = 'function' }

-- Returns the product of two matrices, or of those in the last two axes; other axes are
-- repeated to each other. An array of one axis is a row, or as the second a column, and the
-- axis is left out of the result. It is multiplied by OpenBLAS on a processor, by cuBLAS on a GPU
-- of NVIDIA, where these are there, else by Mare's kernel (mare.blas.library tells), without copies
-- of transposed arrays and parts. options: library = 'own', 'openblas', 'cublas' or 'clblast';
-- tf32 = true: cuBLAS may round floats to the 10 bits of TF32, for speed; epilogue = a function of
-- the product that returns an expression of its shape, which Mare's kernel computes as it stores
-- the product, and else is computed when it is read:
--     x:matmul(w, { library = 'own', epilogue = function(c) return mare.maximum(c + b, 0) end })
function Array:matmul(other, options)
    options = errors.fields('matmul', options or {}, allowed)
    nodes.release(array.hold(other, 'matmul'))
    local p, q = array.node(self).shape, array.node(other).shape
    if p.rank == 0 or q.rank == 0 then no_fit('matmul', array.node(self), array.node(other)) end
    local a, b = matrix(self, false), matrix(other, true)
    local made = product('matmul', a, b, options) or complex_product('matmul', a, b, options)
    if q.rank == 1 then made = made:squeeze(-1) end
    if p.rank == 1 then made = made:squeeze(q.rank == 1 and -1 or -2) end
    return made
end

-- ---- mare.blas ----

products.blas = {}

-- Returns what multiplies matrices on a device: 'openblas', 'cublas', 'own' (a kernel of Mare)
-- or 'host' (null devices). type: of the elements ('float')
function products.blas.library(device, type)
    return multiply.library(array.device(device, 'blas.library'),
        types.named(type or 'float', 'blas.library'))
end

-- Returns alpha a b + beta c, of two matrices and, if beta is given, a third: what BLAS calls
-- gemm. The sum is one more kernel. options: { alpha = 1, beta = 0, c = array }
function products.blas.gemm(a, b, options)
    options = errors.fields('blas.gemm', options or {},
        { alpha = 'number', beta = 'number', c = 'any' })
    local made = Array.matmul(a, b)
    if options.alpha and options.alpha ~= 1 then made = made * options.alpha end
    if options.c then made = made + options.c * (options.beta or 1) end
    return made
end

-- Returns alpha x + y, as one kernel: what BLAS calls axpy.
function products.blas.axpy(alpha, x, y)
    return array.binary(operations['+'], array.binary(operations['*'], x, alpha), y)
end

return products
