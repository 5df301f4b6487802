-- Writes an instance of a function (infer.lua) as a function of the dialect: a list
-- of lines { text, line = the line of Lua that it comes from }.

local expressions = require 'mare.translate.expressions'
local names = require 'mare.translate.names'
local types = require 'mare.translate.types'
local writer = require 'mare.dialect.writer'

local write = {}

local Writer = {}
Writer.__index = Writer

local stored_as = { half = 'mr_half', bool = 'mr_bool' }

function Writer:put(node, format, ...)
    local line = node and node.line     -- nil in the rest of a line that is too wide
    writer.wrap(self.indent, select('#', ...) > 0 and format:format(...) or format, function(text)
        self.lines[#self.lines + 1] = { text, line = line }
        line = nil
    end)
end

function Writer:open(node, format, ...)
    self:put(node, format .. ' {', ...)
    self.indent = self.indent .. '    '
end

function Writer:close(node, rest)
    self.indent = self.indent:sub(5)
    self:put(node, '%s', '}' .. (rest or ''))
end

function Writer:text(node, type)
    return (expressions.text(self, node, type))
end

function Writer:take(wanted)
    return names.take(self.taken, wanted)
end

-- ---- declarations and assignments ----

local function initial(type)
    return types.is_number(type) and (types.is_integer(type) and '0' or types.literal(0, type))
        or 'false'
end

local function declare_tuple(self, node, name, type, value)
    local list = {}
    for k, item in ipairs(value.items) do list[k] = self:text(item.value, type.element) end
    self:put(node, '%s %s[%d] = { %s };', types.written(type.element), name, type.size,
        table.concat(list, ', '))
end

-- Local memory is declared at the beginning of the kernel.
local function declare_local(self, symbol, type)
    local name = self:take(symbol.name)
    self.names_of[symbol] = name
    self.taken[name .. '_count'] = true
    table.insert(self.lines, self.first, { ('    MR_LOCAL %s %s[%d];'):format(
        stored_as[type.stored] or type.written, name, type.size) })
end

local function declare(self, node, symbol, value)
    local type = self.types[symbol]
    if type and type.is_local then return declare_local(self, symbol, type) end
    if not type then self.instance:refuse(node, "'%s' is never given a value", symbol.name) end
    if type.kind == 'tuple' and not (value and value.tag == 'table') then
        self.instance:refuse(node, "'%s': a list is made where its variable is declared",
            symbol.name)
    end
    local text = value and type.kind ~= 'tuple' and self:text(value, type)
    local name = self:take(symbol.name)
    self.names_of[symbol] = name
    if type.kind == 'tuple' then return declare_tuple(self, node, name, type, value) end
    self:put(node, '%s %s = %s;', types.written(type), name, text or initial(type))
end

-- Writes a call that gives several results, and returns their texts.
local function results_of(self, node, call)
    local callee = self.callees[call]
    local name = self:take 'results'
    self:put(node, 'const %s_results %s = %s;', callee.name, name, (expressions.call(self, call)))
    local list = {}
    for k = 1, #callee.results do list[k] = ('%s.r%d'):format(name, k) end
    return list
end

-- Whether the last of these expressions is a call that has to give several values.
local function gives_several(self, values, wanted)
    local last = values[#values]
    if not last or last.tag ~= 'call' or wanted <= #values then return false end
    local results = self.callees[last] and self.callees[last].results
    return results and #results > 1
end

local statement, block = {}, nil

-- Declares variables whose values are computed before the first of them is.
local function declare_together(self, node)
    local list = {}
    for k, symbol in ipairs(node.symbols) do
        local value, type = node.values[k], self.types[symbol]
        if k == #node.values and gives_several(self, node.values, #node.symbols) then
            for r, text in ipairs(results_of(self, node, value)) do list[k + r - 1] = text end
            break
        end
        if not value or type.kind == 'tuple' then
            self.instance:refuse(node, 'declare a list, or a variable without a value, on its own')
        end
        list[k] = self:text(value, type)
    end
    for k, symbol in ipairs(node.symbols) do
        self.names_of[symbol] = self:take(symbol.name)
        self:put(node, '%s %s = %s;', types.written(self.types[symbol]), self.names_of[symbol],
            list[k])
    end
end

statement['local'] = function(self, node)
    if #node.values == 0 then
        for _, symbol in ipairs(node.symbols) do declare(self, node, symbol) end
    elseif #node.symbols == 1 then
        declare(self, node, node.symbols[1], node.values[1])
    else
        declare_together(self, node)
    end
end

local function assign_to(self, node, target, text)
    if target.tag == 'name' then
        return self:put(node, '%s = %s;', self.names_of[target.symbol], text)
    end
    local object = self.of[target.object]
    if object.stored == 'half' then
        local place = expressions.place(self, target)
        local base, key = place:match '^([^%[]*)%[(.*)%]$'
        return self:put(node, 'mr_half_store(%s, %s, %s);', base, key, text)
    end
    self:put(node, '%s = %s;', (expressions.place(self, target)), text)
end

local function type_of_target(self, target)
    if target.tag == 'name' then return self.types[target.symbol] end
    return self.of[target.object].element
end

-- Returns a target whose index is computed now, since another target of the same assignment
-- may change the variables in it.
local function fixed_target(self, node, target)
    if target.tag == 'name' or self.constants[target.key] then return target end
    local type, name = types.settled(self.of[target.key]), self:take 'at'
    self:put(node, 'const %s %s = %s;', types.written(type), name, self:text(target.key, type))
    local key = { tag = 'written', text = name, line = target.line }
    self.of[key] = type
    return { tag = 'index', object = target.object, key = key, line = target.line }
end

function statement.assign(self, node)
    if #node.targets == 1 then
        local type = type_of_target(self, node.targets[1])
        return assign_to(self, node, node.targets[1], self:text(node.values[1], type))
    end
    local list, targets = {}, {}
    for k, target in ipairs(node.targets) do targets[k] = fixed_target(self, node, target) end
    for k, value in ipairs(node.values) do
        if k == #node.values and gives_several(self, node.values, #node.targets) then
            for r, text in ipairs(results_of(self, node, value)) do list[k + r - 1] = text end
        elseif node.targets[k] then
            local type = type_of_target(self, node.targets[k])
            list[k] = self:take 'value'
            self:put(node, 'const %s %s = %s;', types.written(type), list[k],
                self:text(value, type))
        end
    end
    -- From the last to the first, as LuaJIT does: of `a, a = 1, 2` the first stays.
    for k = #targets, 1, -1 do assign_to(self, node, targets[k], list[k]) end
end

-- ---- control ----

function statement.callstatement(self, node)
    self:put(node, '%s;', self:text(node.call))
end

statement['do'] = function(self, node)
    self:open(node, '')
    block(self, node.body)
    self:close()
end

statement['while'] = function(self, node)
    self:open(node, 'while (%s)', self:text(node.test))
    block(self, node.body)
    self:close()
end

statement['repeat'] = function(self, node)
    self:open(node, 'for (;;)')
    block(self, node.body)
    self:put(node.test, 'if (%s) break;', self:text(node.test))
    self:close()
end

statement['if'] = function(self, node)
    for k, clause in ipairs(node.clauses) do
        if k == 1 then
            self:open(clause, 'if (%s)', self:text(clause.test))
        else
            self.indent = self.indent:sub(5)
            self:open(clause, '} else if (%s)', self:text(clause.test))
        end
        block(self, clause.body)
    end
    if node.otherwise then
        self.indent = self.indent:sub(5)
        self:open(nil, '} else')
        block(self, node.otherwise)
    end
    self:close()
end

-- Returns a text for a value that the loop reads again and again but Lua only once.
local function once(self, node, value, type, name)
    local text = self:text(value, type)
    local is_fixed = self.constants[value] or self.captured[value]
        or value.tag == 'name' and not value.symbol.is_assigned
    if is_fixed then return text end
    local own = self:take(name)
    self:put(node, 'const %s %s = %s;', types.written(type), own, text)
    return own
end

statement['for'] = function(self, node)
    local type, name = self.types[node.symbol], self:take(node.name)
    local from = self:text(node.from, type)
    local to = once(self, node, node.to, type, name .. '_last')
    local step = node.step and once(self, node, node.step, type, name .. '_step') or '1'
    local known = node.step and self.constants[node.step] or not node.step and 1
    local test = known and ('%s %s %s'):format(name, known > 0 and '<=' or '>=', to)
        or ('(%s > 0 ? %s <= %s : %s >= %s)'):format(step, name, to, name, to)
    local forward = step == '1' and '++' .. name or ('%s += %s'):format(name, step)
    self:open(node, 'for (%s %s = %s; %s; %s)', types.written(type), name, from, test, forward)
    self.names_of[node.symbol] = name
    if node.symbol.is_assigned then
        self.names_of[node.symbol] = self:take(node.name)
        self:put(node, '%s %s = %s;', types.written(type), self.names_of[node.symbol], name)
    end
    block(self, node.body)
    self:close()
end

statement['return'] = function(self, node)
    local results = self.instance.results
    if #results == 0 then return self:put(node, 'return;') end
    if gives_several(self, node.values, #results) and #node.values == 1 then
        local list = results_of(self, node, node.values[1])
        return self:put(node, 'return (%s_results){ %s };', self.instance.name,
            table.concat(list, ', '))
    end
    local list = {}
    for k, value in ipairs(node.values) do list[k] = self:text(value, results[k]) end
    if #results == 1 then return self:put(node, 'return %s;', list[1]) end
    local name = self:take 'results'
    self:put(node, '%s_results %s = { %s };', self.instance.name, name, table.concat(list, ', '))
    self:put(node, 'return %s;', name)
end

statement['break'] = function(self, node) self:put(node, 'break;') end

function block(self, list)
    for _, node in ipairs(list) do statement[node.tag](self, node) end
end

-- ---- functions ----

local function array_text(type, name, is_written)
    return ('%s%s %s *%s'):format(is_written and '' or 'const ',
        type.is_local and 'MR_LOCAL_PTR' or 'MR_GLOBAL', stored_as[type.stored] or type.written,
        name)
end

local function new(instance, unit)
    local self = setmetatable({ instance = instance, indent = '', lines = {}, names_of = {},
        fault = unit.fault, fuses = unit.fuses,
        taken = names.new(unit.taken) }, Writer)
    for _, list in ipairs { 'of', 'types', 'constants', 'captured', 'choices', 'callees' } do
        self[list] = instance[list]
    end
    return self
end

-- Names the parameters, and adds the declarations of those after the first `indices`,
-- of the counts of arrays where takes_count(symbol), and of what the function
-- captures: add(entry, text)
local function add_arguments(self, indices, takes_count, add)
    local instance = self.instance
    local function declare_as(type, name) return types.written(type) .. ' ' .. name end
    for k, symbol in ipairs(instance.resolved.parameters) do
        local type, name = instance.parameters[k], self:take(symbol.name)
        self.names_of[symbol] = name
        if type.kind == 'array' then
            add({ name = name, parameter = k }, array_text(type, name, instance.written[symbol]))
            self.taken[name .. '_count'] = true
            if takes_count(symbol) then
                add({ name = name .. '_count', count_of = k },
                    declare_as(type.count, name .. '_count'))
            end
        elseif k > indices then
            add({ name = name, parameter = k }, declare_as(type, name))
        end
    end
    for _, entry in ipairs(instance.captures) do
        add({ name = entry.text, capture = entry }, declare_as(entry.type, entry.text))
    end
end

-- Returns the lines of a function that others call.
function write.callee(instance, unit)
    local self = new(instance, unit)
    local list, results, tree = {}, instance.results, instance.resolved.tree
    add_arguments(self, 0, function() return true end, function(_, text)
        list[#list + 1] = text
    end)
    if #results > 1 then
        local members = {}
        for k, type in ipairs(results) do
            members[k] = ('%s r%d;'):format(types.written(type), k)
        end
        self:put(tree, 'typedef struct %s_results { %s } %s_results;', instance.name,
            table.concat(members, ' '), instance.name)
    end
    local written = #results == 0 and 'void' or #results == 1 and types.written(results[1])
        or instance.name .. '_results'
    self:open(tree, 'MR_FN %s %s(%s)', written, instance.name, table.concat(list, ', '))
    block(self, tree.body)
    self:close()
    return self.lines
end

-- Returns the lines of a kernel and its arguments, each as { name, with one of parameter,
-- count_of, capture or axis, which say where its value comes from }.
-- indices: how many of the function's first parameters are the work-item's place
function write.kernel(instance, unit, indices)
    local self = new(instance, unit)
    local list, given = {}, {}
    local function add(entry, text)
        given[#given + 1], list[#list + 1] = entry, text
    end
    local axes, tree = { 'x', 'y', 'z' }, instance.resolved.tree
    add_arguments(self, indices, function(symbol)
        return unit.fault or instance.counted[symbol]
    end, add)
    local beyond = {}
    for k = 1, unit.has_barrier and 0 or indices do
        local name = self:take('size_' .. axes[k])
        add({ name = name, axis = k }, 'int ' .. name)
        beyond[k] = ('%s >= %s'):format(self.names_of[instance.resolved.parameters[k]], name)
    end
    local g = unit.group
    self:put(tree, g and 'MR_KERNEL MR_GROUP_SIZE(%d, %d, %d)' or 'MR_KERNEL', unpack(g or {}))
    self:open(tree, 'void %s(%s)', instance.name, table.concat(list, ', '))
    self.first = #self.lines + 1
    for k = 1, indices do
        self:put(tree, 'int %s = mr_gid_%s();', self.names_of[instance.resolved.parameters[k]],
            axes[k])
    end
    if #beyond > 0 then self:put(tree, 'if (%s) return;', table.concat(beyond, ' || ')) end
    block(self, tree.body)
    self:close()
    return self.lines, given
end

-- Returns the lines of the kernel that calls an instance for each element, and its arguments: see
-- unit.map.
function write.map(instance, unit, given)
    local self = new(instance, unit)
    local list, arguments, values = {}, {}, {}
    local function add(name, text, entry)
        entry.name, arguments[#arguments + 1], list[#list + 1] = name, entry, text
    end
    for k, type in ipairs(instance.results) do
        local written = stored_as[type] or types.written(type)
        add('to_' .. k, ('MR_GLOBAL %s *to_%d'):format(written, k), { output = k })
    end
    for k, type in ipairs(given) do
        local name = self:take('from_' .. k)
        local is_array = type.kind == 'array'
        add(name, is_array and array_text(type, name) or types.written(type) .. ' ' .. name,
            { parameter = k })
        local text = is_array and name .. '[i]' or name
        if type.stored == 'half' then text = ('(float)mr_half_load(%s, i)'):format(name) end
        if type.stored == 'bool' then text = text .. ' != 0' end
        values[k] = text
    end
    for _, entry in ipairs(instance.captures) do
        add(entry.text, types.written(entry.type) .. ' ' .. entry.text, { capture = entry })
        values[#values + 1] = entry.text
    end
    add('count', 'int64_t count', { is_count = true })
    self:put(nil, 'MR_KERNEL')
    self:open(nil, 'void %s_each(%s)', instance.name, table.concat(list, ', '))
    self:put(nil, 'mr_index i = mr_gid_x();')
    self:put(nil, 'if (i >= count) return;')
    local call = ('%s(%s)'):format(instance.name, table.concat(values, ', '))
    if #instance.results == 1 then
        self:put(nil, 'to_1[i] = %s;', call)
    else
        self:put(nil, 'const %s_results r = %s;', instance.name, call)
        for k in ipairs(instance.results) do self:put(nil, 'to_%d[i] = r.r%d;', k, k) end
    end
    self:close()
    return self.lines, arguments
end

return write
