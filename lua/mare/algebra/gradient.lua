-- mare.gradient(f): the derivatives of a function of Lua, as a function of Lua, which mare.map and
-- mare.kernel take as any other.
--
--     local slope = mare.gradient(function(u, v) return u * u + math.sin(v) end)
--     print(slope(3, 0))                               --> 6  1
--     print(mare.gradient.text(slope))
--     local by_u, by_v = mare.map(slope)(x, y)
--
--     -- A kernel: each element of `new` is made of some of u and s.
--     local function step(i, u, s, r, new)
--         if i > 0 and i < u.count - 1 then
--             new[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1]) + s[i]
--         end
--     end
--     local back = mare.kernel(mare.gradient(step, { by = { 'u', 's', 'r' } }))
--     back(n, u, s, r, new_bar, u_bar, s_bar, r_bar)
--
-- Of a function of numbers, which has one result, each result is its derivative by one of its
-- numbers: by all of them, or by those of `by`. Of a kernel with one index the function takes what
-- it takes, without the arrays that it writes; then for each of these, in the same order, how a
-- quantity changes with its elements (new_bar); then for each of `by` an array, to whose elements
-- it adds how that quantity changes with them. It goes over all elements of those. Of a number (r)
-- it adds element by element what has to be summed.
--
-- This is reverse mode, by formulas: it keeps nothing but what f was given. All branches are gone,
-- loops as long as the function's text says are unrolled. An element that is read must be a fixed
-- number of places from i, and one item writes one element of an array; f is taken to run over as
-- many items as the first array that it writes has elements. What is written is not read: an
-- array that is read and overwritten is refused, with the line, like anything else that cannot be
-- followed; that a call gives one array under two names it cannot see. The derivative of floor and
-- of a comparison is 0.

local errors = require 'bindings.errors'
local interpreted = require 'mare.base.interpreted'
local lua_text = require 'mare.algebra.lua_text'
local nodes = require 'mare.dialect.nodes'
local outside = require 'mare.algebra.outside'
local polynomial = require 'mare.algebra.polynomial'
local resolve = require 'mare.parse.resolve'
local reverse = require 'mare.algebra.reverse'
local text = require 'mare.parse.text'
local trace = require 'mare.algebra.trace'

local gradient = {}

local texts = setmetatable({}, { __mode = 'k' })    -- by the function

local function leaf(name) return nodes.input(name, 'real', name, {}) end

local Gradient = {}
Gradient.__index = Gradient

local function refuse(self, node, message, ...)
    local resolved = resolve.of(self.f)
    local line = node and node.line or resolved.tree.line
    errors.argument_at(('%s:%d'):format(resolved.chunk, line), message, ...)
end

-- Returns a name that no parameter has.
local function free(self, name)
    while self.taken[name] do name = name .. '_' end
    return name
end

-- ---- following ----

