-- elsewhere.lua - how Mare writes what NumPy, PyTorch and Torch7 have under other names. Only error
-- messages read this; scenarios/ARRAYS.md has the calls of both side by side.

local elsewhere = {}

-- Methods and attributes of arrays.
elsewhere.methods = {
    T = 'a:transpose()', t = 'a:transpose()', permute = 'a:transpose(1, 0)',
    swapaxes = 'a:transpose(1, 0)', view = 'a:reshape(3, 4)', resize = 'a:reshape(3, 4)',
    ravel = 'a:flatten()', dtype = 'a.type', astype = "a:to 'float'", int = "a:to 'int32'",
    size = '#a, a.shape', dim = 'a.rank', ndim = 'a.rank', nelement = 'a.count',
    tolist = 'a:totable()', numpy = 'a:totable()', get = 'a:totable()', clone = 'a:copy()',
    fill = 'a:assign(7)', zero = 'a:assign(0)', round = 'a:rint()', pow = 'a ^ 2',
    mul = '2 * a', div = 'a / 2', cmul = 'a * b', mm = 'a:matmul(b)', mv = 'a:matmul(v)',
    narrow = 'a { { 0, 2 } }', select = 'a { 0 }', index = 'a { i }', nonzero = 'a:flatnonzero()',
    newaxis = 'a:unsqueeze(0)', outer = 'a:unsqueeze(1) * b', backward = 'mare.gradient(f)',
}

-- Functions of the table `mare`.
elsewhere.functions = {
    cat = 'mare.concatenate { a, b }', hstack = 'mare.concatenate({ a, b }, { axis = 1 })',
    vstack = 'mare.concatenate { a, b }', tensor = 'mare.array { 1, 2 }',
    Tensor = 'mare.array { 1, 2 }', asarray = 'mare.array { 1, 2 }', empty = 'mare.zeros { 2, 3 }',
    range = 'mare.arange(12)', round = 'mare.rint(a)', outer = 'v:unsqueeze(1) * w',
    nan = '0 / 0', inf = 'math.huge', pi = 'math.pi', seed = 'mare.rand({ 9 }, { seed = 1 })',
    compile = 'mare.fuse(f)', jit = 'mare.fuse(f)', grad = 'mare.gradient(f)',
    sum = 'a:sum()', mean = 'a:mean()', dot = 'a:dot(b)', matmul = 'a:matmul(b)', sort = 'a:sort()',
    save = "a:save 'a.nc'", load = "mare.array.load('a.nc', 'data')",
}

-- Returns how a name of such a list is written here, as the end of an error message, or nil.
function elsewhere.told(list, name)
    local written = elsewhere[list][name]
    return written and (': Mare writes %s'):format(written)
end

return elsewhere
