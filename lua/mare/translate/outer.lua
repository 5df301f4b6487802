-- Finds what a function uses from outside itself: numbers, which become arguments of
-- the kernel, constants, and functions.

local library = require 'mare.translate.library'
local lists = require 'mare.parse.lists'

local outer = {}

-- Returns whether a node is known now, its value, its name, as t.a, and the table it is in.
local function static(self, node)
    if node.tag == 'paren' then return static(self, node.inner) end
    if node.tag == 'name' and node.symbol.kind == 'outer' then
        return true, node.symbol.value(self.f), node.name
    end
    if node.tag ~= 'index' then return false end
    local is_known, object, name = static(self, node.object)
    if not is_known or type(object) ~= 'table' then return false end
    local key = node.key.value
    if node.key.tag == 'number' then
        return true, object[key], ('%s.%g'):format(name, key), object
    end
    if node.key.tag ~= 'string' then return false end
    return true, object[key], name .. '.' .. key, object
end

local function is_whole(value)
    return value % 1 == 0 and math.abs(value) < 2 ^ 31
end

-- Makes a number outside the function an argument of the kernel, so that nothing is
-- compiled again when its value changes. Returns its type.
local function capture(self, node, value, name)
    local list = self.captures
    local key = node.tag == 'name' and node.symbol or name
    if not list[key] then
        local is_index = node.tag == 'name' and node.symbol.is_index
        local f, path = self.f, node
        local entry = { name = name:gsub('[^%w_]', '_'),
            type = is_index and is_whole(value) and 'int32' or 'real',
            value = function() return (select(2, static({ f = f }, path))) end }
        list[key], list[#list + 1] = entry, entry
    end
    self.captured[node] = list[key]
    return list[key].type
end

local hints = {
    ['function'] = ': it can only be called',
    cdata = ': arrays and buffers come as arguments',
    table = (': kernels take its elements by keys that stand in the text, t.name or t[1], and by '
        .. 'others only from lists of at most %d numbers'):format(lists.most),
}

-- Returns the type of a name, or of an element of a table, outside the function.
function outer.type(self, node)
    local _, value, name, from = static(self, node)
    local kind = type(value)
    if kind == 'number' then
        if self.unit.has_constants or from and library.is_constant(from) then
            self.constants[node] = value
            return is_whole(value) and 'whole' or 'fraction'
        end
        return capture(self, node, value, name)
    elseif kind == 'boolean' then
        self.constants[node] = value
        return 'bool'
    end
    local hint = hints[kind] or ''
    self:refuse(node, "'%s' is %s%s", name, kind == 'nil' and 'nil'
        or kind == 'string' and 'a string, which kernels do not have' or 'a ' .. kind, hint)
end

outer.static = static

return outer