-- Returns the leaf of an element of an array, the same for the same index.
local function element(self, array, index, node)
    local key = nodes.wrap(index, 'an index')
    if not array.elements then array.elements = {} end
    if not array.elements[key] then
        local one = leaf(array.text)
        one.array, one.index, one.line = array, index, node.line
        array.elements[key] = one
        self.elements[#self.elements + 1] = one
    end
    return array.elements[key]
end

local function is_parameter(self, node) return self.parameters[node] ~= nil end

local function read(self, array, index, node)
    if not is_parameter(self, array) then trace.give_up(node, 'an element of a number') end
    if type(index) == 'string' then
        if index ~= 'count' then trace.give_up(node, 'a field of a table') end
        array.count = array.count or leaf(array.text .. '.count')
        array.count.of = array
        return array.count
    end
    array.is_read = node
    return element(self, array, index, node)
end

local function write(self, array, index, value, node)
    if not is_parameter(self, array) then trace.give_up(node, 'an assignment to a number') end
    for _, one in ipairs(self.way.writes) do
        if rawequal(one.array, array) then
            refuse(self, node, "'%s' is written twice: a derivative needs each element written "
                .. 'once', array.text)
        end
    end
    array.is_written = array.is_written or node
    self.way.writes[#self.way.writes + 1] = { array = array, index = index, value = value,
        node = node }
end

local function follow(self)
    local ways = {
        outside = function(f, node) return self.outside:leaf(f, node) end,
        read = function(array, index, node) return read(self, array, index, node) end,
        write = function(...) return write(self, ...) end,
    }
    trace.paths(self.f, self.list, ways, function() self.way = { writes = {} } end,
        function(conditions, results)
            self.way.conditions, self.way.results = conditions, results
            self.ways[#self.ways + 1] = self.way
        end)
end

-- Checks what f does, and says whether it is a kernel.
local function is_kernel(self)
    local writes = false
    for _, array in ipairs(self.list) do
        writes = writes or array.is_written ~= nil
        if array.is_written and array.is_read then
            refuse(self, array.is_written, "'%s' is read and written: its derivative would need "
                .. 'what it was before; write into another array', array.text)
        end
    end
    for _, way in ipairs(self.ways) do
        if not writes and #way.results ~= 1 then
            refuse(self, nil, 'a function whose derivative is wanted returns one number or writes '
                .. 'into arrays; this returns %d', #way.results)
        end
    end
    return writes
end

-- ---- places ----

local function depends(node, on)
    if rawequal(node, on) then return true end
    if not nodes.is(node) then return false end
    for _, operand in ipairs(node) do
        if depends(operand, on) then return true end
    end
    return false
end

-- Whether it holds an element of an array.
local function looks_up(node)
    if not nodes.is(node) then return false end
    if node.index then return true end
    for _, operand in ipairs(node) do
        if looks_up(operand) then return true end
    end
    return false
end

-- Returns how many places from the item's own an index is: a number or an expression.
local function offset_of(self, index, node)
    local room, item, found = polynomial.room {}, self.list[1], false
    local p = room:expand(index)
    local rest = {}
    for key, term in pairs(p) do
        local own, others = 0, false
        for k, n in pairs(term.e) do
            local atom = room.atoms[k]
            if rawequal(atom, item) then own = n else
                others = others or depends(atom, item) or looks_up(atom)
            end
        end
        local is_item = own == 1 and next(term.e, next(term.e)) == nil and term.c == 1
        if others or own ~= 0 and not is_item then found = false; rest = nil; break end
        if is_item then found = true else rest[key] = term end
    end
    if not found or not rest then
        refuse(self, node, "an index whose place is not '%s' and a number that no item changes: "
            .. 'a derivative cannot tell who reads an element', item.text)
    end
    local at = room:expressions { rest }[1]
    if type(at) == 'number' and at % 1 ~= 0 then
        refuse(self, node, "an index of '%s' and %g: elements have whole numbers", item.text, at)
    end
    return at
end

-- ---- text ----

local function check_words(self, list, seen)
    seen = seen or {}
    for _, node in ipairs(list) do
        if nodes.is(node) and not seen[node] then
            seen[node] = true
            if node.op and not lua_text.has(node.op) then
                refuse(self, nil, "a derivative with '%s', which Lua has no word for", node.op.name)
            end
            check_words(self, node, seen)
        end
    end
end

-- Returns a tree of the ways from .. to, beyond the first `depth` conditions: a way, or { test,
-- yes = tree, no = tree }; nil where none is wanted.
local function tree_of(self, wanted, from, to, depth)
    local first = self.ways[from].conditions[depth + 1]
    if not first then return wanted(self.ways[from]) and self.ways[from] or nil end
    local last = from
    while last < to and self.ways[last + 1].conditions[depth + 1].yes do last = last + 1 end
    local yes = tree_of(self, wanted, from, last, depth + 1)
    local no = tree_of(self, wanted, last + 1, to, depth + 1)
    if yes or no then return { test = first.test, yes = yes, no = no } end
end

-- Writes what put(way) writes at the ends of a tree. ends: whether that ends the function
local function branches(w, tree, put, ends)
    if not tree.test then return put(tree) end
    local test = w:values { tree.test }
    w:open(tree.yes and 'if %s then' or 'if not (%s) then', test)
    branches(w, tree.yes or tree.no, put, ends)
    if tree.yes and tree.no and not ends then
        w:close 'else'
        w:open()
        branches(w, tree.no, put, ends)
    end
    w:close()
    if ends then branches(w, tree.no, put, ends) end
end

-- Returns the derivatives of expressions, each times its weight.
local function changes(self, expressions, weights, inputs)
    local bars, fault = reverse.of(expressions, weights, inputs)
    if not bars then refuse(self, nil, "'%s' has no derivative", fault) end
    return bars
end

-- Writes the function of a function of numbers.
local function write_numbers(self, w)
    local inputs = {}
    for _, one in ipairs(self.by) do inputs[one] = true end
    w:open('return function(%s)', table.concat(self.names, ', '))
    local tree = tree_of(self, function() return true end, 1, #self.ways, 0)
    branches(w, tree, function(way)
        local bars, list = changes(self, way.results, { 1 }, inputs), {}
        for k, one in ipairs(self.by) do list[k] = bars[one] or 0 end
        check_words(self, list)
        w:line('return %s', table.concat({ w:values(list) }, ', '))
    end, true)
    w:close()
end

-- ---- kernels ----

-- Returns, in order, how far away the elements of an array are that are read: { at = expression,
-- elements = set }. Of a number that is the item's own place.
local function places(self, one)
    if not one.elements then return { { at = 0, elements = { [one] = true } } } end
    local list, known = {}, {}
    for _, read_one in ipairs(self.elements) do
        if rawequal(read_one.array, one) then
            local at = offset_of(self, read_one.index, { line = read_one.line })
            local key = lua_text.of(at)
            if not known[key] then
                known[key] = { at = at, elements = {} }
                list[#list + 1] = known[key]
            end
            known[key].elements[read_one] = true
        end
    end
    return list
end

local function bar_of(self, one) return free(self, one.text .. '_bar') end

-- Returns the weights of what one way writes.
local function weights_of(self, way)
    local list = {}
    for k, one in ipairs(way.writes) do
        local weight = leaf(self.bars[one.array])
        weight.array, weight.index = { text = self.bars[one.array] }, one.index
        list[k] = weight
    end
    return list
end

-- Returns the terms that elements at one place have of what a way writes, in their order.
local function terms_of(self, way, place)
    local values, terms = {}, {}
    for k, one in ipairs(way.writes) do values[k] = one.value end
    local bars = changes(self, values, weights_of(self, way), place.elements)
    for _, one in ipairs(self.elements) do terms[#terms + 1] = bars[one] end
    for _, one in ipairs(self.by) do terms[#terms + 1] = bars[one] end
    check_words(self, terms)
    return terms
end

-- Returns the text of the item that reads what is `at` so many places from it.
local function item_at(self, at)
    if type(at) ~= 'number' then return lua_text.of(leaf(self.own) - at) end
    if at == 0 then return self.own end
    return ('%s %s %d'):format(self.own, at < 0 and '+' or '-', math.abs(at))
end

-- Writes what is added to the sum for the items that read elements at one place.
local function write_place(self, w, place)
    local item, terms = self.list[1].text, {}
    for _, way in ipairs(self.ways) do terms[way] = terms_of(self, way, place) end
    local tree = tree_of(self, function(way) return #terms[way] > 0 end, 1, #self.ways, 0)
    if not tree then return end
    w:open 'do'
    w:line('local %s = %s', item, item_at(self, place.at))
    w:open('if %s >= 0 and %s < %s.count then', item, item, self.range)
    branches(w, tree, function(way)
        for _, term in ipairs(terms[way]) do
            w:line('%s = %s + (%s)', self.sum, self.sum, (w:values { term }))
        end
    end, false)
    w:close()
    w:close()
end

-- Writes the kernel that adds to the arrays of `by`.
local function write_kernel(self, w)
    local names, seeds = { self.own }, {}
    for k, one in ipairs(self.list) do
        if one.is_written then seeds[#seeds + 1] = one elseif k > 1 then
            names[#names + 1] = one.text
        end
    end
    for _, one in ipairs(seeds) do
        self.bars[one] = bar_of(self, one)
        names[#names + 1] = self.bars[one]
        if one.count then one.count.text = self.bars[one] .. '.count' end
    end
    self.range = self.bars[seeds[1]]
    for _, one in ipairs(self.by) do names[#names + 1] = bar_of(self, one) end
    w:open('return function(%s)', table.concat(names, ', '))
    for _, one in ipairs(self.by) do
        local bar = bar_of(self, one)
        w:open('if %s < %s.count then', self.own, bar)
        w:line('local %s = %s[%s]', self.sum, bar, self.own)
        for _, place in ipairs(places(self, one)) do write_place(self, w, place) end
        w:line('%s[%s] = %s', bar, self.own, self.sum)
        w:close()
    end
    w:close()
end

-- ---- making ----

local function parameters_of(self, by)
    for _, symbol in ipairs(resolve.of(self.f).parameters) do self.taken[symbol.name] = true end
    self.own, self.sum = free(self, 'item'), free(self, 'sum')
    local known = {}
    for k, symbol in ipairs(resolve.of(self.f).parameters) do
        local one = leaf(symbol.name)
        self.list[k], self.names[k], self.parameters[one] = one, symbol.name, k
        known[symbol.name] = one
    end
    for k, name in ipairs(by or self.names) do
        self.by[k] = known[name] or errors.argument("mare.gradient: by: '%s' is no parameter "
            .. '(there are %s)', tostring(name), table.concat(self.names, ', '))
    end
end

local function check_by(self, options)
    if not options.by then
        refuse(self, nil, 'mare.gradient: a function that writes into arrays: { by = { names } } '
            .. 'is wanted')
    end
    for _, one in ipairs(self.by) do
        if one.is_written or self.parameters[one] == 1 then
            refuse(self, one.is_written, "mare.gradient: by: '%s' is %s, not what f is made of",
                one.text, one.is_written and 'written' or 'the index')
        end
    end
end

local function of(f, options)
    local self = setmetatable({ f = f, list = {}, names = {}, parameters = {}, by = {}, ways = {},
        elements = {}, taken = {}, bars = {} }, Gradient)
    parameters_of(self, options.by)
    self.outside = outside.new(free(self, 'outside'))
    follow(self)
    local w = lua_text.new(function(name) return self.taken[name] end)
    w:line('local %s = ...', self.outside.name)
    if is_kernel(self) then
        check_by(self, options)
        write_kernel(self, w)
    else
        write_numbers(self, w)
    end
    local resolved = resolve.of(f)
    local name = ('=the gradient of line %d of %s'):format(resolved.tree.line, resolved.chunk)
    local made = w:text()
    text.keep(name, made)
    local chunk = loadstring(made, name)
    if not chunk then refuse(self, nil, 'a derivative of more than 200 steps: Lua has no more '
        .. 'local variables') end
    local slope = chunk(self.outside.table)
    texts[slope] = made
    return slope
end

-- f: a function of Lua, as mare.map or mare.kernel take it. options: { by = names of parameters }.
-- Returns the function.
function gradient.new(f, options)
    if type(f) ~= 'function' then
        errors.argument('mare.gradient: a function is wanted, not %s', type(f))
    end
    options = errors.fields('mare.gradient', options or {}, { by = 'table' })
    return interpreted(of, f, options)
end

-- Returns the text of a function that mare.gradient has made, or nil.
function gradient.text(f) return texts[f] end

return gradient
