-- mutate.lua - damaged files for every reader: mutate.case(kind, folder) writes one at random and
-- has it read. A reader may refuse it in words or take it; an error of Lua itself is a finding.
-- math.randomseed() decides which file comes.

local checkpoint = require 'mare.files.checkpoint'
local events = require 'mare.base.events'
local ffi = require 'ffi'
local info = require 'mare.launcher.info'
local literal = require 'mare.base.literal'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local results = require 'mare.tune.results'
local shapes = require 'mare.shapes'
local trial = require 'tests.scenarios.trial'

ffi.cdef 'int setenv(const char *name, const char *value, int overwrite);'

local mutate = { kinds = {} }

local function pick(list) return list[math.random(#list)] end

-- ---- texts ----

local pieces = { 'nan', '1e999', '-', '"', '""', '[', ']', '{', '}', ',', '\n', '\0', '=', '0',
    '-1', '\255\254', '(', 'nil', '1e', '0x', ' ', 'true', '\\', ('['):rep(3000), ('9'):rep(400) }

local function mutated(text)
    for _ = 1, math.random(3) do
        local at = math.random(#text + 1)
        local stop = math.min(#text, at + math.random(0, 12))
        local how = math.random(4)
        if how == 1 then
            text = text:sub(1, at - 1) .. string.char(math.random(0, 255)) .. text:sub(at + 1)
        elseif how == 2 then text = text:sub(1, at - 1) .. text:sub(stop + 1)
        elseif how == 3 then text = text:sub(1, at - 1) .. pick(pieces) .. text:sub(at)
        else text = text:sub(1, math.random(0, #text)) .. text:sub(at, stop)
        end
    end
    return text
end

-- ---- values ----

local function odd_value()
    return pick { -1, 0, 1e300, 2 ^ 53, 0.5, math.huge, 0 / 0, 'x', '', ('x'):rep(5000), true,
        false, {}, { 1, 'a' }, { a = 1 } }
end

-- Changes one value somewhere in a table of plain values.
local function change_one(t)
    local keys = {}
    for key in pairs(t) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    if not keys[1] then
        t[odd_value() == odd_value() and 1 or 'k'] = odd_value()
        return
    end
    local key = pick(keys)
    if type(t[key]) == 'table' and math.random(4) > 1 then return change_one(t[key]) end
    if math.random(3) == 1 then t[key] = nil else t[key] = odd_value() end
end

-- ---- what is read ----

function mutate.kinds.literal()
    local text = mutated(literal.encode { 1, -0.5, 'a "b"\n', { x = true, [7] = {} }, 1e300 })
    local value = literal.decode(text)
    if value ~= nil then literal.encode(value) end
end

local function small_run(options)
    options.t_end, options.quiet, options.device = options.t_end or 0.02, true, trial.device
    return mare.run {
        title = 'kept', grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } },
        scheme = mare.euler {}, boundaries = 'periodic', options = options,
        initial = function(x) return 1 + 0.1 * math.sin(2 * math.pi * x), 0, 0, 1 end,
    }
end

local function copy(value)
    if type(value) ~= 'table' then return value end
    local out = {}
    for key, one in pairs(value) do out[key] = copy(one) end
    return out
end

function mutate.kinds.checkpoint(folder)
    local path = folder .. '/a.ck'
    if mutate.folder ~= folder then
        local base = folder .. '/base.ck'
        small_run { checkpoint = base, out = folder .. '/a.nc', series = folder .. '/s.nc' }
        mutate.folder, mutate.whole = folder, assert(checkpoint.read(base))
    end
    local whole, header = mutate.whole, copy(mutate.whole.header)
    local bytes = math.random(4) == 1 and math.random(0, whole.bytes) or whole.bytes
    change_one(header)
    checkpoint.write(path, 1, header, whole.state, bytes)
    local ok, failure = pcall(info.lines, path)
    local is_told = mutate.is_told(failure)
    if not ok and not is_told then error(failure, 0) end
    if math.random(12) == 1 then        -- costs as much as 20 of the others
        small_run { restart = path, t_end = 0.025, out = folder .. '/a.nc',
            series = folder .. '/s.nc' }
    end
end

function mutate.kinds.tuned(folder)
    local path = folder .. '/tuned.json'
    trial.spit(path, mutated '[{"kernel":"march","scheme":"muscl_hancock","device":"opencl:0",'
        .. '"precision":"float","size":[512,512],"shape":{"W":4,"rows":8},"time":1.5},{"kernel":'
        .. '"mine","device":"x","size":[1],"shape":{"group":64}}]')
    local before = os.getenv 'MARE_TUNED'
    ffi.C.setenv('MARE_TUNED', path, 1)
    shapes.forget()
    local ok, failure = pcall(function()
        shapes.kept()
        shapes.lines()
        shapes.clear 'mine'
    end)
    ffi.C.setenv('MARE_TUNED', before or 'off', 1)
    shapes.forget()
    if not ok then error(failure, 0) end
end

function mutate.kinds.tuning(folder)
    local path = folder .. '/cache.json'
    local header = { device_name = 'd', kernel_name = 'k', problem_size = '1',
        tune_params_keys = { 'W' }, tune_params = { W = { 1, 2 } }, objective = 'time' }
    trial.spit(path, mutated '{"device_name":"d","kernel_name":"k","problem_size":"1",'
        .. '"tune_params_keys":["W"],"tune_params":{"W":[1,2]},"objective":"time","schema_version":'
        .. '"1.1.0","cache":{\n"1":{"W":1,"time":2.5,"timestamp":"x"},\n"2":{"W":2,"time":3}}}\n')
    results.open(path, header):release()
end

function mutate.kinds.gauges(folder)
    local path = folder .. '/gauges.csv'
    trial.spit(path, mutated('name,lat,lon,M2_amplitude_m,M2_phase_deg\nWick,58.4,-3.1,1.02,322\n'
        .. 'Lerwick,60.15,-1.14,0.58,312.5\n'))
    mare.gauges.read(path)
end

-- ---- NetCDF: dimensions, types and attributes that fit together otherwise ----

local function write_file(path, desc)
    os.remove(path)
    local file, ids, lengths = netcdf.create(path, path), {}, {}
    for _, d in ipairs(desc.dims) do
        ids[d[1]], lengths[d[1]] = file:define_dimension(d[1], d[2]), d[2]
    end
    for _, v in ipairs(desc.variables) do
        local dims = {}
        for k, name in ipairs(v.dims) do dims[k] = ids[name] end
        file:define_variable(v.name, v.type or 'double', dims)
        for name, value in pairs(v.attributes or {}) do
            file:put_attribute(v.name, name, value)
        end
    end
    file:end_definitions()
    for _, v in ipairs(desc.variables) do
        local total, start, count = 1, {}, {}
        for k, name in ipairs(v.dims) do
            start[k], count[k], total = 0, lengths[name], total * lengths[name]
        end
        if v.type ~= 'char' then
            local data = netcdf.doubles(math.max(1, total))
            for k = 0, total - 1 do data[k] = v.value(k) end
            file:put(v.name, start, count, data)
        end
    end
    file:close()
end

local function change_file(desc)
    for _ = 1, math.random(2) do
        local v, how = pick(desc.variables), math.random(7)
        if how == 1 then pick(desc.dims)[2] = pick { 1, 2, 3, 5, 9 }
        elseif how == 2 then table.remove(desc.variables, math.random(#desc.variables))
        elseif how == 3 then v.dims = { v.dims[2] or v.dims[1], v.dims[1], v.dims[3] }
        elseif how == 4 then table.remove(v.dims, math.random(#v.dims + 1))
        elseif how == 5 then v.type = pick { 'int', 'float', 'char' }
        elseif how == 6 then
            local odd = pick { 0 / 0, 1e300, -1e300, 0, -1 }
            v.value = function() return odd end
        else
            v.attributes[pick { 'units', 'scale_factor', 'add_offset', '_FillValue',
                'missing_value', 'calendar', 'standard_name' }] = pick { 'x', '', 0, -1, 1e300,
                { 1, 2 }, 'days since x', 'seconds since 2000-13-45', 'm s-1' }
        end
    end
end

-- Changes bytes of a file anywhere, and its length now and then.
local function damage(path, text)
    for _ = 1, math.random(4) do
        local at = math.random(#text)
        local stop = math.min(#text, at + math.random(0, 3))
        local bytes = text:sub(at, stop):gsub('.', function()
            return string.char(math.random(0, 255))
        end)
        text = text:sub(1, at - 1) .. bytes .. text:sub(stop + 1)
    end
    if math.random(8) == 1 then text = text:sub(1, math.random(#text)) end
    trial.spit(path, text)
end

local function variable(name, dims, units, value, more)
    local v = { name = name, dims = dims, attributes = { units = units }, value = value }
    for key, one in pairs(more or {}) do v.attributes[key] = one end
    return v
end

local function ramp(from, by) return function(k) return from + by * k end end

local function wind_of(folder)
    local path, along = folder .. '/wind.nc', { 'time', 'lat', 'lon' }
    return path, { dims = { { 'time', 3 }, { 'lat', 4 }, { 'lon', 5 } }, variables = {
        variable('time', { 'time' }, 'hours since 2000-01-01', ramp(0, 1)),
        variable('lat', { 'lat' }, 'degrees_north', ramp(50, 0.5)),
        variable('lon', { 'lon' }, 'degrees_east', ramp(0, 0.5)),
        variable('u10', along, 'm s-1', ramp(1, 0.1), { scale_factor = 2, add_offset = 1 }),
        variable('v10', along, 'm s-1', ramp(2, -0.1)),
        variable('depth', { 'lat', 'lon' }, 'm', ramp(20, 1)),
    } }
end

-- Has one of those that read any NetCDF file read it.
local function read_wind(path, folder)
    local readers = {
        function() info.lines(path) end,
        function() mare.basin { file = path } end,
        function()
            mare.weather { file = path, grid = mare.grid { nx = 4, ny = 4, x = { 0.5, 1.5 },
                y = { 50.5, 51 }, coordinates = 'spherical' } }
        end,
        function()
            require('mare.draw.plot').run(path, { '--out', folder .. '/p.png', '--time', 'last' })
        end,
    }
    pick(readers)()
end

function mutate.kinds.wind(folder)
    local path, desc = wind_of(folder)
    change_file(desc)
    write_file(path, desc)
    read_wind(path, folder)
end

-- The bytes of a NetCDF file, which HDF5 reads first.
function mutate.kinds.netcdf(folder)
    local path, desc = wind_of(folder)
    local whole = folder .. '/whole.nc'
    if not trial.slurp(whole) then write_file(whole, desc) end
    damage(path, trial.slurp(whole))
    read_wind(path, folder)
end

-- Compiled programs: a damaged one is compiled anew, and gives the same numbers. Those of a driver
-- with a cache of its own are not Mare's: then those of the null device.
function mutate.kinds.cache(folder)
    local before = os.getenv 'MARE_CACHE'
    ffi.C.setenv('MARE_CACHE', folder .. '/cache', 1)
    local ok, failure = pcall(function()
        local d = mare.device.open(trial.device)
        if d.info.keeps_programs then d = mare.device.open 'null:0' end
        local x = d:buffer { type = 'float', count = 64, label = 'x' }
        local function compute()
            x:fill(1)
            d:program { name = 'twice.krn', source = 'MR_KERNEL void twice(MR_GLOBAL real *x) '
                .. '{ x[mr_gid_x()] *= R(2.0); }' }:kernel 'twice':bind { x = x, global = 64 }:run()
            local expected = d.info.runs_kernels and 2 or 1
            if x:totable()[64] ~= expected then error 'wrong numbers' end
        end
        compute()
        local name = folder .. '/cache/' .. (trial.listing(folder .. '/cache'):match '%x+%.mare'
            or error 'nothing is kept')
        damage(name, trial.slurp(name))
        mare.device.cache.entries()
        compute()
    end)
    ffi.C.setenv('MARE_CACHE', before or 'off', 1)
    if not ok then error(failure, 0) end
end

function mutate.kinds.boundary(folder)
    local path = folder .. '/tide.csv'
    mutate.boundary = mutate.boundary
        or trial.slurp(require('bindings.home').root .. '/scenarios/data/north_sea_tide.csv')
    trial.spit(path, mutated(mutate.boundary))
    mare.basin { file = require('bindings.home').root
        .. '/scenarios/data/north_sea_bathymetry_etopo5.nc', boundary = path }
end

function mutate.kinds.roms(folder)
    local path, rho = folder .. '/roms.nc', { 'eta_rho', 'xi_rho' }
    local second = 'meter second-1'
    local desc = { dims = { { 'ocean_time', 2 }, { 's_rho', 4 }, { 's_w', 5 }, { 'eta_rho', 9 },
        { 'xi_rho', 8 }, { 'xi_u', 7 }, { 'eta_v', 8 }, { 'one', 1 } }, variables = {
        variable('ocean_time', { 'ocean_time' }, 'seconds since 2020-05-01 00:00:00',
            ramp(0, 3600)),
        variable('h', rho, 'meter', ramp(50, 0.5)),
        variable('mask_rho', rho, nil, function(k) return k % 7 > 0 and 1 or 0 end),
        variable('pm', rho, 'meter-1', function() return 1 / 800 end),
        variable('pn', rho, 'meter-1', function() return 1 / 1000 end),
        variable('angle', rho, 'radians', ramp(0, 0.01)),
        variable('lat_rho', rho, 'degree_north', ramp(60, 0.01)),
        variable('zeta', { 'ocean_time', 'eta_rho', 'xi_rho' }, 'meter', ramp(0, 0.01)),
        variable('u', { 'ocean_time', 's_rho', 'eta_rho', 'xi_u' }, second, ramp(0, 0.01)),
        variable('v', { 'ocean_time', 's_rho', 'eta_v', 'xi_rho' }, second, ramp(0, 0.01)),
        variable('s_w', { 's_w' }, nil, ramp(-1, 0.25)),
        variable('Cs_w', { 's_w' }, nil, ramp(-1, 0.25)),
        variable('hc', { 'one' }, 'meter', ramp(0, 0)),
        variable('Vtransform', { 'one' }, nil, ramp(2, 0)),
    } }
    change_file(desc)
    write_file(path, desc)
    local r = mare.roms { file = path }
    r.initial(3200, 4500)
end

-- ---- cases ----

-- Whether a failure is one that Mare tells, and none of Lua.
function mutate.is_told(failure)
    local text = type(failure) == 'table' and failure.message or tostring(failure)
    return not (text:find '%.lua:%d+:' or text:find 'attempt to' or text:find 'bad argument'
        or text:find 'stack overflow')
end

-- Returns nil, or what is wrong: an error of Lua, or more than five seconds.
function mutate.case(kind, folder)
    local unmute, started = events.mute(), os.clock()
    local ok, failure = pcall(mutate.kinds[kind], folder)
    unmute()
    if os.clock() - started > 5 then return 'took more than five seconds' end
    if not ok and not mutate.is_told(failure) then
        return type(failure) == 'table' and failure.message or tostring(failure)
    end
end

return mutate
