-- tuned.lua - a small kernel for specs of tuning: b = 2 a + WRONG, with W
-- elements per work-item.

local tuned = { n = 1000 }

tuned.source = [[
MR_KERNEL void scale(int n, const MR_GLOBAL real *a, MR_GLOBAL real *b) {
    int first = mr_gid_x() * W;
    for (int k = first; k < first + W && k < n; ++k) b[k] = a[k] * R(2.0) + (real)WRONG;
}
]]

-- Returns its arguments, and the answer.
function tuned.arguments()
    local a, b, answer = {}, {}, {}
    for k = 1, tuned.n do a[k], b[k], answer[k] = k % 97, 0, 2 * (k % 97) end
    return { n = tuned.n, a = a, b = b }, { b = answer }
end

-- Returns the table for mare.tune.kernel, with more fields.
function tuned.scale(more)
    local given, answer = tuned.arguments()
    local desc = {
        kernel_name = 'scale', kernel_source = tuned.source, problem_size = tuned.n,
        arguments = given, answer = answer,
        tune_params = { block_size_x = { 1, 8 }, W = { 1, 4 }, WRONG = { 0 } },
        grid_div_x = { 'block_size_x', 'W' }, iterations = 3, workers = 0, early_stop = math.huge,
    }
    for name, value in pairs(more or {}) do desc[name] = value end
    return desc
end

-- Returns the message of the error of f(...).
function tuned.refusal(f, ...)
    local ok, failure = pcall(f, ...)
    assert(not ok, 'is not refused')
    return type(failure) == 'table' and failure.message or tostring(failure)
end

-- Returns what f(...) writes to stderr, in order, and the results of pcall.
function tuned.heard(f, ...)
    local stderr, said = io.stderr, {}
    rawset(io, 'stderr', { write = function(_, ...) said[#said + 1] = table.concat { ... } end })
    local outcome = { pcall(f, ...) }
    rawset(io, 'stderr', stderr)
    return said, unpack(outcome)
end

return tuned
