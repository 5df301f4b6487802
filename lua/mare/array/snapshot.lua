-- Says how variables of a simulation, unknown or derived, become planes of its
-- fields. They are gathered into host memory (gather.lua), or stay on the devices
-- for other kernels (samples.lua).

local derive = require 'mare.array.derive'
local samples = require 'mare.array.samples'
local variables = require 'mare.base.variables'

local snapshot = {}

local function program(sim)
    local defines = sim.domain and sim.domain:defines() or {}
    defines.MARE_REAL = sim.precision
    return derive.program(sim.scheme, defines)
end

-- Returns the variables of these names as planes. They share one program.
local function planes_of(sim, names)
    local list, derived, reach = {}, nil, nil
    for n, name in ipairs(names) do
        list[n] = { name = name, field = name }
        if variables.is_derived(sim, (variables.find(sim.scheme, name))) then
            if not derived then derived, reach = program(sim) end
            list[n] = { name = name, program = derived, kernel = derive.kernel(name),
                stencil = reach[name] > 0, values = function(piece)
                    return sim.scheme:derive_values(sim.grid, piece.state)
                end }
        end
    end
    return list
end

-- Begins to compile what shows variables of these names on a device.
function snapshot.prepare(sim, device, names)
    for _, plane in ipairs(planes_of(sim, names)) do
        device:prepare(plane.program or samples.program(sim.precision))
    end
end

-- Returns what brings variables to the host. desc: { variables = { names }, and
-- cells, points, slots and everywhere as for gather.lua }
function snapshot.new(sim, desc)
    return sim.fields:gather { planes = planes_of(sim, desc.variables), cells = desc.cells,
        points = desc.points, slots = desc.slots, everywhere = desc.everywhere }
end

-- Returns samples of variables in all cells.
function snapshot.samples(sim, names)
    return samples.new(sim.fields, { planes = planes_of(sim, names), label = 'output' })
end

return snapshot
