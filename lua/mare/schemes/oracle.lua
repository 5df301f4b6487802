-- Compares an equation in Lua as it runs on a device with the same functions as plain Lua, on
-- random states, in double and strict maths: + - * / and sqrt have to agree to the bit.
--
--     print(mare.check(scheme).different)         -- or scheme:check { count = 1000, seed = 7 }

local bind = require 'mare.array.bind'
local device = require 'bindings.device'
local errors = require 'bindings.errors'
local lua_code = require 'mare.schemes.lua_code'
local random = require 'mare.base.random'
local tables = require 'bindings.tables'

local oracle = {}

local allowed = { count = 'number', seed = 'number', device = 'any' }

-- Returns `count` values for each member of a list: of scalars between 1/2 and 2, as densities are,
-- of vectors between -1 and 1; behind them x, y, t and z between 0 and 1.
local function draw(list, desc)
    local planes, drawn = {}, 0
    local function add(low, high)
        local plane = {}
        for i = 1, desc.count do
            drawn = drawn + 1
            plane[i] = low + (high - low) * random.uniform(desc.seed, drawn)
        end
        planes[#planes + 1] = plane
    end
    for _, entry in ipairs(list) do
        for _ = 1, type(entry) == 'table' and (entry.components or 2) or 0 do add(-1, 1) end
        if type(entry) ~= 'table' then add(0.5, 2) end
    end
    for _ = 1, 4 do add(0, 1) end
    return planes
end

local function add_all(list, ...)
    for k = 1, select('#', ...) do list[#list + 1] = (select(k, ...)) end
end

-- Returns what plain Lua gives for state i, in the order of oracle.krn but for the source, whose
-- vectors begin with x.
local function by_lua(scheme, planes, i)
    local f, of = scheme.functions, scheme.equation
    local own, result = {}, {}
    for k, plane in ipairs(planes) do own[k] = plane[i] end
    local p = lua_code.parameter_values(of.parameters, scheme.numbers)
    local w, unknowns = lua_code.values_of(of.given, unpack(own)), own
    if f.conserved then unknowns = { f.conserved(w, p) } end
    local count = #of.fields
    add_all(result, unpack(unknowns, 1, count))
    local q = lua_code.values_of(of.unknowns, unpack(unknowns))
    if f.primitive then
        add_all(result, f.primitive(q, p))
    else
        add_all(result, unpack(own, 1, count))
    end
    add_all(result, f.flux(w, p))
    add_all(result, f.speed(w, p))
    if f.source then
        local x, y, t, z = unpack(own, #planes - 3)
        q = lua_code.values_of(of.unknowns, unpack(unknowns))
        if of.dimensions == 3 then add_all(result, f.source(q, x, y, z, t, p))
        else add_all(result, f.source(q, x, y, t, p)) end
    end
    return result
end

-- Returns what the device gives, plane by plane.
local function by_device(scheme, on, planes, count)
    local of, flat = scheme.equation, {}
    for _, plane in ipairs(planes) do
        for i = 1, count do flat[#flat + 1] = plane[i] end
    end
    local results = 2 * #of.fields + #of.primitives + 2 + (scheme.has_source and #of.fields or 0)
    local from = on:buffer { type = 'double', count = #flat, label = 'states' }
    local out = on:buffer { type = 'double', count = results * count, label = 'results' }
    from:upload(flat)
    local program = of:program('traverse/oracle.krn', { has_source = scheme.has_source,
        math = 'strict', defines = tables.merged(scheme.defines,
            { MARE_REAL = 'double', W = 1, GROUP = 64 }) })
    local launch = bind(on:program(program):kernel 'oracle', tables.merged({ from = from, out = out,
        count = count }, of:values(scheme.numbers)), { global = count })
    launch:run()
    local list = out:totable()
    for _, one in ipairs { launch, from, out } do one:release() end
    return list, results
end

-- Returns for each plane of results the number that plain Lua gives: only where the source's
-- vectors lie across are the two not alike.
local function order_of(scheme, results)
    local order, at = {}, results - #scheme.fields
    for k = 1, results do order[k] = k end
    local is_turned = scheme.has_source and scheme.dimensions == 2
    local turned = is_turned and lua_code.turned_order(scheme.equation.unknowns) or {}
    for k, from in ipairs(turned) do order[at + k] = at + from end
    return order
end

local function apart(a, b)
    if type(b) ~= 'number' then
        errors.argument('mare.check: plain Lua gives %s where the kernel gives %g', tostring(b), a)
    end
    if a == b or a ~= a and b ~= b then return 0 end
    local found = math.abs(a - b) / math.max(math.abs(a), math.abs(b))
    return found == found and found or math.huge
end

-- Returns { compared, different = how many numbers are not the same, largest = the largest
-- relative difference }. desc: { count = states (256), seed (1), device = where they are computed }
function oracle.check(scheme, desc)
    if type(scheme) ~= 'table' or not (scheme.functions and scheme.functions.flux) then
        errors.argument('mare.check: a scheme of mare.equations is wanted')
    end
    errors.fields('mare.check', desc or {}, allowed)
    desc = tables.merged({ count = 256, seed = 1 }, desc)
    local on = type(desc.device) == 'table' and desc.device or device.open(desc.device)
    local planes = draw(scheme.equation.given, desc)
    local list, results = by_device(scheme, on, planes, desc.count)
    local order, found = order_of(scheme, results), { compared = 0, different = 0, largest = 0 }
    for i = 1, desc.count do
        local wanted = by_lua(scheme, planes, i)
        for k = 1, results do
            local off = apart(list[(k - 1) * desc.count + i], wanted[order[k]])
            found.compared = found.compared + 1
            found.largest = math.max(found.largest, off)
            if off > 0 then found.different = found.different + 1 end
        end
    end
    return found
end

return oracle
