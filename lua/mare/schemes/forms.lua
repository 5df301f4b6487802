-- Writes functions of kernels that follow from those of an equation by algebra
-- (algebra/README.md), so that each number is computed once:
--
--   moved_faces(w, d, half, scale, k, low, high)   the states half d below and above w, where all
--       has moved for a time: by -scale A(w) d with the A of w_t + A(w) w_x = 0
--   carried(w, s, weight, k)   weight (F(w) - s q(w)): what comes over a face from state w through
--       its outer wave s
--
--   outward_of(w, k), fastest_of(w, k)   how fast the outermost signals go to either side, and the
--       faster of both: where they are v - c and v + c, c - v and c + v, and |v| + c
--
--   untold(q)   0, or no number where an unknown is none of which signals do not tell
--
--   add_rate(q, rate, dt)   what a source adds in dt: where it adds nothing there is no sum
--   source_over(q, at, dt, k)   a cell after dt by the midpoint rule, where that is less to compute
--
-- The first follows from A = q'(w)^-1 F'(w), of which the variables' own velocity joins d. For the
-- second, F - v q is formed with the velocity v that leaves least of it.

local derivative = require 'mare.algebra.derivative'
local interpreted = require 'mare.base.interpreted'
local maths = require 'mare.dialect.maths'
local midpoint = require 'mare.algebra.midpoint'
local nodes = require 'mare.dialect.nodes'
local operations = require 'mare.dialect.operations'
local polynomial = require 'mare.algebra.polynomial'
local trace = require 'mare.algebra.trace'
local types = require 'mare.dialect.types'
local writer = require 'mare.dialect.writer'

local forms = {}

-- Operations whose derivative is finite wherever they are. Roots, powers, choices and the like may
-- have none where a function is quite finite: of u sqrt(|u|) at rest, of q q / h where a choice
-- keeps dry ground from being divided by.
local smooth = { ['+'] = true, ['-'] = true, ['*'] = true, ['/'] = true, negative = true,
    fma = true }

-- Whether a product has a difference of two variable things as a factor. Multiplied out its terms
-- no longer cancel to the bit, as in a lake at rest over a bed that is a field.
local function scales_difference(node)
    if node.op.name ~= '*' then return false end
    for _, factor in ipairs(node) do
        local is_difference = type(factor) == 'table' and factor.op and factor.op.name == '-'
        if is_difference and factor[1].kind ~= 'number' and factor[2].kind ~= 'number' then
            return true
        end
    end
    return false
end

-- Whether these expressions may be derived and multiplied out. whole: differences must stay whole
local function may_follow(list, whole, seen)
    seen = seen or {}
    for _, node in ipairs(list) do
        if type(node) == 'table' and node.op and not seen[node] then
            seen[node] = true
            if not smooth[node.op.name] or whole and scales_difference(node)
                or not may_follow(node, whole, seen) then
                return false
            end
        end
    end
    return true
end

local function leaf(text) return nodes.input(text, 'real', text, {}) end

