-- Binds a kernel to the arguments that it asks for. The table may hold more:
--
--     launch = bind(kernel, values, { global = { nx, ny }, group = { 64, 1 } })
--
-- `values` has numbers and buffers by the names of arguments. The third table has
-- what kernel:bind takes beside them: global, group, bytes, together. It is an
-- error that names the argument if `values` lacks one.

return function(kernel, values, shape)
    local arguments = {}
    for name, value in pairs(shape or {}) do arguments[name] = value end
    for _, arg in ipairs(kernel.args) do arguments[arg.name] = values[arg.name] end
    return kernel:bind(arguments)
end
