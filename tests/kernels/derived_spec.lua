-- The kernels of derived variables against their expressions: the same functions, run as plain Lua
-- on the same numbers.

local bind = require 'mare.array.bind'
local cells = require 'mare.dialect.cells'
local derive = require 'mare.array.derive'
local every = require 'tests.every_scheme'
local fails = require 'tests.fails'
local mare = require 'mare'
local part = require 'tests.kernels.part'
local sample = require 'tests.sample'
local tables = require 'bindings.tables'

local nx, ny, halo, pad = 9, 7, 2, 32
local stride = 64
local plane = stride * (ny + 2 * halo)

local function element(i, j) return (j + halo) * stride + pad + i end

math.randomseed(11)

local function between(low, high) return low + (high - low) * math.random() end

-- `count` planes: value(plane from 0)
local function planes(count, value)
    local list = {}
    for k = 0, count * plane + 4 * stride + 255 do
        list[k + 1] = value(math.floor(k / plane))
    end
    return list
end

-- The same of random states of a scheme.
local function states(scheme)
    local list, draw = {}, scheme.equation.sample
    assert.is_truthy(draw, scheme.name .. ' has derived variables, but no sample()')
    for n = 1, plane do
        local cell = { draw(scheme, between) }
        for k = 1, #scheme.fields do list[(k - 1) * plane + n] = cell[k] end
    end
    for k = #list + 1, #list + 4 * stride + 256 do list[k] = 0 end
    return list
end

-- ---- one set of numbers as the arguments of kernels, and as a cell and parameters of Lua ----

-- What of `numbers` a cell of Lua is in cell (i0, j0).
local function plain_cell(scheme, numbers, i0, j0)
    local fields = {}
    local function from(list, k)
        return function(i, j) return list[k * plane + element(i0 + i, j0 + j) + 1] end
    end
    for k, name in ipairs(scheme.fields) do fields[name] = from(numbers.src, k - 1) end
    if scheme.name == 'ocean' then
        local weight = (numbers.clock[1] - numbers.forcing_times[1])
            / (numbers.forcing_times[2] - numbers.forcing_times[1])
        local function force(kind)
            return function(i, j)
                local then_, later = from(numbers.forcing, kind)(i, j),
                    from(numbers.forcing, 3 + kind)(i, j)
                return then_ + weight * (later - then_)
            end
        end
        local function of_row(kind)
            return function(_, j) return numbers.grid_rows[kind * (ny + 4) + j0 + j + 3] end
        end
        fields.depth, fields.wind_x, fields.wind_y = from(numbers.bed, 0), force(0), force(1)
        fields.inv_dx, fields.curvature = of_row(0), of_row(5)
    end
    return cells.new(fields)
end

local function parameters(scheme, numbers)
    local list = {}
    for _, name in ipairs(scheme.derive.parameters) do list[name] = numbers[name] end
    for name, choice in pairs(scheme.derive.choices or {}) do list[name] = choice end
    return cells.names('parameter', list)
end

local defines = { MARE_REAL = 'double', METRIC = 1, FORCING = 2, CORIOLIS = 1 }

