-- energy.lua - the energy of a step of a scheme, several times, so that the spread is seen.
--     mare bench energy [DEVICE] [SCHEME] [N] [TIMES]
-- SCHEME: a name of `mare bench solvers`, euler_hll; N: cells along each side, 4096; TIMES: 5,
-- of 2 s each. Energy is above rest; low and high are the ends of its interval.

local cases = require 'tests.bench.cases'
local check_kind = require('mare.array.devices').check_kind
local devices = require 'bindings.device'
local energy = require 'mare.measure.energy'
local errors = require 'bindings.errors'
local record = require 'tests.bench.record'
local simulation = require 'mare.run.simulation'
local tables = require 'bindings.tables'

local device = devices.open(arg[1])
check_kind(device, 'energy')
local name = arg[2] or 'euler_hll'
local case = rawget(cases, name)
if type(case) ~= 'table' or not case.scheme then
    errors.usage("energy: SCHEME: '%s' (allowed: %s)", name,
        table.concat(tables.column(cases.list, 'name'), ', '))
end
local n = tonumber(arg[3]) or record.few(device.info.kind == 'gpu' and 4096 or 256, 16)
local meter, reason = energy.open(device)
if not meter then
    print('energy: ' .. reason)
    return
end

local desc = cases.make(case, n, 'float')
desc.devices = { device }
local sim = simulation.new(desc)
sim:aim(math.huge)
sim:step(2)
local begin, stop = device:event(), device:event()
begin:record()
sim:step(16)
stop:record()
local steps = 2 * math.max(1, math.min(200, math.ceil(5 / (begin:elapsed_ms(stop) / 16) / 2)))

local last
local function run()
    sim:step(steps)
    local event = device:event()
    event:record()
    if last then last:wait() end
    last = event
end

for k = 1, tonumber(arg[4]) or 5 do
    local found, why = meter:measure { run = run, units = steps, seconds = 2 }
    if not found then error('energy: ' .. why, 0) end
    record.write(device, { benchmark = 'energy', scheme = name, n = n, time = k,
        joules = found.joules, low = found.low, high = found.high, watts = found.power,
        idle_watts = found.idle, seconds = found.unit_seconds,
        cells_per_joule = n * n / found.joules },
        ('%-9s %s %d^2: %.4g J a step (%.4g to %.4g), %.1f W, %.1f at rest, %.1f Mcells/J'):format(
        device.name, name, n, found.joules, found.low, found.high, found.power, found.idle,
        n * n / found.joules / 1e6))
end
