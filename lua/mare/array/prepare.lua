-- Begins to compile what the first steps of a simulation want, and then what its pictures want,
-- all side by side (device:prepare). Who then asks for a program gets the one that was begun.

local clock = require 'mare.array.clock'
local compiler = require 'bindings.compiler'
local exchange = require 'mare.array.exchange'
local frames = require 'mare.array.frames'

local prepare = {}

-- sim: a simulation with its fields, which has no kernels yet; shown: names of the variables that
-- pictures will show, or nil
function prepare.kernels(sim, shown)
    local scheme, precision = sim.scheme, sim.precision
    for _, device in ipairs(sim.fields.devices) do
        if scheme.prepare_kernels then
            scheme:prepare_kernels(device, precision, sim.domain,
                sim.fields:first_part(device), sim.maths, sim.levels)
        end
        clock.prepare(device, precision, scheme.gradual,
            sim.barrier and sim.barrier.way == 'words')
    end
    exchange.prepare(sim.fields)
    for _, device in ipairs(shown and sim.fields.devices or {}) do
        frames.prepare(sim, device, shown)
    end
end

-- Waits for the devices while the first steps run, for which drivers may compile.
function prepare.await(sim)
    for _, device in ipairs(sim.fields.devices) do compiler.await(device) end
end

return prepare