-- The arguments of kernels, in buffers.
local function arguments_of(device, numbers)
    local list = { origin = element(0, 0), south = 0, step = 1, stride = stride, plane = plane,
        first = 0, columns = nx, rows = ny,
        out = device:buffer { type = 'double', count = nx * ny } }
    for name, value in pairs(numbers) do
        list[name] = value
        if type(value) == 'table' then
            list[name] = device:buffer { type = 'double', count = #value }
            list[name]:upload(value)
        end
    end
    return list
end

local function run(kernel, values)
    bind(kernel, values, { global = { nx, ny } }):run()
    return values.out:totable()
end

local function check(device, scheme, numbers)
    local values = arguments_of(device, numbers)
    local program = device:program((derive.program(scheme, defines)))
    for _, variable in ipairs(scheme.variables) do
        local got = variable.value and run(program:kernel(derive.kernel(variable.name)), values)
        for k = 0, got and nx * ny - 1 or -1 do
            local q = plain_cell(scheme, numbers, k % nx, math.floor(k / nx))
            local wanted = variable.value(q, parameters(scheme, numbers))
            local place = ('%s of %s, cell %d'):format(variable.name, scheme.name, k)
            if wanted ~= wanted then
                assert.is_true(got[k + 1] ~= got[k + 1], place)
            else
                assert.near(wanted, got[k + 1], 1e-11 * (1 + math.abs(wanted)), place)
            end
        end
    end
end

for _, device in ipairs(part.devices()) do
    describe('derived variables on ' .. device.name, function()
        for _, scheme in ipairs(every.deriving()) do
            it('of ' .. scheme.name .. ' are what their expressions give in Lua', function()
                local numbers = scheme:derive_values { dx = 1 / 6, dy = 0.1 }
                numbers.src = states(scheme)
                check(device, scheme, numbers)
            end)
        end

        it('of flat water, dry cells too', function()
            check(device, mare.shallow_water {}, { depth = 1, g = 9.81,
                src = planes(3, function(k)
                    return k > 0 and between(-1, 1) or math.random() < 0.2 and 0 or between(1, 3)
                end) })
        end)

        local frictions = { linear = 'manning', nonlinear = 'quadratic', cdklm = 'linear',
            kurganov_petrova = false }
        for _, name in ipairs(sample(tables.keys(frictions), 2)) do
            local friction = frictions[name]
            it('of an ocean on faces or centres, land and dry cells too: ' .. name, function()
                local scheme = mare.ocean { scheme = name, depth = 1,
                    friction = friction and { kind = friction, coefficient = 0.1 } or nil }
                local rows = {}
                for k = 1, 7 * (ny + 4) do rows[k] = between(0.5, 1) end
                check(device, scheme, { g = 9.81, dry = 0.1, friction = friction and 0.1 or 0,
                    missing = -99, inv_dx = 7, inv_dy = 2, row_count = ny + 4, grid_rows = rows,
                    src = planes(3, function() return between(-1, 1) end),
                    bed = planes(1, function()
                        local kind = math.random()
                        return kind < 0.2 and -1e30 or kind < 0.3 and between(-1, 1)
                            or between(2, 9)
                    end),
                    forcing = planes(6, function() return between(-1, 1) end),
                    forcing_times = { 3, 8 }, clock = { 4, 0, 0, 0, 0, 0, 0, 0, 0, 0 } })
            end)
        end
    end)
end

describe('a derived variable', function()
    local function scheme(value)
        return { name = 'mine', halo = 2, fields = { 'a', 'b' }, derive = { parameters = { 'c' } },
            variables = { { name = 'a' }, { name = 'b' }, { name = 'd', value = value } } }
    end

    local function reach(value)
        local s = scheme(value)
        return (select(2, derive.expression(s, s.variables[3])))
    end

    it('tells how far its expression reads', function()
        assert.equal(0, reach(function(q, p) return q.a * p.c end))
        assert.equal(1, reach(function(q) return q:at(0, -1).a end))
        assert.equal(2, reach(function(q) return q:at(1, 0):at(1, 0).a - q:at(-1, 0).b end))
        fails(function() reach(function(q) return q:at(0, 3).a end) end, nil, "'d'", 'cell 3',
            'of 2', 'variable')
    end)

    it('has a kernel that asks for what it reads', function()
        local text = derive.source(scheme(function(q, p) return p.c * q:at(1, -1).b end))
        assert.truthy(text:find([[
/* d */
MR_KERNEL
void derive_d(const MR_GLOBAL real *src, mr_index origin, int step, int stride, mr_index plane,
    MR_GLOBAL real *out, mr_index first, int columns, int rows, real c) {
    int i = mr_gid_x(), j = mr_gid_y();
    if (i >= columns || j >= rows) return;
    mr_index at = sampled(origin, i, j, step, stride);
    out[first + (mr_index)j * columns + i] = c * src[plane + at - stride + 1];
}
]], 1, true), text)
        local constant = derive.source(scheme(function() return 1 end))
        assert.truthy(constant:find('void derive_d(MR_GLOBAL real *out, mr_index first, ', 1, true))
        assert.equal(text, derive.source(scheme(function(q, p) return p.c * q:at(1, -1).b end)))
    end)

    it('is refused by name where its expression is wrong', function()
        assert.error_matches(function() reach(function(q) return q.h end) end,
            "variable 'd': no field 'h' %(there are: a, b%)")
        assert.error_matches(function() reach(function(_, p) return p.g end) end,
            "variable 'd': no parameter 'g' %(there are: c%)")
        assert.error_matches(function() reach(function() end) end, "variable 'd': .* not nil")
        assert.error_matches(function() reach(function(q) return q.a > 0 and 1 or 0 end) end,
            "variable 'd': .*compared by lt")
    end)

    it('of an equation comes after its fields, and is refused with the equation', function()
        local function new(value, name)
            return mare.equation { name = 'decay', header = 'traverse/general',
                fields = { { name = 'c' } }, parameters = { { name = 'rate', default = 1 } },
                variables = { { name = name or 'loss', value = value } } }
        end
        local made = new(function(q, p) return p.rate * q.c end) {}
        assert.equal('c', made.variables[1].name)
        assert.equal('loss', made.variables[2].name)
        assert.equal(1, made:derive_values { dx = 0.5, dy = 0.25 }.gx)
        assert.equal(2, made:derive_values { dx = 0.5, dy = 0.25 }.gy)
        assert.truthy(derive.source(made):find('= rate * src[at];', 1, true))
        assert.error_matches(function() new(function(q) return q.d end) end,
            "variable 'loss': no field 'd' %(there are: c%)")
        assert.error_matches(function() new(function(_, p) return p.k end) end,
            "variable 'loss': no parameter 'k' %(there are: gx, gy, rate%)")
        fails(function() new(1) end, nil, 'function', 'number')
        assert.error_matches(function() new(nil, 'a b') end, "name = 'a b', must be letters")
    end)

    it('is named in the help of the option that writes it', function()
        local function help(list)
            for _, option in ipairs(list) do
                if option.name == 'variables' then return option.help end
            end
        end
        local all = { mare.euler {}, mare.shallow_water {}, mare.ocean { depth = 1 } }
        for _, one in ipairs(all) do
            local names, module = {}, mare[one.name]
            local is_unknown = tables.set(one.fields)
            for _, variable in ipairs(one.variables) do
                if variable.value and not is_unknown[variable.name] then
                    names[#names + 1] = variable.name
                end
            end
            assert.truthy(#names > 4)
            assert.equal('more for --out, of ' .. table.concat(names, ','), help(module.options))
        end
    end)
end)
