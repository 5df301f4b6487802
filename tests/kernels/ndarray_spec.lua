-- Arrays on devices: what kernels compute is what the host computes on a null device, and the
-- kernels of all types compile for CUDA.

local device = require 'bindings.device'
local mare = require 'mare'
local part = require 'tests.kernels.part'

local null = device.open 'null'

-- Each entry: name, the error allowed, and a function of a device that returns an array.
local expressions = {
    { 'sums of flat arrays of any size', 0, function(on)
        local a = mare.arange(1003, { device = on }):float():eval()
        return mare.sqrt(a * a + 2 * a) / (1 + a) - a:copy():eval()
    end },
    { 'views that are repeated', 0, function(on)
        local a = mare.arange(120, { device = on }):reshape(4, 5, 6):double():eval()
        local b = a { {}, 2, { nil, nil, -1 } }:unsqueeze(1)
        return a:transpose(2, 1, 0) * 0.5 - b:transpose()
    end },
    { 'whole numbers of all widths', 0, function(on)
        local a = mare.arange(-300, 300, 7, { device = on }):eval()
        return (a:int8() * 5):int32() + a:uint8() % 7 - a:int16() % -5 + a:uint16()
            + mare.bit_xor(a, 21):int64() * 2 ^ 33 + mare.shift_right(a, 2)
    end },
    { 'truth values', 0, function(on)
        local a = mare.arange(77, { device = on }):float():eval()
        local even = (a % 2):eq(0):eval()
        return mare.where(mare.logical_and(even, a:gt(9)), a, -a):ne(3)
    end },
    { 'halves', 0, function(on)
        local a = mare.linspace(-3, 3, 61, { device = on, type = 'half' }):eval()
        return a * a * a - 1.1 * a
    end },
    { 'complex numbers', 0, function(on)
        local a = mare.arange(9, { device = on }):double():eval()
        local z = a:complex(2 - a):eval()
        return z * z - mare.conj(z) / (z + 7)
    end },
    { 'functions', 4e-7, function(on)
        local a = mare.linspace(0.1, 3, 100, { device = on }):eval()
        return mare.sin(a) * mare.exp(-a) + mare.atan2(a, 2) + mare.log1p(a) ^ 1.5 + mare.erf(a)
    end },
}

local function compare(a, b, allowed)
    assert.equal(b.type, a.type)
    assert.same(b.shape, a.shape)
    local x, y = a:flatten():totable(), b:flatten():totable()
    for k = 1, #y do
        if type(y[k]) == 'cdata' then
            assert.same({ y[k].re, y[k].im }, { x[k].re, x[k].im })
        elseif allowed == 0 then
            assert.equal(y[k], x[k])
        else
            assert.truthy(math.abs(x[k] - y[k]) <= allowed * math.max(1, math.abs(y[k])))
        end
    end
end

for _, d in ipairs(part.devices()) do
    for _, entry in ipairs(expressions) do
        local name, allowed, f = unpack(entry)
        if not d.is_null and d.info.has_double then
            it(('arrays compute %s on %s'):format(name, d.name), function()
                compare(f(d), f(null), allowed)
            end)
        end
    end
end

it('kernels of expressions compile for CUDA', function()
    for _, entry in ipairs(expressions) do
        local ok, message = pcall(device.check, 'cuda:sm_90',
            { source = entry[3](null):source(), name = entry[1], math = 'strict' })
        if not ok and tostring(message):find 'UNAVAILABLE' then pending(tostring(message)) end
        assert.truthy(ok, tostring(message))
    end
end)
