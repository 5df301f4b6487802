-- build/mare tests/long/ocean_sides.lua [FILE.json [SECONDS [STEPS [FIRST [ROW]]]]]: boxes of an
-- ocean with open sides (tests/open_boxes.lua), drawn by seed from FIRST on, each scheme in turn,
-- until so many seconds have passed (450), each with so many steps (10^5); with ROW so many boxes
-- in one grid. On MARE_TEST_DEVICE. Proves that no energy comes from any of them. Writes what was
-- drawn and what each kept as JSON.

local boxes = require 'tests.open_boxes'
local core = require 'bindings.device'
local json = require 'dkjson'
local mare = require 'mare'
local system = require 'bindings.system'

local path, seconds = arg[1], tonumber(arg[2] or 450)
local steps, seed = tonumber(arg[3] or 1e5), tonumber(arg[4] or 1)
local row = tonumber(arg[5] or 0)
local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'
local schemes = { 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' }
local looks = 20

local function kind_of(side) return type(side) == 'table' and side.kind or side end

-- What the rest of a grid is.
local function described(desc, case)
    local scheme = desc.scheme
    case.scheme, case.cfl, case.viscosity = scheme.scheme, desc.options.cfl, scheme.viscosity
    case.friction = scheme.friction and scheme.friction.kind or 'none'
    return case
end

-- Returns the description of a grid with one box, the boxes with what their sides are, and the
-- energy of each.
local function draw_single()
    local desc, depth, title = boxes.draw(schemes, seed, name)
    local sides = {}
    for k, side in ipairs { 'west', 'east', 'south', 'north' } do
        sides[k] = kind_of(desc.boundaries[side])
    end
    local case = described(desc, { title = title, sides = table.concat(sides, ' '), seed = seed,
        f = desc.scheme.coriolis and desc.scheme.coriolis.f or 0 })
    return desc, { case }, function(sim) return { boxes.energy(sim, depth) } end
end

-- The same of a row.
local function draw_row()
    local desc, list, depth = boxes.draw_row(schemes[1 + seed % #schemes], seed, row, name)
    local cases, ends = {}, desc.grid.nx > desc.grid.ny and { 'west', 'east' }
        or { 'south', 'north' }
    for k, box in ipairs(list) do
        local before = k == 1 and desc.boundaries[ends[1]] or 'reflective'
        local after = k == row and desc.boundaries[ends[2]] or 'reflective'
        cases[k] = described(desc, { title = box.title, seed = seed, f = box.f,
            sides = table.concat({ kind_of(before), kind_of(after), kind_of(box.low),
                kind_of(box.high) }, ' '), row = ends[1] == 'west' and 'x' or 'y' })
    end
    return desc, cases, function(sim) return boxes.energies(sim, list, depth) end
end

-- Notes the largest energy of each box in either half of the steps, over that at the start.
local function follow(desc, cases, measure)
    local sim = mare.simulation(desc)
    local first = measure(sim)
    sim:aim(math.huge)
    for k = 1, looks do
        sim:step(steps / looks)
        sim:read()
        local half = k <= looks / 2 and 'most' or 'late'
        for n, energy in ipairs(measure(sim)) do
            local now = sim.now.failed and 1e30 or energy / first[n]
            cases[n][half] = math.max(cases[n][half] or 0, now)
        end
        if sim.now.failed then break end
    end
    local device = sim.devices[1].name
    sim:release()
    return device
end

local function has_grown(case)
    case.late = case.late or 1e30
    return math.max(case.most, case.late) > boxes.bound(case.cfl)
        or case.late > 1.5 * case.most + 1e-6
end

local found = { steps = steps, bound = 'energy over that at the start', boxes = {}, grown = 0,
    version = core.full_version, date = os.date '!%FT%TZ' }
local started = system.now()
while system.now() - started < seconds do
    local desc, cases, measure = (row > 0 and draw_row or draw_single)()
    found.device = follow(desc, cases, measure)
    for _, case in ipairs(cases) do
        found.boxes[#found.boxes + 1] = case
        if has_grown(case) then
            found.grown = found.grown + 1
            print(('%s grew: %g, then %g (%s; cfl %g)'):format(case.title, case.most, case.late,
                case.sides, case.cfl))
        end
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
