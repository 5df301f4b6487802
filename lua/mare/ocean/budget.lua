-- Budgets of an ocean's run, from its time series: what came in through the cells of its tide and
-- by wind is what is more inside, and what friction took. The volume is accounted for exactly, but
-- for rounding; of friction and wind the series knows the power, which is straight between its
-- rows, at least some dozens a period.

local errors = require 'bindings.errors'

local budget = {}

-- Returns the integral of a power over time, by the trapezoidal rule.
local function work_of(time, power)
    local sum = 0
    for k = 2, power and #time or 0 do
        sum = sum + 0.5 * (power[k] + power[k - 1]) * (time[k] - time[k - 1])
    end
    return sum
end

-- Returns which share of all that moved is missing, where `inflow` came in and the content grew by
-- `change` only.
local function balance(of)
    local size = math.max(math.abs(of.inflow), math.abs(of.change), math.abs(of.lost or 0))
    of.missing = size > 0 and math.abs(of.inflow - of.change - (of.lost or 0)) / size or 0
    return of
end

-- Makes the budgets of a run. series: of mare.run, { time =, volume =, inflow =, ... }. Returns {
-- volume = { inflow =, change =, missing = share }, energy = { inflow =, by_tide =, by_wind =,
-- change =, lost = by friction, missing = } }, in m3 and m5 s-2, that is J by the density of water.
function budget.of(series)
    if not (series and series.inflow) then
        errors.argument 'budget: no series with inflow: a linear scheme with a tide has that'
    end
    local function change(list) return list[#list] - list[1] end
    local by_tide = change(series.tidal_work)
    local by_wind = work_of(series.time, series.wind_power)
    return {
        volume = balance { inflow = change(series.inflow), change = change(series.volume) },
        energy = balance { inflow = by_tide + by_wind, by_tide = by_tide, by_wind = by_wind,
            change = change(series.total_energy), lost = work_of(series.time, series.dissipation) },
    }
end

-- Returns two lines for people. rho: density of the water (1025 kg/m3)
function budget.text(found, rho)
    local v, e, peta = found.volume, found.energy, (rho or 1025) / 1e15
    return string.format('volume: %.4g km3 came in, %.4g km3 more inside, %.2g %% missing\n'
        .. 'energy: %.4g PJ came with the tide, %.4g PJ with the wind; %.4g PJ more inside, %.4g '
        .. 'PJ lost to friction, %.2g %% missing', v.inflow / 1e9, v.change / 1e9, 100 * v.missing,
        peta * e.by_tide, peta * e.by_wind, peta * e.change, peta * e.lost, 100 * e.missing)
end

return budget
