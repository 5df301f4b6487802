-- Makes one text of the dialect of functions of Lua: each function is written once for each
-- list of types that it is called with, and before the functions that call it.

local interpreted = require 'mare.base.interpreted'
local infer = require 'mare.translate.infer'
local names = require 'mare.translate.names'
local types = require 'mare.translate.types'
local write = require 'mare.translate.write'

local unit = {}

local Unit = {}
Unit.__index = Unit

function unit.new()
    return setmetatable({ instances = {}, taken = names.new(), bodies = {} }, Unit)
end

local function key_of(list)
    local keys = {}
    for k, type in ipairs(list) do keys[k] = types.key(type) end
    return table.concat(keys, ' ')
end

local function name_captures(self, instance)
    for _, entry in ipairs(instance.captures) do
        entry.text = entry.text or names.take(self.taken, entry.name)
    end
end

-- Returns the instance of a function for these types. name: what the caller, or whoever
-- writes the text, calls it.
function Unit:instance(f, list, name, caller, node)
    local of_f = self.instances[f] or {}
    self.instances[f] = of_f
    local key = key_of(list)
    local found = of_f[key]
    if found == 'open' then
        caller:refuse(node, "'%s' calls itself: kernels cannot, write a loop", name)
    elseif not found then
        of_f[key] = 'open'
        found = infer.instance(self, f, list, caller == nil)
        found.name = names.take(self.taken, name)
        name_captures(self, found)
        of_f[key] = found
        if caller then
            self.bodies[#self.bodies + 1] = { lines = write.callee(found, self),
                chunk = found.resolved.chunk }
        end
    end
    return found
end

-- ---- texts ----

-- Returns the text with directives that give each line its place in the Lua text.
local function compiled(head, bodies)
    local list = { head }
    for _, body in ipairs(bodies) do
        local at
        for _, line in ipairs(body.lines) do
            if line.line and line.line ~= at then
                list[#list + 1] = ('#line %d "%s"'):format(line.line,
                    (body.chunk:gsub('["\\\n]', "'")))
                at = line.line
            end
            at = at and at + 1
            list[#list + 1] = line[1]
        end
    end
    return table.concat(list, '\n') .. '\n'
end

-- Returns the text as people read it: behind a line stands the number of the line of Lua
-- that it comes from.
local function readable(head, bodies)
    local list = { head }
    for _, body in ipairs(bodies) do
        list[#list + 1] = ''
        local at
        for _, line in ipairs(body.lines) do
            local mark = line.line and line.line ~= at and ('  // %d'):format(line.line) or ''
            at = line.line or at
            list[#list + 1] = line[1] .. mark
        end
    end
    return table.concat(list, '\n') .. '\n'
end

-- Returns what checked kernels have as an argument, and hand to all functions.
local function fault_argument()
    local self = { name = 'fault', type = { kind = 'fault', written = 'MR_GLOBAL int *' },
        is_fault = true, sites = {} }
    function self.value() return self.buffer end
    return self
end

local head = '#include "translate/lua.h"'

-- Returns for a kernel { text, source = the text as people read it, name, arguments, instance,
-- has_barrier, fault }. types_given: the types of all parameters; indices: how many of these are
-- the work-item's place; desc: { memory = a function that returns the type of an array in local
-- memory for the name of its elements' type, group = its sizes, if known, is_checked = whether
-- indices are: then `fault` has { sites = { { name, where }, ... } }, and wants the buffer that
-- notes what is outside }
local function kernel(f, types_given, indices, name, desc)
    local self = unit.new()
    self.memory, self.group = desc.memory, desc.group
    if desc.is_checked then self.fault = fault_argument() end
    local instance = self:instance(f, types_given, name)
    if #instance.results > 0 then
        instance:refuse(instance.resolved.tree,
            'a kernel returns nothing: it writes into its arrays')
    end
    local lines, arguments = write.kernel(instance, self, indices)
    self.bodies[#self.bodies + 1] = { lines = lines, chunk = instance.resolved.chunk }
    return { text = compiled(head, self.bodies), source = readable(head, self.bodies),
        name = instance.name, arguments = arguments, instance = instance,
        has_barrier = self.has_barrier, fault = self.fault }
end

-- Returns for a function of elements { text, source, name, arguments, results = types } of a kernel
-- that calls it for each. types_given: arrays, and numbers, which are the same for all. An argument
-- is { name, and output = the number of a result, parameter, capture, or is_count }
local function map(f, types_given, name)
    local self = unit.new()
    local elements = {}
    for k, type in ipairs(types_given) do elements[k] = type.element or type end
    local instance = self:instance(f, elements, name, self)
    if #instance.results == 0 then
        instance:refuse(instance.resolved.tree, 'a map wants a function that returns something')
    end
    local lines, arguments = write.map(instance, self, types_given)
    self.bodies[#self.bodies + 1] = { lines = lines, chunk = instance.resolved.chunk }
    return { text = compiled(head, self.bodies), source = readable(head, self.bodies),
        name = instance.name .. '_each', arguments = arguments,
        results = { unpack(instance.results) } }
end

-- Returns the text of functions that other text of the dialect calls: list = array of
-- { f, name = 'lua_' and what messages call it, parameters = types, results = how many it
-- must give }. Numbers outside the functions are constants of the text, and results are real; fast
-- maths fuse products with sums and take fast words for quotients.
local function functions(what, list)
    local self = unit.new()
    self.has_constants, self.fuses = true, true
    for _, entry in ipairs(list) do
        local instance = self:instance(entry.f, entry.parameters, entry.name, self)
        if #instance.results ~= entry.results then
            instance:refuse(instance.resolved.tree, '%s: %s: %d values are wanted, it gives %d',
                what, entry.name:gsub('^lua_', ''), entry.results, #instance.results)
        end
        for k, type in ipairs(instance.results) do
            if not types.is_number(type) then
                instance:refuse(instance.resolved.tree, '%s: %s: value %d is %s, a number is '
                    .. 'wanted', what, (entry.name:gsub('^lua_', '')), k, types.name(type))
            end
        end
    end
    return compiled(head, self.bodies) .. ('#line 1 "%s"\n'):format(what)
end

for name, make in pairs { kernel = kernel, map = map, functions = functions } do
    unit[name] = function(...) return interpreted(make, ...) end
end

return unit
