-- The candidates of a tuning: all combinations of parameter values that the
-- restrictions allow, numbered from 1. Parameters are ordered by name, values
-- as they were given; strategies take adjacent values for similar ones.

local errors = require 'bindings.errors'
local tables = require 'bindings.tables'

local space = {}

local Space = {}
Space.__index = Space

local most = 2 ^ 20         -- combinations; all of them are examined

-- Returns a value as text in keys: "64", "fast", or "True" as Kernel Tuner, a
-- Python program, writes it.
local function text_of(value)
    if type(value) == 'number' then return string.format('%.14g', value) end
    if type(value) == 'boolean' then return value and 'True' or 'False' end
    return value
end

-- Returns a value for messages, with texts in quotes.
local function told(value)
    return type(value) == 'string' and "'" .. value .. "'" or tostring(value)
end

local function check_values(name, values)
    if type(values) ~= 'table' or #values == 0 then
        errors.argument("tune: parameter '%s' has no values: an array of them is wanted", name)
    end
    local seen = {}
    for _, value in ipairs(values) do
        local kind = type(value)
        if kind ~= 'number' and kind ~= 'string' and kind ~= 'boolean' then
            errors.argument("tune: parameter '%s' has a %s among its values (allowed: numbers, "
                .. 'texts, true and false)', name, kind)
        elseif value ~= value then
            errors.argument("tune: parameter '%s' has a NaN among its values", name)
        elseif seen[value] then
            errors.argument("tune: parameter '%s' has the value %s twice", name, text_of(value))
        end
        seen[value] = true
    end
end

local function sorted_names(params)
    for name, values in pairs(params) do
        if type(name) ~= 'string' or not name:find '^[%a_][%w_]*$' then
            errors.argument("tune: '%s' is no name of a parameter (letters, digits and _)",
                tostring(name))
        end
        check_values(name, values)
    end
    return tables.keys(params)
end

-- Compiles an expression such as 'block_size_x * block_size_y <= 1024' to a
-- function of a table of parameters. != and ** have their meaning in Python.
function space.expression(text, names)
    local lua = tostring(text):gsub('!=', '~='):gsub('%*%*', '^')
    local chunk, problem = loadstring('return ' .. lua, '=' .. tostring(text))
    if not chunk then errors.argument("tune: '%s' is no expression: %s", text, problem) end
    local known = tables.set(names)
    return function(params)
        setfenv(chunk, setmetatable({}, { __index = function(_, name)
            if known[name] then return params[name] end
            if name == 'math' then return math end
            errors.argument("tune: '%s' names '%s', which is no parameter (there are: %s)", text,
                name, table.concat(names, ', '))
        end }))
        local ok, value = pcall(chunk)
        if ok then return value end
        if errors.is(value) then error(value, 0) end
        errors.argument("tune: '%s': %s", text, value)
    end
end

-- Returns an array of { text =, allows = function(params), refused = number of
-- combinations }.
local function read_restrictions(given, names)
    local list = {}
    if type(given) ~= 'table' then given = { given } end
    for k, one in ipairs(given) do
        local is_function = type(one) == 'function'
        if not is_function and type(one) ~= 'string' then
            errors.argument('tune: restriction %d is a %s (allowed: expressions, functions)', k,
                type(one))
        end
        list[k] = { refused = 0, text = is_function and 'function ' .. k or one,
            allows = is_function and one or space.expression(one, names) }
    end
    return list
end

local function is_allowed(params, restrictions)
    local allowed = true
    for _, restriction in ipairs(restrictions) do
        if not restriction.allows(params) then
            restriction.refused, allowed = restriction.refused + 1, false
        end
    end
    return allowed
end

local function raise_empty(restrictions, count)
    local texts = {}
    for k, restriction in ipairs(restrictions) do
        texts[k] = string.format("'%s' refuses %d", restriction.text, restriction.refused)
    end
    errors.argument('tune: the restrictions leave none of %.0f candidates: %s', count,
        table.concat(texts, ', '))
end

-- Returns the positions of the values in a combination's number.
local function positions_of(self, number)
    local positions, rest = {}, number
    for k = #self.names, 1, -1 do
        local count = #self.values[k]
        positions[k], rest = rest % count + 1, math.floor(rest / count)
    end
    return positions
end

-- Returns the key of parameters in a cache file: their values in the order of
-- `names`.
function space.key(params, names)
    local texts = {}
    for k, name in ipairs(names) do texts[k] = text_of(params[name]) end
    return table.concat(texts, ',')
end

