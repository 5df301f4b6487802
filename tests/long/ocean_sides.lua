-- build/mare tests/long/ocean_sides.lua [FILE.json [SECONDS [STEPS [FIRST]]]]: boxes of an ocean
-- with open sides (tests/open_boxes.lua), drawn by seed from FIRST on, each scheme in turn, until
-- so many seconds have passed (450), each with so many steps (10^5). On MARE_TEST_DEVICE. Proves
-- that no energy comes from any of them. Writes what was drawn and what each kept as JSON.

local boxes = require 'tests.open_boxes'
local core = require 'bindings.device'
local json = require 'dkjson'
local mare = require 'mare'
local system = require 'bindings.system'

local path, seconds = arg[1], tonumber(arg[2] or 450)
local steps, seed = tonumber(arg[3] or 1e5), tonumber(arg[4] or 1)
local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local schemes = { 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' }
local looks = 20

-- What the sides and the rest of a box are.
local function described(desc)
    local sides, scheme = {}, desc.scheme
    for _, side in ipairs { 'west', 'east', 'south', 'north' } do
        local kind = desc.boundaries[side]
        sides[#sides + 1] = type(kind) == 'table' and kind.kind or kind
    end
    return { scheme = scheme.scheme, sides = table.concat(sides, ' '), cfl = desc.options.cfl,
        f = scheme.coriolis and scheme.coriolis.f or 0, viscosity = scheme.viscosity,
        friction = scheme.friction and scheme.friction.kind or 'none' }
end

-- The largest energy of a box in either half of its steps, over that at the start.
local function follow(desc, depth)
    local sim = mare.simulation(desc)
    local first, most, late = boxes.energy(sim, depth), 0, 0
    sim:aim(math.huge)
    for k = 1, looks do
        sim:step(steps / looks)
        sim:read()
        local now = sim.now.failed and math.huge or boxes.energy(sim, depth) / first
        if k <= looks / 2 then most = math.max(most, now) else late = math.max(late, now) end
        if now == math.huge then break end
    end
    local device = sim.devices[1].name
    sim:release()
    return most, late, device
end

local found = { steps = steps, bound = 'energy over that at the start', boxes = {}, grown = 0,
    version = core.full_version, date = os.date '!%FT%TZ' }
local started = system.now()
while system.now() - started < seconds do
    local desc, depth, title = boxes.draw(schemes, seed, name)
    local case = described(desc)
    local most, late, device = follow(desc, depth)
    local is_bounded = math.max(most, late) <= boxes.bound(case.cfl)
        and late <= 1.5 * most + 1e-6
    case.seed, case.most, case.late = seed, most, late
    found.device, found.boxes[#found.boxes + 1] = device, case
    if not is_bounded then
        found.grown = found.grown + 1
        print(('%s grew: %g, then %g (%s; cfl %g)'):format(title, most, late, case.sides, case.cfl))
    end
    seed = seed + 1
end
found.count, found.seconds = #found.boxes, system.now() - started
print(('%d boxes, %d steps each: %d grew (%s)'):format(found.count, steps, found.grown,
    tostring(found.device)))
if path then
    local file = assert(io.open(path, 'w'))
    file:write(json.encode(found, { indent = true }), '\n')
    file:close()
end
os.exit(found.grown == 0 and 0 or 1)
