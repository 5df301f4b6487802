-- every_scheme.lua - all equations of lua/mare/schemes, found in the folder, and schemes of them:
--
--     every.equations -> { { name =, new =, equation =, fluxes = names, schemes = names or nil } }
--     every.schemes() -> a scheme of each flux, and of each way to step
--     every.deriving() -> a scheme of each equation that has derived variables

local home = require 'bindings.home'
local tables = require 'bindings.tables'

local every = { equations = {} }

local function modules()
    local list, folder = {}, home.root .. '/lua/mare/schemes'
    local pipe = io.popen(("find '%s' -name '*.lua' | sort"):format(folder))
    for path in pipe:lines() do list[#list + 1] = path:sub(#folder + 2, -5) end
    pipe:close()
    return list
end

for _, name in ipairs(modules()) do
    local module = require('mare.schemes.' .. name)
    local equation = type(module) == 'table' and module.new and module.equation
    if equation then
        table.insert(every.equations, { name = name, new = module.new, equation = equation,
            fluxes = tables.keys(equation.fluxes),
            schemes = module.schemes and tables.keys(module.schemes) })
    end
end

function every.schemes()
    local list = {}
    for _, one in ipairs(every.equations) do
        for _, flux in ipairs(one.fluxes) do list[#list + 1] = one.new { flux = flux } end
        for _, name in ipairs(one.schemes or {}) do list[#list + 1] = one.new { scheme = name } end
    end
    return list
end

local function derives(scheme)
    for _, variable in ipairs(scheme.variables) do if variable.value then return true end end
end

function every.deriving()
    local list = {}
    for _, one in ipairs(every.equations) do
        local scheme = one.new {}
        if derives(scheme) then list[#list + 1] = scheme end
    end
    return list
end

return every
