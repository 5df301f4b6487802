-- The friction of a channel from water levels: a tide runs into a closed channel, whose bottom is
-- smooth in some reaches and rough in others. Gauges see the level at some places; the friction of
-- each reach follows from them alone. The run is repeated with a guess; how the sum of squares of
-- what is off changes with the friction goes backwards through the same steps by mare.gradient; and
-- mare.descent takes the next guess from these slopes. What the gauges see is a run of the same
-- model, so that the answer is known.
--
-- h_t + (D u)_x = 0,  u_t + g h_x = -r u |u| / D on a staggered grid: level i lies between the
-- velocities i and i + 1. Velocities come first, then levels from the new ones.

local mare = require 'mare'

local o = mare.options {
    title = 'friction from gauges',
    help = 'Fits the friction of the reaches of a channel to water levels, by gradients.',
    mare.options.device,
    { name = 'n', default = 32, range = { 16, 4096 }, help = 'cells along the channel' },
    { name = 'steps', default = 300, range = { 10, 100000 }, help = 'steps of a run' },
    { name = 'runs', default = 30, range = { 1, 1000 }, help = 'at most so many runs' },
    { name = 'quiet', default = false, help = 'print nothing' },
}
local print = o.quiet and function() end or print
local device = mare.options.apply('device', mare.device.open, o.device)

local n, steps = o.n, o.steps
local length, depth, gravity = 100e3, 8, 9.81
local dx = length / n
local dt = 0.5 * dx / math.sqrt(gravity * depth)
local true_friction = { 2e-3, 6e-3, 3e-3 }
local reaches = #true_friction
local gauges = { 0.3, 0.6, 0.95 }               -- of the length

-- ---- the model ----

local level = 0                                 -- of the sea, which is outside the first velocity
local pull, gather = dt * gravity / dx, dt * depth / dx

local function move(i, h, u, r, u_new)
    if i == 0 then
        u_new[i] = u[i] - pull * (h[i] - level) - dt / depth * r[i] * u[i] * math.abs(u[i])
    elseif i < h.count then
        u_new[i] = u[i] - pull * (h[i] - h[i - 1]) - dt / depth * r[i] * u[i] * math.abs(u[i])
    else
        u_new[i] = 0
    end
end

local function fill(i, h, u, h_new)
    if i < h.count then h_new[i] = h[i] - gather * (u[i + 1] - u[i]) end
end

local step_u, step_h = mare.kernel(move), mare.kernel(fill)
local back_u = mare.kernel(mare.gradient(move, { by = { 'h', 'u', 'r' } }))
local back_h = mare.kernel(mare.gradient(fill, { by = { 'h', 'u' } }))

-- ---- runs ----

local function zeros(count)
    return mare.zeros({ count }, { type = 'double', device = device })
end

-- Returns the levels and velocities before each step and behind the last one.
local function run(friction)
    local h, u = { [0] = zeros(n) }, { [0] = zeros(n + 1) }
    for k = 1, steps do
        h[k], u[k] = zeros(n), zeros(n + 1)
        level = math.sin(2 * math.pi * k * dt / 44714)
        step_u(n + 1, h[k - 1], u[k - 1], friction, u[k])
        step_h(n, h[k - 1], u[k], h[k])
    end
    return h, u
end

-- Returns the friction at each velocity from that of the reaches, and the sums over reaches.
local function reach_of(i) return math.min(math.floor(i * reaches / (n + 1)), reaches - 1) + 1 end

local function spread(values)
    local list = {}
    for i = 0, n do list[i + 1] = values[reach_of(i)] end
    return mare.array(list, { type = 'double', device = device })
end

local function gathered(array)
    local sums, list = {}, array:totable()
    for k = 1, reaches do sums[k] = 0 end
    for i = 0, n do sums[reach_of(i)] = sums[reach_of(i)] + list[i + 1] end
    return sums
end

local seen_at = {}
for i = 1, n do seen_at[i] = 0 end
for _, place in ipairs(gauges) do seen_at[math.floor(place * n) + 1] = 1 end
seen_at = mare.array(seen_at, { type = 'double', device = device })

local seen = run(spread(true_friction))

-- Returns half the mean square of what is off at the gauges, and its slope by each reach.
local function misfit(values)
    local friction = spread(values)
    local h, u = run(friction)
    local scale, squares = 1 / (steps * #gauges), zeros(n)
    local h_bar, u_bar, r_bar = zeros(n), zeros(n + 1), zeros(n + 1)
    for k = steps, 1, -1 do
        local off = ((h[k] - seen[k]) * seen_at):eval()
        squares = (squares + off * off):eval()
        h_bar = (h_bar + scale * off):eval()
        local h_before, u_before = zeros(n), zeros(n + 1)
        back_h(n + 1, h[k - 1], u[k], h_bar, h_before, u_bar)
        back_u(n + 1, h[k - 1], u[k - 1], friction, u_bar, h_before, u_before, r_bar)
        h_bar, u_bar = h_before, u_before
    end
    return 0.5 * scale * squares:sum():item(), gathered(r_bar)
end
-- ---- the fit ----

-- The logarithms of the friction are sought, so that it stays above 0.
local function values_of(logs)
    local values = {}
    for k = 1, reaches do values[k] = math.exp(logs[k]) end
    return values
end

local function misfit_of_logs(logs)
    local values = values_of(logs)
    local sum, slopes = misfit(values)
    for k = 1, reaches do slopes[k] = slopes[k] * values[k] end
    return sum, slopes
end

local function say(found)
    local values = values_of(found.x)
    for k = 1, reaches do values[k] = ('%.6f'):format(values[k]) end
    print(('%4d %16.3e   %s'):format(found.calls, found.value, table.concat(values, '  ')))
end

print ' run      misfit (m2)   friction of the reaches'
local start = {}
for k = 1, reaches do start[k] = math.log(4e-3) end
local found = mare.descent(misfit_of_logs, start, { calls = o.runs, longest = 0.5, least = 1e-12,
    each = say })
local worst = 0
for k, value in ipairs(values_of(found.x)) do
    worst = math.max(worst, math.abs(value / true_friction[k] - 1))
end
print(('the friction is off by at most %.2g %%'):format(100 * worst))
return { misfit = found.value, runs = found.calls, error = worst, misfit_of = misfit }
