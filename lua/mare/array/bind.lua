-- Binds a kernel to the arguments that it asks for, out of a table that may hold more:
--
--     launch = bind(kernel, values, { global = { nx, ny }, group = { 64, 1 } })
--
-- `values` has numbers and buffers by the names of arguments; the third table is the shape that
-- kernel:bind takes beside them: global, group, bytes, together. An argument that `values` lacks is
-- an error that names it.

return function(kernel, values, shape)
    local arguments = {}
    for name, value in pairs(shape or {}) do arguments[name] = value end
    for _, arg in ipairs(kernel.args) do arguments[arg.name] = values[arg.name] end
    return kernel:bind(arguments)
end
