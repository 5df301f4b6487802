-- Says how variables of a simulation, unknown or derived, become planes of its
-- fields. They are gathered into host memory (gather.lua), or stay on the devices
-- for other kernels (samples.lua).

local samples = require 'mare.array.samples'
local source = require 'mare.base.source'
local variables = require 'mare.base.variables'

local snapshot = {}

local function program(sim)
    local defines = sim.domain and sim.domain:defines() or {}
    defines.MARE_REAL = sim.precision
    return source.program(sim.scheme.derive, { defines = defines })
end

-- Returns the variables of these names as planes. They share one program.
local function planes_of(sim, names)
    local list, derive = {}, nil
    for n, name in ipairs(names) do
        local v = variables.find(sim.scheme, name)
        local kernel = variables.derivation(sim, v)
        if kernel then derive = derive or program(sim) end
        list[n] = kernel and { name = name, program = derive, kernel = kernel, stencil = v.ghosts,
            values = function(piece) return sim.scheme:derive_values(sim.grid, piece.state) end }
            or { name = name, field = name }
    end
    return list
end

-- Returns what brings variables to the host. desc: { variables = { names }, and
-- cells, points and slots as for gather.lua }
function snapshot.new(sim, desc)
    return sim.fields:gather { planes = planes_of(sim, desc.variables), cells = desc.cells,
        points = desc.points, slots = desc.slots }
end

-- Returns samples of variables in all cells.
function snapshot.samples(sim, names)
    return samples.new(sim.fields, { planes = planes_of(sim, names), label = 'output' })
end

return snapshot