local function key_at(self, positions)
    local texts = {}
    for k, position in ipairs(positions) do texts[k] = text_of(self.values[k][position]) end
    return table.concat(texts, ',')
end

local function params_at(self, positions)
    local params = {}
    for k, position in ipairs(positions) do params[self.names[k]] = self.values[k][position] end
    return params
end

local function raise_twins(self, key, one, other)
    local texts = {}
    for k, name in ipairs(self.names) do
        local a, b = self.values[k][one[k]], self.values[k][other[k]]
        if a ~= b then texts[#texts + 1] = ('%s = %s or %s'):format(name, told(a), told(b)) end
    end
    errors.argument("tune: two candidates would be '%s' in a cache file: %s", key,
        table.concat(texts, ', '))
end

-- Adds a candidate. Keys of Kernel Tuner are texts joined by commas, so
-- different candidates can have equal keys: texts may contain commas, and a
-- number equals its text.
local function add(self, positions)
    local key = key_at(self, positions)
    if self.index_of[key] then raise_twins(self, key, self.at[self.index_of[key]], positions) end
    self.at[#self.at + 1] = positions
    self.index_of[key] = #self.at
end

-- Returns the space of tune_params = { name = { values }, ... }. restrictions:
-- nil, a function(params), or an array of functions and expressions. order: of
-- the names, default alphabetical. The result has `size`, `names` and `values`
-- (in the order of the names).
function space.new(tune_params, restrictions, order)
    if type(tune_params) ~= 'table' or next(tune_params) == nil then
        errors.argument 'tune: tune_params must be a table { name = { values } } that is not empty'
    end
    local names = sorted_names(tune_params)
    local self = setmetatable({ names = order or names, values = {}, at = {},
        index_of = {} }, Space)
    local count = 1
    for k, name in ipairs(self.names) do
        self.values[k] = tune_params[name]
        count = count * #self.values[k]
    end
    if count > most then
        errors.argument('tune: %.0f combinations, at most %d are searched', count, most)
    end
    local refusals = read_restrictions(restrictions, self.names)
    for number = 0, count - 1 do
        local positions = positions_of(self, number)
        if is_allowed(params_at(self, positions), refusals) then
            add(self, positions)
        end
    end
    self.size = #self.at
    if self.size == 0 then raise_empty(refusals, count) end
    return self
end

-- Returns the parameters of a candidate in a new table.
function Space:params(index)
    return params_at(self, self.at[index])
end

-- Returns the key of a candidate in a cache file.
function Space:key(index)
    return key_at(self, self.at[index])
end

-- Returns the position of each value of a candidate among its parameter's
-- values, from 0 to 1.
function Space:place(index)
    local place = {}
    for k, position in ipairs(self.at[index]) do
        local last = #self.values[k] - 1
        place[k] = last > 0 and (position - 1) / last or 0
    end
    return place
end

-- Calls visit() with `positions` set to each other value of parameter k.
local function each_other(self, positions, k, visit)
    local here = positions[k]
    for position = 1, #self.values[k] do
        positions[k] = position
        if position ~= here then visit(self.values[k][here], self.values[k][position]) end
    end
    positions[k] = here
end

-- Returns the candidates that differ in a single parameter.
function Space:neighbours(index)
    local found, positions = {}, { unpack(self.at[index]) }
    for k = 1, #self.values do
        each_other(self, positions, k, function()
            found[#found + 1] = self.index_of[key_at(self, positions)]
        end)
    end
    return found
end

-- Returns the candidates that differ in two numbers with the same product: what
-- one parameter gains, the other loses, such as the number of work-items and
-- the work of each. Good candidates often lie along such lines.
function Space:trades(index)
    local found, positions = {}, { unpack(self.at[index]) }
    for k = 1, #self.values do
        for m = k + 1, #self.values do
            each_other(self, positions, k, function(a, other_a)
                each_other(self, positions, m, function(b, other_b)
                    local numbers = type(a) == 'number' and type(b) == 'number'
                        and type(other_a) == 'number' and type(other_b) == 'number'
                    if numbers and a * b == other_a * other_b then
                        found[#found + 1] = self.index_of[key_at(self, positions)]
                    end
                end)
            end)
        end
    end
    return found
end

-- Returns the candidate whose parameter k has the position pick(k, a, b,
-- count), given the positions in candidates a and b; nil if it is not allowed.
function Space:combine(a, b, pick)
    local positions = {}
    for k, values in ipairs(self.values) do
        positions[k] = pick(k, self.at[a][k], self.at[b][k], #values)
    end
    return self.index_of[key_at(self, positions)]
end

return space