-- Returns what a function of Lua reads of a struct, and its members in order. list: names and
-- { vector = name }; symbol: what each is called there; along, across: what Lua calls components
local function record(struct, list, symbol, along, across, beyond)
    local read, members = {}, {}
    for _, entry in ipairs(list) do
        local vector = type(entry) == 'table' and entry.vector
        local name = struct .. '.' .. symbol(vector or entry)
        if vector then
            local components = { leaf(name .. 'n'), leaf(name .. 't'),
                entry.components == 3 and leaf(name .. 'b') or nil }
            read[vector] = { [along or 'n'] = components[1], [across or 't'] = components[2],
                [beyond or 'b'] = components[3] }
            for _, node in ipairs(components) do members[#members + 1] = node end
        else
            read[entry] = leaf(name)
            members[#members + 1] = read[entry]
        end
    end
    return read, members
end

local function pairing(list, values)
    local map = {}
    for k, node in ipairs(list) do map[node] = values[k] end
    return map
end

-- Returns how the variables change where fluxes change so: those of q = U.
local function changes_of(desc, made, unknowns, fluxes)
    if not desc.primitive then return fluxes end
    local q, members = record('q', desc.fields, made.symbol)
    local _, directions = record('dq', desc.fields, made.symbol)
    local given = trace.of(desc.primitive, q, made.parameters)
    local list = given and may_follow(given)
        and derivative.along(given, pairing(members, directions))
    if not list then return nil end
    local values = pairing(members, unknowns)
    for k, node in ipairs(directions) do values[node] = fluxes[k] end
    return derivative.substituted(list, values)
end

local function text_of(head, taken, names, values, finish)
    local w = writer.new()
    w:open(head, taken)
    finish(w, { w:values(values) }, names)
    w:close()
    return w:text()
end

-- ---- moved faces ----

-- Returns the variable v with which most rows have a term v d of their own, or nil.
local function own_velocity(room, rows, w, d)
    local best, most_rows = nil, 0
    for _, v in ipairs(w) do
        local count = 0
        for k, p in ipairs(rows) do count = count + (room:has(p, v, d[k]) and 1 or 0) end
        if count > most_rows then best, most_rows = v, count end
    end
    return best
end

local function moved_values(room, rows, w, d)
    local half, scale = leaf 'half_of', leaf 'scale'
    local v, own, lows, highs = own_velocity(room, rows, w, d), {}, {}, {}
    for k, p in ipairs(rows) do
        own[k] = v and room:has(p, v, d[k])
        if own[k] then rows[k] = polynomial.sum(p, room:expand(v * d[k]), -1) end
    end
    for k, change in ipairs(room:expressions(rows)) do
        local rest = change == 0 and w[k] or maths.fma(-scale, change, w[k])
        local back = own[k] and maths.fma(scale, v, half) or half
        local ahead = own[k] and maths.fma(-scale, v, half) or half
        lows[k], highs[k] = maths.fma(-back, d[k], rest), maths.fma(ahead, d[k], rest)
    end
    return lows, highs
end

local function moved_faces(desc, made)
    local d, directions = record('d', desc.primitives, made.symbol)
    local fluxes = derivative.along(made.flux, pairing(made.variables, directions))
    local changes = d and fluxes and changes_of(desc, made, made.unknowns, fluxes)
    if not changes then return '' end
    local room = polynomial.room(made.uniform)
    local rows = room:expanded(changes)
    if not rows then return '' end
    local values, highs = moved_values(room, rows, made.variables, directions)
    for _, node in ipairs(highs) do values[#values + 1] = node end
    return '#define MOVED_FACES 1\n' .. text_of('MR_FN void moved_faces(primitive w, primitive d, '
        .. 'real half_of, real scale, parameters k, primitive *low, primitive *high)',
        { 'w', 'd', 'half_of', 'scale', 'k', 'low', 'high' }, made.names, values,
        function(w, texts, names)
            for k, name in ipairs(names) do
                w:line('low->%s = %s;', name, texts[k])
                w:line('high->%s = %s;', name, texts[#names + k])
            end
        end)
end

-- ---- what is carried ----

-- Returns F - v q for the v, of the variables or nil, that leaves least of it.
local function rest_of(room, made, unknowns, fluxes)
    local best, least, velocity = fluxes, 0, nil
    for _, p in ipairs(fluxes) do least = least + polynomial.size(p) end
    for _, v in ipairs(made.variables) do
        local rest, size, own = {}, 0, room:expand(v)
        for k, p in ipairs(fluxes) do
            rest[k] = polynomial.sum(p, polynomial.product(unknowns[k], own), -1)
            size = size + polynomial.size(rest[k])
        end
        if size < least then best, least, velocity = rest, size, v end
    end
    return best, velocity
end

local function carried(made, fields)
    local room = polynomial.room(made.uniform)
    local unknowns, fluxes = room:expanded(made.unknowns), room:expanded(made.flux)
    if not unknowns or not fluxes then return '' end
    local relative, weight, s = leaf 'relative', leaf 'weight', leaf 's'
    local rest, v = rest_of(room, made, unknowns, fluxes)
    local list = {}
    for k, p in ipairs(rest) do
        list[k] = polynomial.sum(p, polynomial.product(unknowns[k], room:expand(relative)), 1)
    end
    local weighted = room:times_atoms(list, weight, 2)
    for k, p in ipairs(rest) do
        list[k] = weighted and weighted[k]
            or polynomial.sum(polynomial.product(p, room:expand(weight)),
                polynomial.product(unknowns[k], room:expand(relative)), 1)
    end
    local w, speed = writer.new(), v and v - s or -s
    local values, scales = room:chained(list)
    w:open('MR_FN flux carried(primitive w, real s, real weight, parameters k)',
        { 'w', 's', 'weight', 'k', 'relative', 'f' })
    w:line('flux f;')
    w:line('real relative = %s;', (w:values { weighted and speed or weight * speed }))
    local texts = { w:values(values) }
    for k, name in ipairs(fields) do w:line('f.%s = %s;', name, texts[k]) end
    w:line('return f;')
    w:close()
    for k, scale in ipairs(scales) do       -- by plane: a name may be a macro of OpenCL, as pow
        w:line('#define CARRIED_%d %s', k - 1, types.literal(scale, 'real'))
    end
    return '#define CARRIED 1\n' .. w:text()
end

-- ---- signals ----

-- Returns v and c where a speed function gives v - c and v + c, with the very same c.
local function middle_and_spread(low, high)
    local are_made = nodes.is(low) and nodes.is(high) and low.op and high.op
    if not are_made or low.op.name ~= '-' or high.op.name ~= '+' then return nil end
    local v, c = low[1], low[2]
    local is_same = rawequal(v, high[1]) and rawequal(c, high[2])
        or rawequal(v, high[2]) and rawequal(c, high[1])
    if is_same and nodes.is(v) and nodes.is(c) then return v, c end
end

-- What lua.h has for a b + c and a / b, of which fast maths makes one instruction.
local mad = { name = 'mad', call = 'lua_mad', operands = 3, level = operations.atom,
    result = function() return 'real' end }
local over = { name = 'over', call = 'lua_over', operands = 2, level = operations.atom,
    result = function() return 'real' end }

local function is_product(node) return node.op == operations['*'] end

-- Returns an expression in these words.
local function in_words_of_lua(node)
    if type(node) == 'number' or node.kind ~= 'operation' then return node end
    local list = {}
    for k, operand in ipairs(node) do list[k] = in_words_of_lua(operand) end
    local a, b = list[1], list[2]
    if node.op.name == '/' then return nodes.apply(over, a, b) end
    if node.op.name == '+' and is_product(b) then return nodes.apply(mad, b[1], b[2], a) end
    if node.op.name == '+' and is_product(a) then return nodes.apply(mad, a[1], a[2], b) end
    if node.op.name == '-' and is_product(b) then return nodes.apply(mad, -b[1], b[2], a) end
    return nodes.apply(node.op, unpack(list))
end

local function outward(desc, w, k)
    local found = trace.of(desc.speed, w, k)
    if not found or #found ~= 2 then return '' end
    local v, c = middle_and_spread(found[1], found[2])
    if not v then return '' end
    v, c = in_words_of_lua(v), in_words_of_lua(c)
    local function text(head, values, finish)
        return text_of(head, { 'w', 'k' }, nil, values, finish)
    end
    return '#define OWN_OUTWARD 1\n'
        .. text('MR_FN outward outward_of(primitive w, parameters k)', { c - v, c + v },
            function(lines, texts)
                lines:line('outward o = { %s, %s };', texts[1], texts[2])
                lines:line('return o;')
            end)
        .. text('MR_FN real fastest_of(primitive w, parameters k)', { maths.abs(v) + c },
            function(lines, texts) lines:line('return %s;', texts[1]) end)
end

-- ---- what signals do not tell ----

-- Adds to a set the inputs that an expression depends on.
local function add_inputs(set, node)
    if type(node) ~= 'table' or set[node] then return end
    set[node] = true
    for _, operand in ipairs(node) do add_inputs(set, operand) end
end

-- Returns variables as a function of Lua reads them, of the expressions for each in order.
local function read_of(list, values)
    local read, at = {}, 0
    for _, entry in ipairs(list) do
        local is_vector = type(entry) == 'table'
        local count = is_vector and (entry.components or 2) or 1
        local n, t, b = unpack(values, at + 1, at + count)
        read[is_vector and entry.vector or entry] = is_vector and { n = n, t = t, b = b } or n
        at = at + count
    end
    return read
end

-- A state whose speeds are numbers may still be none: those of waves in a medium at rest depend on
-- nothing. Along all axes speeds tell of all components of a vector.
local function untold(desc, symbol, k)
    local q, members = record('q', desc.fields, symbol)
    local given = desc.primitive and trace.of(desc.primitive, q, k) or members
    if desc.primitive and given == members then return '' end
    local speeds = trace.of(desc.speed, read_of(desc.primitives, given), k)
    if not speeds then return '' end
    local set, terms, at = {}, {}, 0
    for _, node in ipairs(speeds) do add_inputs(set, node) end
    for _, entry in ipairs(desc.fields) do
        local first, is_told = at + 1, false
        at = at + (type(entry) == 'table' and (entry.components or 2) or 1)
        for n = first, at do is_told = is_told or set[members[n]] end
        for n = first, is_told and 0 or at do terms[#terms + 1] = members[n].text end
    end
    if #terms == 0 then return '' end
    return ('#define UNTOLD 1\nMR_FN real untold(cell q) {\n    real all = %s;\n'
        .. '    return all - all;\n}\n'):format(table.concat(terms, ' + '))
end

-- ---- sources ----

-- Returns add_rate() without the unknowns whose rate is 0.
local function add_rate(rates, fields)
    local lines = {}
    for k, name in ipairs(fields) do
        if rates[k] ~= 0 then
            lines[#lines + 1] = ('    q.%s = mr_fma(dt, rate.%s, q.%s);\n'):format(name, name, name)
        end
    end
    if #lines == #fields then return '' end
    return '#define OWN_ADD_RATE 1\nMR_FN cell add_rate(cell q, cell rate, real dt) {\n'
        .. table.concat(lines) .. '    return q;\n}\n'
end

local function source_over(rates, unknowns, fields, known, t)
    if not may_follow(rates) then return '' end
    local values, is_less = midpoint.of(unknowns, rates, known, t, leaf 'dt')
    if not is_less then return '' end
    local head = 'MR_FN cell source_over(cell q, spot at, real dt, parameters k)'
    return '#define OWN_SOURCE 1\n' .. text_of(head, { 'q', 'at', 'dt', 'k', 'to' }, fields, values,
        function(w, texts)
            w:line('cell to = { %s };\n    return to;', table.concat(texts, ', '))
        end)
end

-- Returns the text of both, as far as the source can be followed. order: the number of the result
-- of each unknown; axes: what the source calls the components of vectors, in the order of kernels
local function of_source(desc, parameters, symbol, fields, order, axes)
    local q, unknowns = record('q', desc.fields, symbol, unpack(axes))
    local k, known = record('k', parameters, function(name) return name end, unpack(axes))
    local x, y, z, t = leaf 'at.x', leaf 'at.y', #axes == 3 and leaf 'at.z' or nil, leaf 'at.t'
    local results = trace.of(desc.source, q, unpack(z and { x, y, z, t, k } or { x, y, t, k }))
    local rates = {}
    if not results then return '' end
    for n, name in ipairs(fields) do rates[n] = results[order[name]] end
    for _, node in ipairs { x, y, t, z } do known[#known + 1] = node end
    return add_rate(rates, fields) .. source_over(rates, unknowns, fields, known, t)
end

function forms.of_source(...) return interpreted(of_source, ...) end

-- ---- sweeps ----

-- Returns the text of the first two, as far as the functions can be followed. desc: as of
-- mare.equations; parameters: names and { vector = name }; symbol: a function that gives the name
-- in kernels; fields and names: the members of unknowns and of primitives there
local function of(desc, parameters, symbol, fields, names)
    local w, members = record('w', desc.primitives, symbol)
    local k, uniform = record('k', parameters, function(name) return name end)
    local signals = outward(desc, w, k) .. untold(desc, symbol, k)
    local flux = trace.of(desc.flux, w, k)
    local unknowns = members
    if desc.conserved then unknowns = trace.of(desc.conserved, w, k) end
    if not flux or not unknowns or #flux ~= #unknowns then return signals end
    if not may_follow(flux, true) or not may_follow(unknowns) then return signals end
    local made = { variables = members, parameters = k, flux = flux, unknowns = unknowns,
        symbol = symbol, names = names, uniform = pairing(uniform, uniform) }
    return signals .. moved_faces(desc, made) .. carried(made, fields)
end

function forms.of(...) return interpreted(of, ...) end

return forms
