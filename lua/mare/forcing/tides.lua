-- Tides as sums of waves of known speed: the tidal constituents, their phases
-- at a date according to moon and sun, and the least-squares fit that finds
-- amplitudes and phases in a record.
--
-- A constituent is eta = f A cos(speed t + V + u - g): A is its amplitude (m),
-- g its phase lag behind Greenwich (degrees), V its equilibrium argument at t =
-- 0; the nodal factor f and nodal angle u vary with the 18.6-year cycle of the
-- moon's node. Without a date f = 1 and V = u = 0.

local calendar = require 'mare.forcing.calendar'
local errors = require 'bindings.errors'
local tables = require 'bindings.tables'

local tides = {}

-- ---- constituents ----

-- For each constituent: its multiples of mean lunar time (from the lower
-- transit at Greenwich) and of the mean longitudes of the moon, the sun and the
-- moon's perigee; a phase in degrees; and the constituents whose nodal factors
-- multiply, and whose nodal angles add up, to its own (Doodson 1921; Schureman
-- 1940, table 2).
local constituents = {
    SSA = { 0, 0, 2, 0 }, MM = { 0, 1, 0, -1, 0, 'MM' }, MSF = { 0, 2, -2, 0, 0, 'M2' },
    MF = { 0, 2, 0, 0, 0, 'MF' },
    Q1 = { 1, -2, 0, 1, -90, 'O1' }, O1 = { 1, -1, 0, 0, -90, 'O1' }, P1 = { 1, 1, -2, 0, -90 },
    K1 = { 1, 1, 0, 0, 90, 'K1' }, J1 = { 1, 2, 0, -1, 90, 'J1' }, OO1 = { 1, 3, 0, 0, 90, 'OO1' },
    ['2N2'] = { 2, -2, 0, 2, 0, 'M2' }, MU2 = { 2, -2, 2, 0, 0, 'M2' },
    N2 = { 2, -1, 0, 1, 0, 'M2' }, NU2 = { 2, -1, 2, -1, 0, 'M2' }, M2 = { 2, 0, 0, 0, 0, 'M2' },
    S2 = { 2, 2, -2, 0 }, K2 = { 2, 2, 0, 0, 0, 'K2' },
    MN4 = { 4, -1, 0, 1, 0, 'M2', 'M2' }, M4 = { 4, 0, 0, 0, 0, 'M2', 'M2' },
    MS4 = { 4, 2, -2, 0, 0, 'M2' }, S4 = { 4, 4, -4, 0 },
    M6 = { 6, 0, 0, 0, 0, 'M2', 'M2', 'M2' }, ['2MS6'] = { 6, 2, -2, 0, 0, 'M2', 'M2' },
    M8 = { 8, 0, 0, 0, 0, 'M2', 'M2', 'M2', 'M2' },
}

-- The nodal factor is a0 + a1 cos N + a2 cos 2N + a3 cos 3N and the nodal angle
-- (degrees) b1 sin N + b2 sin 2N + b3 sin 3N, where N is the longitude of the
-- moon's node (Doodson 1928; Schureman 1940 tabulates the same).
local nodal = {
    MM = { { 1.0000, -0.1300, 0.0013, 0 }, { 0, 0, 0 } },
    MF = { { 1.0429, 0.4135, -0.0040, 0 }, { -23.74, 2.68, -0.38 } },
    O1 = { { 1.0089, 0.1871, -0.0147, 0.0014 }, { 10.80, -1.34, 0.19 } },
    K1 = { { 1.0060, 0.1150, -0.0088, 0.0006 }, { -8.86, 0.68, -0.07 } },
    J1 = { { 1.0129, 0.1676, -0.0170, 0.0016 }, { -12.94, 1.34, -0.19 } },
    OO1 = { { 1.1027, 0.6504, 0.0317, -0.0014 }, { -36.68, 4.02, -0.57 } },
    M2 = { { 1.0004, -0.0373, 0.0002, 0 }, { -2.14, 0, 0 } },
    K2 = { { 1.0241, 0.2863, 0.0083, -0.0015 }, { -17.74, 0.68, -0.04 } },
}

local century = 36525 * 86400       -- s
local epoch = calendar.seconds '2000-01-01 12:00:00'

-- Mean longitudes (degrees) of the moon, the sun, the moon's perigee and its
-- ascending node at noon of 2000-01-01, and their changes per century (Meeus
-- 1998).
local longitudes = {
    { 218.3164477, 481267.88123421 }, { 280.4664567, 36000.76982779 },
    { 83.3532465, 4069.0137287 }, { 125.0445479, -1934.1362891 },
}

-- Speeds by name, in degrees per hour.
tides.speeds = {}
for name, c in pairs(constituents) do
    local hourly = {}
    for k = 1, 3 do hourly[k] = longitudes[k][2] * 3600 / century end
    tides.speeds[name] = c[1] * (15 + hourly[2] - hourly[1]) + c[2] * hourly[1] + c[3] * hourly[2]
        + c[4] * hourly[3]
