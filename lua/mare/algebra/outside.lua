-- Numbers outside a function, for a function that is made of it: it looks at them where they are,
-- whenever it runs.

local errors = require 'bindings.errors'
local library = require 'mare.translate.library'
local nodes = require 'mare.dialect.nodes'
local outer = require 'mare.translate.outer'

local outside = {}

local Outside = {}
Outside.__index = Outside

-- The made function has a table called so, whose fields are the numbers of now.
function outside.new(name)
    local self = setmetatable({ name = name, readers = {}, leaves = {} }, Outside)
    self.table = setmetatable({}, { __index = function(_, key)
        local reader = self.readers[key]
        local value = reader and reader()
        if reader and type(value) ~= 'number' then
            errors.argument("a gradient: '%s' outside the function is %s, no number any more", key,
                type(value))
        end
        return value
    end })
    return self
end

-- Returns the expression of a number that the node in the text of f stands for; the number itself
-- where it is a constant.
function Outside:leaf(f, node)
    local _, value, name, from = outer.static({ f = f }, node)
    if from and library.is_constant(from) then return value end
    local of_f = self.leaves[f] or {}
    self.leaves[f] = of_f
    if not of_f[name] then
        local key = name:gsub('%.', '_')
        while self.readers[key] do key = key .. '_' end
        of_f[name] = nodes.input(key, 'real', self.name .. '.' .. key, {})
        self.readers[key] = function() return (select(2, outer.static({ f = f }, node))) end
    end
    return of_f[name]
end

return outside
