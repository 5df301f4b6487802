-- Lists of numbers outside a function which it reads with an index of its own: for a kernel they
-- are made at its beginning, as `local weights = { weights[1], weights[2], weights[3] }` would.

local lists = {}

lists.most = 64     -- elements of one

-- Returns what a name outside the function f, or a field t.a of such, is; else nil.
local function outside(node, f)
    if node.tag == 'name' then
        return node.symbol.kind == 'outer' and node.symbol.value(f) or nil
    end
    if node.tag ~= 'index' or node.key.tag ~= 'string' then return nil end
    local object = outside(node.object, f)
    if type(object) == 'table' then return object[node.key.value] end
end

-- Returns whether a value is a list of numbers and nothing else.
function lists.is(value)
    if type(value) ~= 'table' or getmetatable(value) then return false end
    local count = 0
    for _, one in pairs(value) do
        count = count + 1
        if type(one) ~= 'number' then return false end
    end
    return count > 0 and count == #value and count <= lists.most
end

local function path_of(node)
    return node.tag == 'name' and node.name or path_of(node.object) .. '.' .. node.key.value
end

-- Returns the statement that makes such a list of the kernel, and its variable.
local function declaration(object, count, line)
    local items = {}
    for k = 1, count do
        items[k] = { value = { tag = 'index', line = line, object = object,
            key = { tag = 'number', line = line, value = k, text = tostring(k) } } }
    end
    local name = path_of(object):gsub('%.', '_')
    local symbol = { name = name, kind = 'local', is_used = true }
    return { tag = 'local', line = line, names = { name }, symbols = { symbol },
        values = { { tag = 'table', line = line, items = items } } }, symbol
end

-- Brings in the lists of f that are read so. tree: of the function; looks: its nodes that look up
-- something with an index that is no constant; symbols: its variables, to which it adds
function lists.bring_in(f, tree, looks, symbols)
    local made = {}
    for _, node in ipairs(looks) do
        local value = outside(node.object, f)
        if lists.is(value) then
            local path = path_of(node.object)
            if not made[path] then
                local statement
                statement, made[path] = declaration(node.object, #value, tree.line or node.line)
                table.insert(tree.body, 1, statement)
                symbols[#symbols + 1] = made[path]
            end
            node.object = { tag = 'name', line = node.line, name = made[path].name,
                symbol = made[path] }
        end
    end
end

return lists
