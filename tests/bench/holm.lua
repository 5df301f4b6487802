-- holm.lua - the ladders of Holm, Brodtkorb and Saetra (2020), figures 4 to 6: their
-- high-resolution scheme from tiles that keep everything, and the others from three kernels, to
-- Mare's own.
--     mare bench holm [DEVICE] [SIZE] [--scheme NAME] [--energy] [--image FILE.png]
-- NAME: cdklm, linear or nonlinear. Every rung (holm_cdklm.lua, ...) computes the same
-- steps as the shipped kernel, ghost cells of a periodic plane over a bumpy bed included,
-- and is compared with it before it is timed. Gains are over the first rung, with their
-- standard error. --energy: watts of each rung and cells a joule above rest.

local bandwidth = require 'mare.measure.bandwidth'
local check_kind = require('mare.array.devices').check_kind
local devices = require 'bindings.device'
local energy = require 'mare.measure.energy'
local errors = require 'bindings.errors'
local grid = require 'mare.array.grid'
local image = require 'mare.draw.image'
local ocean = require 'mare.ocean'
local peers = require 'tests.bench.peer'
local profile = require 'mare.measure.profile'
local record = require 'tests.bench.record'
local simulation = require 'mare.run.simulation'

local schemes = { cdklm = require 'tests.bench.holm_cdklm',
    linear = require 'tests.bench.holm_linear',
    nonlinear = require 'tests.bench.holm_nonlinear' }

local blocks = { { 16, 16 }, { 32, 4 }, { 32, 8 }, { 32, 16 }, { 64, 4 }, { 16, 8 }, { 8, 8 },
    { 64, 8 }, { 32, 32 }, { 128, 2 } }
local most_bytes = 48 * 2 ^ 10          -- of local memory that a group has by itself
local steps_compared, bound = 4, 1e-3   -- of the largest elevation
local batches = record.few(9, 2)

-- ---- the shipped scheme ----

local side = 1e5        -- m

local function bump(x, y)
    x, y = 2 * x / side - 1, 2 * y / side - 1
    return (1 - x ^ 2) ^ 2 * (1 - y ^ 2) ^ 2, 0, 0
end

local function bed(x, y)
    return 60 + 20 * math.sin(2 * math.pi * x / side) * math.cos(2 * math.pi * y / side)
end

local function shipped(device, n, ladder)
    return simulation.new {
        grid = grid.new { nx = n, ny = n, x = { 0, side }, y = { 0, side } }, initial = bump,
        scheme = ocean.new { scheme = ladder.name, depth = bed, coriolis = ladder.coriolis },
        boundaries = 'periodic', options = { precision = 'float', cfl = 0.45 },
        devices = { device },
    }
end

-- Takes steps and returns what the rungs start from and must come to.
local function reference(device, n, ladder)
    local sim = shipped(device, n, ladder)
    local state = sim.states[1]
    local start = device:buffer { type = 'float', count = state.now.count, label = 'start' }
    start:copy(state.now)
    local steps, t = {}, 0
    sim:aim(math.huge)
    for k = 1, steps_compared do
        sim:step(1)
        local now = sim:read().t
        steps[k], t = now - t, now
    end
    return { sim = sim, state = state, start = start, steps = steps,
        last = state[state.present]:download() }
end

-- ---- a rung ----

