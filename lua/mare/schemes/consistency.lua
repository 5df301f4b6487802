-- Checks whether a flux is one of its equation: of two equal states it must be the physical flux of
-- that state. A flux that a user brings is tried on random states before it takes part in a step.

local bind = require 'mare.array.bind'
local choices = require 'mare.schemes.choices'
local errors = require 'bindings.errors'
local random = require 'mare.base.random'

local consistency = {}

local count, group = 256, 64
local tolerance = { float = 1e-4, double = 1e-6 }     -- of the largest in a state's flux

-- Returns random states from the equation's sample(), plane by plane.
local function states_of(scheme)
    local data, drawn = {}, 0
    local function draw(low, high)
        drawn = drawn + 1
        return low + (high - low) * random.uniform(19, drawn)
    end
    for i = 1, count do
        local cell = { scheme.equation.sample(scheme, draw) }
        for q = 1, #scheme.fields do data[(q - 1) * count + i] = cell[q] end
    end
    return data
end

-- Returns the numerical and the physical flux of all states.
local function fluxes_of(scheme, device, precision, program)
    local fields = #scheme.fields
    local function buffer(n) return device:buffer { type = precision, count = n } end
    local from, out = buffer(fields * count), buffer(2 * fields * count)
    from:upload(states_of(scheme))
    local values = scheme.equation:values(scheme.numbers)
    values.from, values.out, values.count = from, out, count
    local launch = bind(program:kernel 'consistency', values, { global = count, group = group })
    launch:run()
    local result = out:totable()
    launch:release()
    from:release()
    out:release()
    return result
end

-- Returns the first field and state where they differ: { field, numerical, physical }, or nil.
local function difference(fluxes, fields, precision)
    for i = 1, count do
        local largest = 0
        for q = 1, fields do
            largest = math.max(largest, math.abs(fluxes[(fields + q - 1) * count + i]))
        end
        for q = 1, fields do
            local got, wanted = fluxes[(q - 1) * count + i], fluxes[(fields + q - 1) * count + i]
            local off = math.abs(got - wanted)
            if off ~= off or off > tolerance[precision] * largest then
                return { field = q, numerical = got, physical = wanted }
            end
        end
    end
end

-- Says what is wrong with the flux of a scheme; returns nil if nothing is. load: of traversal.lua
function consistency.fault(scheme, device, precision, load)
    local program = load('traverse/consistency.krn', { W = 1, GROUP = group })
    local wrong = difference(fluxes_of(scheme, device, precision, program), #scheme.fields,
        precision)
    return wrong and ('of two equal states it gives %g for %s, where the physical flux is %g')
        :format(wrong.numerical, scheme.fields[wrong.field], wrong.physical)
end

-- Raises where the flux is a user's and not consistent.
function consistency.check(scheme, device, precision, load)
    if not choices.is_own(scheme.flux) or device.is_null then return end
    if not scheme.equation.sample then return end
    local fault = consistency.fault(scheme, device, precision, load)
    if fault then
        errors.argument('%s: flux %s is not consistent: %s', scheme.name, scheme.flux, fault)
    end
end

return consistency
