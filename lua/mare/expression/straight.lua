-- Makes a fast function for an expression that was computed before, on arrays whose
-- elements lie one after another. It has no loops, so that LuaJIT compiles it into the
-- caller's loop. It is made when a structure is computed for the second time. Where
-- anything is not as it was then, the function gives up before it has done anything,
-- and evaluate.lua computes the expression in the general way.
--
-- Each structure is a node of a tree of structures, which begins with the operation and
-- branches by the structures of its operands. The structure of a leaf is that of its type.

local bound = require 'bindings.array'
local launches = require 'mare.expression.launches'
local memory = require 'mare.expression.memory'
local nodes = require 'mare.expression.nodes'

local straight = {}

local most_leaves, most_operations = 8, 12
local most_count = 2 ^ 31 - 2 ^ 12       -- as in evaluate.lua
local large = 2 ^ 16        -- a launch keeps no memory if its result has more bytes

-- ---- what there is in an expression ----

-- Adds the operations, leaves and numbers below a node to `found`, as texts that lead
-- to them, and gives up where an operation is computed by now. Returns false if there
-- is something else.
local function explore(node, name, found)
    for k = 1, 3 do
        local x, text = node[k], ('%s[%d]'):format(name, k)
        if type(x) == 'number' then
            table.insert(found.numbers, text)
        elseif x and x.op then
            local own = 'n' .. #found.operations + 1
            table.insert(found.operations, { name = own, text = text, parent = name, node = x })
            table.insert(found.lines, ('local %s = %s'):format(own, text))
            table.insert(found.lines, ('if %s.structure ~= structures[%d] then return end'):format(
                own, #found.operations))
            if not explore(x, own, found) then return false end
        elseif x then
            if not x.version then return false end
            local own = 'l' .. #found.leaves + 1
            table.insert(found.leaves, own)
            table.insert(found.lines, ('local %s = %s'):format(own, text))
        end
    end
    return #found.leaves <= most_leaves and #found.operations <= most_operations
end

-- ---- the text of the function ----

local function add(lines, format, ...)
    lines[#lines + 1] = format:format(...)
end

-- Writes lines that give up if an operation below is to be stored, or occurs twice.
local function write_checks(lines, found)
    for k, operation in ipairs(found.operations) do
        local name = operation.name
        add(lines, 'if %s.used_by and %s.used_by ~= %s then return end', name, name,
            operation.parent)
        for j = 1, k - 1 do
            if found.operations[j].node.structure == operation.node.structure then
                add(lines, 'if %s == %s then return end', name, found.operations[j].name)
            end
        end
    end
end

-- Writes the lines that find the key of the kernel, which tells which leaves are the same and
-- which are a single element. i1, i2, ... are the numbers of the arguments.
local function write_key(lines, count)
    add(lines, 'local last, key = 0, 0')
    for k = 1, count do
        local branches = {}
        for j = 1, k - 1 do
            branches[j] = ('%s l%d == l%d then i%d = i%d'):format(j == 1 and 'if' or 'elseif', k, j,
                k, j)
        end
        add(lines, 'local i%d', k)
        if k == 1 then
            add(lines, 'last, i1 = 1, 1')
        else
            add(lines, '%s else last = last + 1; i%d = last end', table.concat(branches, ' '), k)
        end
        add(lines, 'key = key * 8 + i%d - 1', k)
    end
    for k = 1, count do
        add(lines, 'if l%d.shape ~= shape then', k)
        add(lines, '    if l%d.shape.count ~= 1 or l%d.offset ~= 0 then return end', k, k)
        add(lines, '    key = key + %.0f', 2 ^ (24 + k))
        add(lines, 'elseif l%d.strides or l%d.offset ~= 0 then return end', k, k)
    end
end

local head = [[
local structures, kernels, new, set_memory, set_number, set_count, queue, let_go = ...
return function(root)
local shape, device = root.shape, root.device
local count = shape.count
if count == 0 or count > %.0f then return end]]

local function write(found)
    local lines = { head:format(most_count) }
    for _, line in ipairs(found.lines) do lines[#lines + 1] = line end
    write_checks(lines, found)
    write_key(lines, #found.leaves)
    add(lines, 'local kept = kernels[device]')
    add(lines, 'local kernel = kept and kept[key]')
    add(lines, 'if not kernel then return nil, key end')
    for _, operation in ipairs(found.operations) do
        local name = operation.name
        add(lines, '%s.used, %s.used_by = 1, %s', name, name, operation.parent)
    end
    add(lines, 'local version, handle = new(device, root.type, count), kernel.handle')
    add(lines, 'set_memory(handle, 0, version.cell)')
    for k = 1, #found.leaves do add(lines, 'set_memory(handle, i%d, l%d.version.cell)', k, k) end
    if #found.numbers > 0 then add(lines, 'local at = kernel.numbers_at') end
    for k, text in ipairs(found.numbers) do
        add(lines, 'set_number(handle, at + %d, %s)', k - 1, text)
    end
    add(lines, 'if kernel.n ~= count then set_count(kernel, count) end')
    add(lines, 'queue(kernel)')
    add(lines, 'if version.bytes > %d then let_go(kernel, device, last) end', large)
    add(lines, 'return version')
    add(lines, 'end')
    return table.concat(lines, '\n')
end

-- ---- keeping no memory ----

local substitutes = setmetatable({}, { __mode = 'k' })

-- Makes a launch drop the memory of its arguments `first` (0) to `last`, which it would keep
-- until it is used again: 16 bytes without a type take their place. One that is recorded keeps it.
function straight.let_go(kernel, device, last, first)
    if kernel.is_recorded then return end
    local cell = substitutes[device]
    if not cell then
        cell = bound.lone(device, 'bytes', 16)
        substitutes[device] = cell
    end
    for at = first or 0, last do bound.set_memory(kernel.handle, at, cell) end
end

-- ---- use ----

-- Makes structure.straight for the structure of a pending node. It is false if there
-- can be no such function, else function(root): this returns the version with the
-- result, or nothing if it gives up, or nil and the key of a kernel that is still
-- missing, for straight.remember.
function straight.learn(node)
    local structure = node.structure
    if not nodes.is_fresh(node) then return end
    local found = { operations = {}, leaves = {}, numbers = {}, lines = {} }
    structure.straight = false
    if not explore(node, 'root', found) or #found.leaves == 0 then return end
    local structures, kernels = {}, setmetatable({}, launches.by_device)
    for k, operation in ipairs(found.operations) do structures[k] = operation.node.structure end
    structure.kernels = kernels
    structure.straight = assert(loadstring(write(found), '=straight'))(structures, kernels,
        memory.new, bound.set_memory, bound.set_number, launches.set_count, launches.queue,
        straight.let_go)
end

-- Keeps the flat kernel that belongs to a key on a device.
function straight.remember(structure, device, key, kernel)
    local kept = structure.kernels[device] or {}
    kept[key] = kernel
    structure.kernels[device] = kept
end

return straight
