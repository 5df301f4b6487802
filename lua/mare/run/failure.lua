-- What a run leaves that came to an invalid state, beside its files and under names that nothing
-- has yet: all variables of the cells around the place, and the time series until then. describe:
-- Outputs.describe; `why`, the message, goes into the file. Both return its name.

local posix = require 'bindings.posix'
local netcdf = require 'mare.files.netcdf'
local snapshot = require 'mare.array.snapshot'
local tables = require 'bindings.tables'

local failure = {}

local width = 32        -- cells

-- Returns the first of the cells around cell k of n, and how many there are.
local function around(k, n)
    local count = math.min(width, n)
    return math.max(0, math.min(n - count, k - width / 2)), count
end

-- Turns run.nc or run.ck into run-failed.nc, or run-failed-2.nc if there is that already, ...
local function free_name(path)
    local base, k = path:gsub('%.[^./]*$', '') .. '-failed', 1
    local name = base .. '.nc'
    while posix.status(name) or posix.target(name) do
        k = k + 1
        name = string.format('%s-%d.nc', base, k)
    end
    return name
end

local function describe_failed(describe, beside, cells, names, why)
    local spec = describe(free_name(beside), cells, names)
    spec.attributes = tables.merged({ failure = why }, spec.attributes)
    return spec
end

-- Writes the cells around (i, j). beside: the path of a file of the run
function failure.write_cells(sim, beside, describe, why, i, j)
    local g, names = sim.grid, tables.column(sim.scheme.variables, 'name')
    local i0, nx = around(i, g.nx)
    local j0, ny = around(j, g.ny)
    local cells = { i0 = i0, j0 = j0, nx = nx, ny = ny, step = 1 }
    local spec = describe_failed(describe, beside, cells, names, why)
    local shot = snapshot.new(sim, { variables = names, cells = cells })
    shot:take(1)
    shot:wait(1)
    if shot:is_whole() then
        local writer, planes = netcdf.writer(spec), shot:data(1)
        writer:write(sim.now.t, function(name) return planes[name] end)
        writer:close()
    end
    shot:release()
    return spec.path
end

function failure.write_series(series, describe, why)
    local spec = describe_failed(describe, series.path, nil, {}, why)
    series:put(spec)
    return spec.path
end

return failure
