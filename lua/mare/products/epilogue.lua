-- Epilogues of products: an expression of a product and of other arrays that Mare's kernel computes
-- where it stores the product. The expression has a leaf that stands for the product.

local source = require 'mare.base.source'
local text = require 'mare.expression.text'
local tree = require 'mare.expression.tree'
local types = require 'mare.expression.types'
local writer = require 'mare.dialect.writer'

local epilogue = {}

local most_leaves = 8

-- Adds the leaves and numbers of an expression to `found`, in the order of tree.of.
local function collect(node, found)
    found.seen[node] = true
    if not node.op then
        found.leaves[#found.leaves + 1] = node
        return
    end
    for k = 1, 3 do
        local x = node[k]
        if type(x) == 'number' then
            found.numbers[#found.numbers + 1] = x
        elseif x and not found.seen[x] then
            collect(x, found)
        end
    end
end

local function is_plain(type) return type ~= types.half and not type.complex end

-- Returns { node, leaves, numbers } of a pending expression with a leaf `product` that a kernel can
-- compute as it stores: of the product's type, of elements in memory. Else returns nil.
function epilogue.of(node, product)
    local found = { node = node, leaves = {}, numbers = {}, seen = {} }
    if not node.op or node.type ~= product.type or not is_plain(node.type) then return nil end
    collect(node, found)
    if #found.leaves > most_leaves or not found.seen[product] then return nil end
    for _, leaf in ipairs(found.leaves) do
        if not leaf.version or not is_plain(leaf.type) then return nil end
    end
    return found
end

-- Returns the element of leaf k at product z, row i and column j.
local function element_text(k)
    return ('e%d[e%d_0 + z * e%d_1 + i * e%d_2 + j * e%d_3]'):format(k, k, k, k, k)
end

-- Returns the declarations of what the kernel is given, and the arguments of `element`.
local function arguments_of(found, plan, product)
    local memories, numbers, places, values = {}, {}, {}, {}
    for k, leaf in ipairs(found.leaves) do
        values['x' .. k] = leaf == product and 'c' or element_text(k)
        if leaf ~= product then
            memories[#memories + 1] = ('const MR_GLOBAL %s *e%d'):format(leaf.type.stored, k)
            for d = 0, 3 do places[#places + 1] = ('mr_index e%d_%d'):format(k, d) end
        end
    end
    for _, number in ipairs(plan.numbers) do
        numbers[#numbers + 1] = ('%s %s'):format(tree.written(number.type), number.name)
    end
    local declared, given = {}, {}
    for _, list in ipairs { memories, numbers, places } do
        for _, one in ipairs(list) do declared[#declared + 1] = one end
    end
    for k, input in ipairs(plan.inputs) do given[k] = values[input.name] or input.name end
    return declared, given
end

-- Returns the text of products/multiply.krn with the epilogue.
function epilogue.text(found, product)
    local plan, w = tree.of { found.node }, writer.new()
    local declared, given = arguments_of(found, plan, product)
    local names = {}
    for k, one in ipairs(declared) do names[k] = one:match '[%w_]+$' end
    local more = declared[1] and ', ' .. table.concat(declared, ', ') or ''
    text.write_function(w, plan)
    given[#given + 1] = '&y'
    w:open(('MR_FN VALUE finish(VALUE c, mr_index z, mr_index i, mr_index j%s)'):format(more))
    w:line('%s y;', tree.written(plan.types[1]))
    w:line('element(%s);', table.concat(given, ', '))
    w:line 'return (VALUE)y;'
    w:close()
    w:line('#define GIVEN %s', names[1] and ', ' .. table.concat(names, ', ') or '')
    w:line '#define FINISH(x, z, i, j) finish(x, z, i, j GIVEN)'
    local pieces = { ['/* epilogue */'] = w:text(), ['/* arguments */'] = more }
    return (source.read('products/multiply.krn'):gsub('/%* %a+ %*/', pieces))
end

return epilogue
