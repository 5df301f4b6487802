-- tuned.lua - a small kernel for specs of tunings: b = 2 a + WRONG, W elements a work-item.

local tuned = { n = 1000 }

tuned.source = [[
MR_KERNEL void scale(int n, const MR_GLOBAL real *a, MR_GLOBAL real *b) {
    int first = mr_gid_x() * W;
    for (int k = first; k < first + W && k < n; ++k) b[k] = a[k] * R(2.0) + (real)WRONG;
}
]]

-- What it takes, and the answer.
function tuned.arguments()
    local a, b, answer = {}, {}, {}
    for k = 1, tuned.n do a[k], b[k], answer[k] = k % 97, 0, 2 * (k % 97) end
    return { n = tuned.n, a = a, b = b }, { b = answer }
end

-- The table of mare.tune.kernel, with more fields.
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

-- The message with which f(...) fails.
function tuned.refusal(f, ...)
    local ok, failure = pcall(f, ...)
    assert(not ok, 'is not refused')
    return type(failure) == 'table' and failure.message or tostring(failure)
end

-- What f(...) says on stderr, in the order of writing, and what pcall gives of it.
function tuned.heard(f, ...)
    local stderr, said = io.stderr, {}
    rawset(io, 'stderr', { write = function(_, ...) said[#said + 1] = table.concat { ... } end })
    local outcome = { pcall(f, ...) }
    rawset(io, 'stderr', stderr)
    return said, unpack(outcome)
end

return tuned
