-- Binds a kernel to the arguments that it asks for. The table may hold more:
--
--     launch = bind(kernel, values, { global = { nx, ny }, group = { 64, 1 } })
--
-- `values` has numbers and buffers by the names of arguments and, for a parameter
-- block, either a table of its fields by the block's name or the fields beside all
-- else, by theirs. The third table has what kernel:bind takes beside them: global,
-- group, bytes, together. It is an error that names the argument if `values` lacks
-- one.

local function pick(values, fields)
    local block = {}
    for _, field in ipairs(fields) do block[field.name] = values[field.name] end
    return block
end

return function(kernel, values, shape)
    local arguments = {}
    for name, value in pairs(shape or {}) do arguments[name] = value end
    for _, arg in ipairs(kernel.args) do
        local value = values[arg.name]
        if value == nil and arg.fields then value = pick(values, arg.fields) end
        arguments[arg.name] = value
    end
    return kernel:bind(arguments)
end