end

-- Returns the names of all constituents, slowest first.
function tides.names()
    return tables.keys(constituents, function(a, b) return tides.speeds[a] < tides.speeds[b] end)
end

-- Returns the names in a text such as 'M2,S2'. Unknown and repeated names raise
-- an error.
function tides.list(text)
    local list, seen = {}, {}
    for name in text:gmatch '[^,%s]+' do
        if not constituents[name] or seen[name] then
            errors.argument("tides: '%s' (allowed: of %s, each once)", text,
                table.concat(tides.names(), ' '))
        end
        list[#list + 1], seen[name] = name, true
    end
    return list
end

-- Returns the pairs of constituents that a record of so many seconds cannot
-- separate: { { one, other, days = the length that can }, ... }. By Rayleigh's
-- criterion the record must be so long that one of the two completes a full
-- turn more than the other. In a shorter record the least-squares fit may mix
-- them.
function tides.inseparable(names, seconds)
    local list = {}
    for k, name in ipairs(names) do
        for n = 1, k - 1 do
            local apart = math.abs(tides.speeds[name] - tides.speeds[names[n]])
            if apart * seconds / 3600 < 360 then
                list[#list + 1] = { names[n], name, days = 15 / apart }
            end
        end
    end
    return list
end

local function find(name)
    local c = constituents[name]
    if c then return c end
    errors.argument("tides: constituent '%s' (there are: %s)", tostring(name),
        table.concat(tides.names(), ', '))
end

-- Returns the factor and the angle (degrees) of the moon's node.
local function nodal_of(names, node)
    local f, u = 1, 0
    for k = 6, #names do
        local a, b = nodal[names[k]][1], nodal[names[k]][2]
        f = f * (a[1] + a[2] * math.cos(node) + a[3] * math.cos(2 * node)
            + a[4] * math.cos(3 * node))
        u = u + b[1] * math.sin(node) + b[2] * math.sin(2 * node) + b[3] * math.sin(3 * node)
    end
    return f, u
end

-- Returns { factor = f, argument = V + u (degrees) } of a constituent. V holds
-- at the date (UTC, such as '2011-03-11 05:46:24'); f and u hold `middle`
-- seconds later (default 0), such as in the middle of a record.
function tides.argument(name, date, middle)
    local seconds, c = calendar.seconds(date), find(name)
    if not seconds then
        errors.argument("tides: date '%s', must be as 2011-03-11", tostring(date))
    end
    local T, angle = (seconds - epoch) / century, {}
    for k, l in ipairs(longitudes) do angle[k] = l[1] + l[2] * T end
    local node = longitudes[4][1] + longitudes[4][2] * (T + (middle or 0) / century)
    local lunar = 360 * (seconds / 86400 % 1) + angle[2] - angle[1]
    local V = c[1] * lunar + c[2] * angle[1] + c[3] * angle[2] + c[4] * angle[3] + (c[5] or 0)
    local f, u = nodal_of(c, math.rad(node % 360))
    return { factor = f, argument = (V + u) % 360 }
end

-- ---- least squares ----

local Fit = {}
Fit.__index = Fit

-- Returns the normal equations of the fit of a mean and the constituents. They
-- need not be orthogonal over the record.
function tides.fit(names)
    local self = setmetatable({ names = names, speeds = {}, count = 0 }, Fit)
    for k, name in ipairs(names) do
        find(name)
        self.speeds[k] = math.rad(tides.speeds[name]) / 3600
    end
    self.size = 2 * #names + 1
    self.sums = {}
    for k = 1, self.size ^ 2 do self.sums[k] = 0 end
    return self
end

-- Returns the basis functions at time t: 1, and cosine and sine of each
-- constituent.
function Fit:basis(t)
    local list = { 1 }
    for k, speed in ipairs(self.speeds) do
        list[2 * k], list[2 * k + 1] = math.cos(speed * t), math.sin(speed * t)
    end
    return list
end

-- Adds a time of the record and returns the basis functions there.
function Fit:add(t)
    local list, n = self:basis(t), self.size
    for a = 1, n do
        for b = 1, n do
            self.sums[(a - 1) * n + b] = self.sums[(a - 1) * n + b] + list[a] * list[b]
        end
    end
    self.count = self.count + 1
    return list
end

local least = 1e-7      -- of a pivot relative to its row; below this it is singular

local function raise_inseparable(self, row)
    errors.raise('MARE_ERROR_STATE', 'tides: %d samples do not tell %s from %s', self.count,
        row == 1 and 'the mean' or self.names[math.floor(row / 2)],
        row == 1 and 'nothing' or 'the constituents before it')
end

-- Returns the Cholesky factor L of the sums, which are L L'.
local function factor(self)
    local n, a, l = self.size, self.sums, {}
    for i = 1, n do
        for j = 1, i do
            local sum = a[(i - 1) * n + j]
            for k = 1, j - 1 do sum = sum - l[(i - 1) * n + k] * l[(j - 1) * n + k] end
            if i ~= j then
                l[(i - 1) * n + j] = sum / l[(j - 1) * n + j]
            elseif sum > least * a[(i - 1) * n + i] then
                l[(i - 1) * n + i] = math.sqrt(sum)
            else
                raise_inseparable(self, i)
            end
        end
    end
    return l
end

-- Solves L L' x = right.
local function solve(l, n, right)
    local x = {}
    for i = 1, n do
        local sum = right[i]
        for k = 1, i - 1 do sum = sum - l[(i - 1) * n + k] * x[k] end
        x[i] = sum / l[(i - 1) * n + i]
    end
    for i = n, 1, -1 do
        local sum = x[i]
        for k = i + 1, n do sum = sum - l[(k - 1) * n + i] * x[k] end
        x[i] = sum / l[(i - 1) * n + i]
    end
    return x
end

-- Returns a function that solves the fit. It takes the sums of products of the
-- record with the basis functions (an array of 1 + 2 per constituent) and
-- returns an array of the mean and then A cos g and A sin g of each
-- constituent. arguments: { NAME = of tides.argument } or nil. Raises an error
-- that names constituents which the record cannot separate.
function Fit:solver(arguments)
    local l = factor(self)
    return function(right)
        local x = solve(l, self.size, right)
        for k, name in ipairs(self.names) do
            local given = arguments and arguments[name]
            if given then
                local angle, c, s = math.rad(given.argument), x[2 * k], x[2 * k + 1]
                x[2 * k] = (c * math.cos(angle) - s * math.sin(angle)) / given.factor
                x[2 * k + 1] = (c * math.sin(angle) + s * math.cos(angle)) / given.factor
            end
        end
        return x
    end
end

-- Returns amplitude and phase (degrees, 0 to 360) of A cos g and A sin g.
function tides.polar(c, s)
    return math.sqrt(c * c + s * s), math.deg(math.atan2(s, c)) % 360
end

-- Analyses values at times (s). Returns { mean =, NAME = { amplitude =, phase =
-- }, ... }. arguments: { NAME = of tides.argument, ... } at t = 0; nil: phases
-- are relative to t = 0.
function tides.analyse(times, values, names, arguments)
    if #times ~= #values then
        errors.argument('tides: %d times, %d values', #times, #values)
    end
    local fit, right = tides.fit(names), {}
    for k = 1, fit.size do right[k] = 0 end
    for n, t in ipairs(times) do
        for k, value in ipairs(fit:add(t)) do right[k] = right[k] + value * values[n] end
    end
    local x = fit:solver(arguments)(right)
    local found = { mean = x[1] }
    for k, name in ipairs(names) do
        local amplitude, phase = tides.polar(x[2 * k], x[2 * k + 1])
        found[name] = { amplitude = amplitude, phase = phase }
    end
    return found
end

-- ---- comparison ----

-- Returns the vector error of two constituents { amplitude =, phase = }: |Z -
-- Z'| / sqrt 2 with Z = A e^(-ig), the root mean square of their difference
-- over a period.
function tides.vector_error(a, b)
    local p, q = math.rad(a.phase), math.rad(b.phase)
    local c = a.amplitude * math.cos(p) - b.amplitude * math.cos(q)
    local s = a.amplitude * math.sin(p) - b.amplitude * math.sin(q)
    return math.sqrt((c * c + s * s) / 2)
end

-- Returns the median of a list.
function tides.median(list)
    local sorted = {}
    for k, value in ipairs(list) do sorted[k] = value end
    table.sort(sorted)
    local n = #sorted
    return 0.5 * (sorted[math.floor((n + 1) / 2)] + sorted[math.floor(n / 2) + 1])
end

-- Scores a model by pairs { observed, computed } of a constituent. Returns {
-- count, median and rms of the vector error (m), ratio of computed to observed
-- amplitudes (least squares through 0), phase = median |error| (degrees),
-- amplitude = median |error| (m) }.
function tides.score(pairs_of)
    local errors_of, phases, amplitudes, squares, both, own = {}, {}, {}, 0, 0, 0
    for k, pair in ipairs(pairs_of) do
        local observed, computed = pair[1], pair[2]
        errors_of[k] = tides.vector_error(computed, observed)
        squares = squares + errors_of[k] ^ 2
        phases[k] = math.abs((computed.phase - observed.phase + 180) % 360 - 180)
        amplitudes[k] = math.abs(computed.amplitude - observed.amplitude)
        both = both + computed.amplitude * observed.amplitude
        own = own + observed.amplitude ^ 2
    end
    return { count = #pairs_of, median = tides.median(errors_of),
        rms = math.sqrt(squares / #pairs_of), ratio = both / own, phase = tides.median(phases),
        amplitude = tides.median(amplitudes) }
end

return tides
