-- Sums of products of expressions (dialect/nodes.lua): they are multiplied out as far as one factor
-- has one term, so that what is there twice with opposite signs is gone, and written again with few
-- operations. A polynomial is { [key] = { c = number, e = { [number of an atom] = power } } }; an
-- atom is an input, or an operation that is taken as it is: a root, a product of sums.

local derivative = require 'mare.algebra.derivative'
local maths = require 'mare.dialect.maths'
local nodes = require 'mare.dialect.nodes'

local polynomial = {}

local times = derivative.times

local Room = {}
Room.__index = Room

-- Returns a room for polynomials of the same atoms. uniform: the inputs that are the same for all
-- cells, as keys of a table; sums of those alone are atoms, and products coefficients or, where it
-- `is_flat`, factors as others are, numbers too
function polynomial.room(uniform, is_flat)
    return setmetatable({ numbers = {}, atoms = {}, uniform = uniform, of = {}, is_alike = {},
        is_flat = is_flat }, Room)
end

-- ---- atoms ----

-- Returns the number of an atom, which says in which order they are written.
local function number_of(self, node)
    if not self.numbers[node] then
        self.atoms[#self.atoms + 1] = node
        self.numbers[node] = #self.atoms
    end
    return self.numbers[node]
end

-- Whether an expression is the same for all cells.
local function is_alike(self, node)
    if node.kind == 'number' then return true end
    if node.kind == 'input' then return self.uniform[node] or false end
    if self.is_alike[node] == nil then
        local all = true
        for _, operand in ipairs(node) do all = all and is_alike(self, operand) end
        self.is_alike[node] = all
    end
    return self.is_alike[node]
end

local function sorted(e)
    local list = {}
    for k in pairs(e) do list[#list + 1] = k end
    table.sort(list)
    return list
end

local function key_of(e)
    local list = sorted(e)
    for k, atom in ipairs(list) do list[k] = atom .. '^' .. e[atom] end
    return table.concat(list, ' ')
end

-- ---- polynomials ----

local function add_term(p, e, c)
    local key = key_of(e)
    local sum = c + (p[key] and p[key].c or 0)
    p[key] = sum ~= 0 and { c = sum, e = e } or nil
end

local function constant(c)
    local p = {}
    add_term(p, {}, c)
    return p
end

local function single(self, node, exponent)
    local p = {}
    add_term(p, { [number_of(self, node)] = exponent or 1 }, 1)
    return p
end

-- Returns the only term of a polynomial, or nil.
local function only(p)
    local key, term = next(p)
    return key and not next(p, key) and term or nil
end

-- Returns the keys in an order that is the same each time.
local function keys(p)
    local list = {}
    for key in pairs(p) do list[#list + 1] = key end
    table.sort(list)
    return list
end

-- Returns p + s q.
function polynomial.sum(p, q, s)
    local r = {}
    for key, term in pairs(p) do r[key] = term end
    for key, term in pairs(q) do
        local sum = s * term.c + (r[key] and r[key].c or 0)
        r[key] = sum ~= 0 and { c = sum, e = term.e } or nil
    end
    return r
end

-- Returns p times a term to the power of +1 or -1.
local function scaled(p, term, power)
    local r = {}
    for _, one in pairs(p) do
        local e = {}
        for k, n in pairs(one.e) do e[k] = n end
        for k, n in pairs(term.e) do
            local sum = (e[k] or 0) + power * n
            e[k] = sum ~= 0 and sum or nil
        end
        add_term(r, e, power > 0 and one.c * term.c or one.c / term.c)
    end
    return r
end

-- Returns the product of p and a polynomial q of one term.
function polynomial.product(p, q) return scaled(p, only(q), 1) end

local expand = {
    ['+'] = function(self, node) return polynomial.sum(self:expand(node[1]), self:expand(node[2]),
        1) end,
    ['-'] = function(self, node) return polynomial.sum(self:expand(node[1]), self:expand(node[2]),
        -1) end,
    negative = function(self, node) return polynomial.sum({}, self:expand(node[1]), -1) end,
    ['*'] = function(self, node)
        local p, q = self:expand(node[1]), self:expand(node[2])
        if not next(p) or not next(q) then return {} end
        if only(q) then return scaled(p, only(q), 1) end
        if only(p) then return scaled(q, only(p), 1) end
        return single(self, node)
    end,
    ['/'] = function(self, node)
        local p, q = self:expand(node[1]), self:expand(node[2])
        if only(q) then return scaled(p, only(q), -1) end
        return scaled(p, only(single(self, node[2])), -1)
    end,
    rcp = function(self, node)
        local p = self:expand(node[1])
        return scaled(constant(1), only(p) or only(single(self, node[1])), -1)
    end,
}

local function of_number(self, c)
    local size = math.abs(c)
    if not self.is_flat or c == 0 or math.frexp(size) == 0.5 then return constant(c) end
    return polynomial.sum({}, single(self, nodes.wrap(size)), c / size)
end

local most_terms = 2000         -- of one polynomial: a loop of sums of products has no end of them

local function has_too_many(p)
    local count = 0
    for _ in pairs(p) do count = count + 1 end
    return count > most_terms
end

-- Returns the polynomial of an expression or a number; any, once one was too long.
function Room:expand(node)
    if type(node) == 'number' then return of_number(self, node) end
    if node.kind == 'number' then return of_number(self, node.value) end
    if not self.of[node] then
        local rule = node.op and expand[node.op.name]
        local is_sum = node.op and (node.op.name == '+' or node.op.name == '-')
        if is_sum and is_alike(self, node) then rule = nil end
        if self.is_too_long then return {} end
        self.of[node] = rule and rule(self, node) or single(self, node)
        self.is_too_long = self.is_too_long or has_too_many(self.of[node])
    end
    return self.of[node]
end

-- Lets a difference be an atom, and what becomes of it that plus what its operands have gained:
-- what is equal still cancels to the bit.
function Room:keep(node, later)
    if is_alike(self, node) then return end
    local gained = polynomial.sum(self:expand(later), self:expand(node), -1)
    self.of[node] = single(self, node)
    self.of[later] = polynomial.sum(self.of[node], gained, 1)
end

function polynomial.size(p)
    local count = 0
    for _, term in pairs(p) do
        count = count + 1
        for _, n in pairs(term.e) do count = count + math.abs(n) end
    end
    return count
end

local most_factors = 900        -- of all terms: beyond that there is little to gain

-- Returns the polynomials of expressions, or nil if they are too long.
function Room:expanded(list)
    local result, size = {}, 0
    for k, node in ipairs(list) do
        result[k] = self:expand(node)
        size = size + polynomial.size(result[k])
    end
    return size <= most_factors and not self.is_too_long and result or nil
end

-- Whether a polynomial has a term of this atom alone times `other`.
function Room:has(p, node, other)
    local term = p[key_of { [number_of(self, node)] = 1, [number_of(self, other)] = 1 }]
    return term and term.c == 1 or false
end

-- How many factors of a term are in a set of atoms.
local function count_in(set, term)
    local count = 0
    for k, n in pairs(term.e) do if set[k] then count = count + n end end
    return count
end

-- Adds atoms to the set until each term from number k on has just one factor in it. Returns whether
-- it can be done.
local function cover(self, terms, k, set)
    local term = terms[k]
    if not term then return true end
    local count = count_in(set, term)
    if count > 0 then return count == 1 and cover(self, terms, k + 1, set) end
    for _, atom in ipairs(sorted(term.e)) do
        local fits = term.e[atom] == 1 and not is_alike(self, self.atoms[atom])
        set[atom] = fits or nil
        for n = 1, k - 1 do fits = fits and count_in(set, terms[n]) == 1 end
        if fits and cover(self, terms, k + 1, set) then return true end
        set[atom] = nil
    end
    return false
end

-- Returns the products of polynomials and an expression, as a factor of those atoms of which each
-- term has one; nil if there are none such, or more than `most`.
function Room:times_atoms(list, node, most)
    local terms, set, result = {}, {}, {}
    for _, p in ipairs(list) do
        for _, key in ipairs(keys(p)) do terms[#terms + 1] = p[key] end
    end
    if not cover(self, terms, 1, set) or #sorted(set) > most then return nil end
    for n, p in ipairs(list) do
        result[n] = {}
        for _, term in pairs(p) do
            local e = {}
            for k, power in pairs(term.e) do
                e[set[k] and number_of(self, node * self.atoms[k]) or k] = power
            end
            add_term(result[n], e, term.c)
        end
    end
    return result
end

-- ---- back to expressions ----

-- A term on its way back is { sign, coefficient = expression or number from 0 on, factors = list }.

-- Returns the terms of a polynomial, of which those with the same factors are one.
local function terms_of(self, p)
    local found, list = {}, {}
    for _, key in ipairs(keys(p)) do
        local term = p[key]
        local scale, e = math.abs(term.c), {}
        for _, k in ipairs(sorted(term.e)) do
            local atom, n = self.atoms[k], term.e[k]
            if is_alike(self, atom) and not self.is_flat then
                for _ = 1, math.abs(n) do
                    scale = times(scale, n > 0 and atom or maths.rcp(atom))
                end
            else
                e[k] = n
            end
        end
        local own = key_of(e)
        if term.c < 0 and found[own] then scale = -scale end
        if found[own] then
            local one = found[own]
            one.coefficient = times(one.sign, one.coefficient) + scale
            one.sign = 1
        else
            found[own] = { sign = term.c < 0 and -1 or 1, coefficient = scale, e = e }
            list[#list + 1] = found[own]
        end
    end
    for _, one in ipairs(list) do
        one.factors = {}
        for _, k in ipairs(sorted(one.e)) do
            local node = one.e[k] > 0 and self.atoms[k] or maths.rcp(self.atoms[k])
            for _ = 1, math.abs(one.e[k]) do one.factors[#one.factors + 1] = node end
        end
    end
    return list
end

-- Counts in how many terms something is; each(term, note) notes keys and values. Returns the values
-- of the most frequent, if it is there twice: several where as many terms have another.
local function most_frequent(lists, each)
    local count, order, best = {}, {}, {}
    for _, terms in ipairs(lists) do
        for _, term in ipairs(terms) do
            local seen = {}
            each(term, function(key, value)
                if seen[key] then return end
                seen[key] = true
                if not count[key] then order[#order + 1] = { key = key, value = value } end
                count[key] = (count[key] or 0) + 1
            end)
        end
    end
    local most = 2
    for _, one in ipairs(order) do
        if count[one.key] > most then best, most = {}, count[one.key] end
        if count[one.key] == most then best[#best + 1] = one.value end
    end
    return best
end

local function without(list, node)
    local rest, is_gone = {}, false
    for _, one in ipairs(list) do
        if not is_gone and rawequal(one, node) then
            is_gone = true
        else
            rest[#rest + 1] = one
        end
    end
    return rest, is_gone
end

-- Replaces pairs of factors that several terms have by their product.
local function join_pairs(self, lists)
    while true do
        local pair = most_frequent(lists, function(term, note)
            for i = 1, #term.factors do
                for k = i + 1, #term.factors do
                    local a, b = term.factors[i], term.factors[k]
                    if number_of(self, b) < number_of(self, a) then a, b = b, a end
                    note(number_of(self, a) .. ' ' .. number_of(self, b), { a, b })
                end
            end
        end)[1]
        if not pair then return end
        local product = pair[1] * pair[2]
        for _, terms in ipairs(lists) do
            for _, term in ipairs(terms) do
                repeat
                    local rest, has_first = without(term.factors, pair[1])
                    local others, has_second = without(rest, pair[2])
                    if has_first and has_second then
                        others[#others + 1] = product
                        term.factors = others
                    end
                until not (has_first and has_second)
            end
        end
    end
end

local function is_one(x) return type(x) == 'number' and x == 1 end

-- Returns the product of a term but for its sign, in two parts, of which the second may be nil.
local function parts_of(term)
    local list = {}
    if not is_one(term.coefficient) then list[1] = term.coefficient end
    for _, factor in ipairs(term.factors) do list[#list + 1] = factor end
    if #list == 0 then return 1 end
    local product = list[1]
    for k = 2, #list - 1 do product = product * list[k] end
    return product, #list > 1 and list[#list] or nil
end

-- Returns the sum of terms: those that are no products first, then one operation a product.
local function chain(terms)
    local ordered = {}
    for turn = 1, 2 do
        for _, term in ipairs(terms) do
            local _, second = parts_of(term)
            if (second == nil) == (turn == 1) then ordered[#ordered + 1] = term end
        end
    end
    local sum
    for _, term in ipairs(ordered) do
        local a, b = parts_of(term)
        if not sum then
            sum = b and a * b or a
            if term.sign < 0 then sum = -sum end
        elseif b then
            sum = maths.fma(term.sign < 0 and -a or a, b, sum)
        else
            sum = term.sign < 0 and sum - a or sum + a
        end
    end
    return sum or 0
end

local total

-- Returns terms with what `split(term)` leaves of some of them as one: factor times their sum.
local function collected(self, terms, split, joined)
    local rest, inner = {}, {}
    for _, term in ipairs(terms) do
        local left = split(term)
        if left then inner[#inner + 1] = left else rest[#rest + 1] = term end
    end
    rest[#rest + 1] = joined(total(self, inner))
    return rest
end

-- Returns the sum of terms with a coefficient that several have taken out.
local function total_of_scaled(self, terms)
    local scale = most_frequent({ terms }, function(term, note)
        local c = term.coefficient
        if #term.factors > 0 and not is_one(c) then
            note(type(c) == 'number' and 'c' .. c or number_of(self, c), c)
        end
    end)[1]
    if not scale then return chain(terms) end
    return chain(collected(self, terms, function(term)
        return rawequal(term.coefficient, scale) and #term.factors > 0
            and { sign = term.sign, coefficient = 1, factors = term.factors }
    end, function(sum) return { sign = 1, coefficient = scale, factors = { sum } } end))
end

local function without_factor(self, terms, factor)
    return collected(self, terms, function(term)
        local factors, has = without(term.factors, factor)
        return has and { sign = term.sign, coefficient = term.coefficient, factors = factors }
    end, function(sum) return { sign = 1, coefficient = 1, factors = { factor, sum } } end)
end

-- How many operations an expression takes that are not the same for all cells.
local function cost(self, node, seen)
    if type(node) == 'number' or seen[node] or is_alike(self, node) then return 0 end
    seen[node] = true
    local sum = node.kind == 'operation' and 1 or 0
    for _, operand in ipairs(node) do sum = sum + cost(self, operand, seen) end
    return sum
end

-- Returns how many operations expressions take, of which none is computed twice.
function Room:cost(list)
    local sum, seen = 0, {}
    for _, node in ipairs(list) do sum = sum + cost(self, node, seen) end
    return sum
end

local few_terms = 6         -- with no more, all factors are tried that come next

-- Returns the sum of terms, of which a factor or a coefficient that several have is taken out.
function total(self, terms)
    local factors = most_frequent({ terms }, function(term, note)
        for _, one in ipairs(term.factors) do note(number_of(self, one), one) end
    end)
    if #factors == 0 then return total_of_scaled(self, terms) end
    local best, least
    if #terms <= few_terms then
        best = total_of_scaled(self, terms)
        least = cost(self, best, {})
    end
    for k = 1, #terms <= few_terms and #factors or 1 do
        local sum = total(self, without_factor(self, terms, factors[k]))
        local own = cost(self, sum, {})
        if not least or own < least or self.is_flat and own == least then
            best, least = sum, own
        end
    end
    return best
end

-- Returns the expressions of polynomials.
function Room:expressions(list)
    local lists, result = {}, {}
    for k, p in ipairs(list) do lists[k] = terms_of(self, p) end
    join_pairs(self, lists)
    for k, terms in ipairs(lists) do result[k] = total(self, terms) end
    return result
end

-- ---- one from the other ----

-- Returns the term by which q has to be multiplied for one term to become another, or nil.
local function quotient(term, by)
    local e = {}
    for k, n in pairs(term.e) do e[k] = n end
    for k, n in pairs(by.e) do
        e[k] = (e[k] or 0) - n
        if e[k] < 0 then return nil end
        if e[k] == 0 then e[k] = nil end
    end
    return { c = term.c / by.c, e = e }
end

-- Returns p with a multiple of q, of which `node` is the expression, in place of some of its terms:
-- that which leaves least of p. nil if that is no less.
local function by_means_of(self, p, q, node)
    local best, least = nil, polynomial.size(p)
    for _, key in ipairs(keys(p)) do
        for _, own in ipairs(keys(q)) do
            local factor = quotient(p[key], q[own])
            if factor and next(factor.e) then
                local rest = polynomial.sum(p, scaled(q, factor, 1), -1)
                rest = polynomial.sum(rest, scaled(single(self, node), factor, 1), 1)
                if polynomial.size(rest) < least then
                    best, least = rest, polynomial.size(rest)
                end
            end
        end
    end
    return best
end

-- Returns the power of two that most terms of p have as a factor.
local function common_scale(p)
    local count, scale, most = {}, 1, 1
    for _, key in ipairs(keys(p)) do
        local c = math.abs(p[key].c)
        count[c] = (count[c] or 0) + 1
        if count[c] > most and math.frexp(c) == 0.5 then scale, most = c, count[c] end
    end
    return scale
end

-- Returns the expressions of polynomials, each by means of those with less terms, and the number
-- by which each has still to be multiplied.
function Room:chained(list)
    local order, done, values, scales = {}, {}, {}, {}
    for k in ipairs(list) do order[k] = k end
    table.sort(order, function(a, b)
        local p, q = polynomial.size(list[a]), polynomial.size(list[b])
        return p < q or p == q and a < b
    end)
    for _, k in ipairs(order) do
        local p = list[k]
        scales[k] = common_scale(p)
        p = scaled(p, { c = 1 / scales[k], e = {} }, 1)
        local own, left = p, p
        while left do
            p, left = left, nil
            for _, one in ipairs(done) do
                local rest = by_means_of(self, p, one.p, one.node)
                if rest and (not left or polynomial.size(rest) < polynomial.size(left)) then
                    left = rest
                end
            end
        end
        values[k] = self:expressions { p }[1]
        done[#done + 1] = { p = own, node = values[k] }
    end
    return values, scales
end

return polynomial