-- Raises where the rung comes to something else than the shipped scheme. Returns the
-- largest difference of elevations.
local function compare(r, rung, launches)
    r.now:copy(r.start)
    launches.wrap:run()
    for k, dt in ipairs(r.steps) do
        launches.set_step(dt)
        for _, launch in ipairs(launches.steps[(k - 1) % #launches.steps + 1]) do launch:run() end
    end
    local layout, mine, theirs = r.state.layout, r.now:download(), r.last
    local most, worst, sum = 0, 0, 0
    for j = 0, layout.ny - 1, math.max(1, math.floor(layout.ny / 64)) do
        for i = 0, layout.nx - 1 do
            local at = (j + layout.halo) * layout.stride + layout.pad + i
            most = math.max(most, math.abs(theirs[at]))
            local apart = math.abs(mine[at] - theirs[at])
            worst, sum = math.max(worst, apart), sum + apart
        end
    end
    if sum ~= sum or worst > bound * most then
        error(("holm: '%s': elevations differ by %g of %g"):format(rung[1], worst, most), 0)
    end
    return worst / most
end

-- Seconds of a step, sorted, of as many batches, and the plan of two steps.
local function time(device, launches)
    local plan = device.stream:record(function()
        for _, other in ipairs(launches.streams or {}) do device.stream:join(other) end
        for k = 1, 2 do
            for _, launch in ipairs(launches.steps[(k - 1) % #launches.steps + 1]) do
                launch:run()
            end
        end
    end)
    local start, stop = device:event(), device:event()
    local function batch(count)
        start:record()
        plan:run(count)
        stop:record()
        return start:elapsed_ms(stop) / 1000 / count / 2
    end
    batch(1)
    local count = math.max(1, math.min(200, math.floor(record.few(0.03, 0) / batch(1) / 2)))
    local seconds = {}
    for k = 1, batches do seconds[k] = batch(count) end
    table.sort(seconds)
    return seconds, function() plan:run(count) end, 2 * count
end

local function occupancy(launches)
    return profile.new(function() launches.steps[1][1].run(launches.steps[1][1]) end)
        .rows[1].occupancy
end

local function measure(device, r, rung, block)
    local launches = r.ladder.launches(device, r, rung, block)
    local found = { rung = rung, block = block, registers = launches.info.registers,
        local_memory = launches.info.local_memory, difference = compare(r, rung, launches) }
    found.seconds, found.run, found.units = time(device, launches)
    found.occupancy = occupancy(launches)
    return found
end

local function fits(ladder, rung, block)
    return 4 * ladder.kept(rung) * (block[1] + 5) * (block[2] + 5) <= most_bytes
end

-- The fastest of all blocks that the device runs.
local function retune(device, r, rung)
    local best
    for _, block in ipairs(record.few(blocks, { blocks[7] })) do
        if fits(r.ladder, rung, block) and block[1] * block[2] <= device.info.max_group_size then
            local found = measure(device, r, rung, block)
            if not best or found.seconds[1] < best.seconds[1] then best = found end
        end
    end
    return best
end

-- The shipped kernel under the same clock, its step with its own clock and maxima.
local function measure_shipped(device, r)
    local sim = r.sim
    local start, stop = device:event(), device:event()
    local function batch(steps)
        start:record()
        sim:step(steps)
        stop:record()
        return start:elapsed_ms(stop) / 1000 / steps
    end
    batch(2)
    local steps = 16 * math.max(1, math.min(60, math.floor(record.few(0.03, 0) / batch(16) / 16)))
    local seconds = {}
    for k = 1, batches do seconds[k] = batch(record.few(steps, 2)) end
    table.sort(seconds)
    local row = profile.new(function() sim:step(1) end).rows[1]     -- of its kernels, the longest
    return { rung = { 'shipped' }, seconds = seconds, difference = 0, units = steps,
        registers = row.registers, local_memory = row.local_memory, occupancy = row.occupancy,
        block = { row.group[1], row.group[2] }, run = function() sim:step(steps) end }
end

-- ---- energy ----

-- Returns why nothing was measured, if so.
local function add_energy(device, meter, found, cells)
    local last
    local result, why = meter:measure { units = found.units * cells, seconds = 0.8, run = function()
        found.run()
        local event = device:event()
        event:record()
        if last then last:wait() end
        last = event
    end }
    if not result then return why end
    found.watts, found.cells_per_joule = result.power, 1 / result.joules
    device:wait()
end

-- ---- the table ----

local function report(device, n, ladder, found, first, copy)
    local cells, middle = n * n, record.median(found.seconds)
    local gain = record.median(first.seconds) / middle
    local doubt = gain * math.sqrt((peers.uncertainty(found.seconds) / middle) ^ 2
        + (peers.uncertainty(first.seconds) / record.median(first.seconds)) ^ 2)
    local rate, bytes = cells / middle, 4 * ladder.numbers_moved * cells
    local values = { benchmark = 'holm', scheme = ladder.name, rung = found.rung[1], n = n,
        cells_per_second = rate, gain = gain, gain_error = doubt, difference = found.difference,
        registers = found.registers, local_memory = found.local_memory,
        occupancy = found.occupancy, share_of_copy = copy and bytes / middle / copy,
        watts = found.watts, cells_per_joule = found.cells_per_joule,
        block = found.block and table.concat(found.block, 'x') }
    local function known(value, format)
        return value and value ~= 0 and format:format(value) or '-'
    end
    record.write(device, values, ('%-32s %8s %9.4g %7.2f +- %-5.2f %6s %9s %9s %7s %8s %10s %9.1e')
        :format(found.rung[1], values.block or '-', rate / 1e6, gain, doubt,
        known(values.share_of_copy and 100 * values.share_of_copy, '%.1f'),
        known(found.registers, '%d'), known(found.local_memory, '%d'),
        known(found.occupancy and 100 * found.occupancy, '%.0f'), known(found.watts, '%.0f'),
        known(found.cells_per_joule and found.cells_per_joule / 1e6, '%.1f'), found.difference))
    return { name = found.rung[1], gain = gain, gain_error = doubt,
        cells_per_joule = found.cells_per_joule }
end

-- Draws speeds over the first rung's with their error, and cells a joule likewise, a line for each
-- rung, the first on top.
local function draw(path, device, n, ladder, found)
    local speed = { x = {}, y = {}, style = 'points', label = 'speed over the first' }
    local frugal = { x = {}, y = {}, style = 'points', label = 'cells a joule over the first' }
    local series, names, most = { speed, frugal }, {}, 1
    for k, one in ipairs(found) do
        local gain, doubt = one.gain, one.gain_error
        speed.x[k], speed.y[k], names[k] = gain, -k, { -k, one.name }
        most = math.max(most, gain + doubt)
        series[k + 2] = { x = { gain - doubt, gain + doubt }, y = { -k, -k }, colour = 0x0072b2 }
        if one.cells_per_joule then
            frugal.x[k] = one.cells_per_joule / found[1].cells_per_joule
            frugal.y[k] = -k
            most = math.max(most, frugal.x[k])
        end
    end
    if not frugal.x[1] then table.remove(series, 2) end
    image.lines { path = path, width = 1000, height = 200 + 36 * #found,
        title = ('%s: steps of the %s scheme, %d² cells'):format(device.info.model, ladder.title,
            n), yticks = names, xrange = { 0, 1.05 * most }, yrange = { -#found - 0.7, -0.3 },
        series = series }
    print('wrote ' .. path)
end

local function run(device, n, ladder, options)
    check_kind(device, 'holm')
    local r = reference(device, n, ladder)
    r.ladder = ladder
    for _, name in ipairs { 'now', 'other' } do
        r[name] = device:buffer { type = 'float', count = r.start.count, label = name }
        r[name]:fill(0)
    end
    local copy = not record.is_small and bandwidth.of(device) or nil
    print(('%s, %s, %s, %d^2 cells'):format(device.name, device.info.model, ladder.name, n))
    print(('%-32s %8s %9s %16s %6s %9s %9s %7s %8s %10s %9s'):format('rung', 'block', 'Mcells/s',
        'gain', 'copy %', 'registers', 'local, B', 'occup.%', 'watts', 'Mcells/J', 'differs'))
    local first, reported, meter, reason = nil, {}, nil, nil
    if options.energy then meter, reason = energy.open(device) end
    local list = record.few(ladder.rungs, { ladder.rungs[ladder.name == 'cdklm' and 8 or 2] })
    for k = 1, #list + 1 do
        local rung = list[k]
        local found = not rung and measure_shipped(device, r)
            or rung.retuned and retune(device, r, rung)
            or measure(device, r, rung, record.few(blocks[1], blocks[7]))
        first = first or found
        if meter then reason = add_energy(device, meter, found, n * n) or reason end
        reported[k] = report(device, n, ladder, found, first, copy)
        found.run = nil
        collectgarbage()
    end
    if reason then print('energy: ' .. reason) end
    if options.image then draw(options.image, device, n, ladder, reported) end
end

local options, name, size = {}, nil, nil
local k = 1
while arg[k] do
    if arg[k] == '--energy' then options.energy = true
    elseif arg[k] == '--image' or arg[k] == '--scheme' then
        options[arg[k]:sub(3)] = arg[k + 1] or errors.usage('holm: %s: a value is missing', arg[k])
        k = k + 1
    elseif arg[k]:find '^%-' then
        errors.usage("holm: '%s' (allowed: --scheme, --energy, --image)", arg[k])
    elseif arg[k]:find '^%d+$' then size = tonumber(arg[k])
    else name = arg[k] end
    k = k + 1
end
local device = errors.option('device', devices.open, name)
size = size or record.few(device.info.kind == 'gpu' and 4096 or 128, 32)
if size < 16 or size > 16384 then
    errors.usage('holm: SIZE = %d (allowed: 16 to 16384)', size)
end
local ladder = schemes[options.scheme or 'cdklm']
if not ladder then
    errors.usage("holm: --scheme: '%s' (allowed: cdklm, linear, nonlinear)",
        tostring(options.scheme))
end
run(device, size, ladder, options)
