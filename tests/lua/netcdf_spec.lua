-- Tests the NetCDF binding and the CF writer: what is written reads back, and
-- no failure leaves half a file or damages an existing one.

local fails = require 'tests.fails'
local ffi = require 'ffi'
local files = require 'bindings.files'
local netcdf = require 'bindings.netcdf'
local output = require 'mare.files.netcdf'
local trial = require 'tests.scenarios.trial'

local nx, ny = 6, 4
local folder

local function slurp(path)
    local file = io.open(path, 'rb')
    local text = file and file:read '*a'
    if file then file:close() end
    return text
end

local function spit(path, text)
    local file = assert(io.open(path, 'wb'))
    file:write(text)
    file:close()
end

local function listing(path)
    local pipe = io.popen("ls -A '" .. path .. "'")
    local text = pipe:read '*a'
    pipe:close()
    return (text:gsub('\n', ' '))
end

local function run(command)
    local pipe = io.popen(command .. ' 2>&1; echo "status $?"')
    local text = pipe:read '*a'
    pipe:close()
    return tonumber(text:match 'status (%d+)%s*$'), text
end

local function spec(changes)
    local out = {
        path = folder .. '/run.nc', title = 'test', source = 'Mare 0', command = 'mare test.lua',
        grid = { nx = nx, ny = ny, x = { 0, 3 }, y = { -1, 1 } },
        variables = { { name = 'rho', type = 'float', long_name = 'mass density' },
                      { name = 'E', type = 'double', units = 'J m-3' } },
        attributes = { device = 'null', halves = { 0.5, 1.5 } },
        options = { nx = nx, ['t-end'] = 2.5, flux = 'hllc', quiet = true },
    }
    for name, value in pairs(changes or {}) do out[name] = value end
    return out
end

local function data(name, step)
    local type = name == 'rho' and 'float' or 'double'
    local values = ffi.new(type .. '[?]', nx * ny)
    for i = 0, nx * ny - 1 do values[i] = i + 100 * step + (name == 'E' and 1 / 3 or 0) end
    return values
end

local function write(writer, steps)
    for step = 0, steps - 1 do
        writer:write(0.25 * step, function(name) return data(name, step) end)
    end
end

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir '" .. folder .. "'") == 0)
end)

after_each(function()
    os.execute("rm -r '" .. folder .. "'")
end)

describe('the CF writer', function()
    it('writes what reads back', function()
        local writer = output.writer(spec())
        write(writer, 3)
        assert.is_nil(slurp(folder .. '/run.nc'))
        writer:close()
        assert.equal('run.nc ', listing(folder))
        local file = netcdf.open(folder .. '/run.nc')
        assert.same({ time = 3, y = ny, x = nx }, file:dimensions())
        for step = 0, 2 do
            for _, name in ipairs { 'rho', 'E' } do
                local found = file:get(name, { step, 0, 0 }, { 1, ny, nx })
                local wanted = data(name, step)
                for i = 0, nx * ny - 1 do assert.equal(wanted[i], found[i]) end
            end
        end
        file:close()
    end)

    it('puts the coordinates at cell centres', function()
        local writer = output.writer(spec())
        write(writer, 2)
        writer:close()
        local file = netcdf.open(folder .. '/run.nc')
        local x, y, t = file:get 'x', file:get 'y', file:get 'time'
        assert.equal(0.25, x[0])
        assert.equal(2.75, x[nx - 1])
        assert.equal(-0.75, y[0])
        assert.equal(0.25, t[1])
        file:close()
    end)

    it('records attributes and options', function()
        local writer = output.writer(spec())
        write(writer, 1)
        writer:close()
        local file = netcdf.open(folder .. '/run.nc')
        local all = file:attributes()
        assert.equal('CF-1.8', all.Conventions)
        assert.equal('test', all.title)
        assert.truthy(all.history:find '^%d+%-%d+%-%d+T[%d:]+Z mare test.lua$')
        assert.same({ 0.5, 1.5 }, all.halves)
        assert.equal(2.5, all.option_t_end)
        assert.equal(nx, all.option_nx)
        assert.equal('hllc', all.option_flux)
        assert.equal('true', all.option_quiet)
        assert.equal('mass density', file:attributes('rho').long_name)
        assert.equal('J m-3', file:attributes('E').units)
        assert.equal('float', file:variable('rho').type)
        assert.same({ 'time', 'y', 'x' }, file:variable('rho').dimensions)
        file:close()
    end)

    it('has longitude and latitude where the grid has', function()
        local writer = output.writer(spec { grid = { nx = nx, ny = ny, x = { 0, 3 }, y = { -1, 1 },
            coordinates = 'longitude-latitude' }, space_units = 'm' })
        write(writer, 1)
        writer:close()
        local file = netcdf.open(folder .. '/run.nc')
        assert.same({ 'time', 'latitude', 'longitude' }, file:variable('rho').dimensions)
        assert.same({ units = 'degrees_east', standard_name = 'longitude',
            long_name = 'longitude of the cell centre' }, file:attributes 'longitude')
        assert.equal('degrees_north', file:attributes('latitude').units)
        assert.equal(-0.75, file:get('latitude', { 0 }, { 1 })[0])
        file:close()
    end)

    it('counts time from a date where there is one, else plainly', function()
        local function time(changes)
            local writer = output.writer(spec(changes))
            write(writer, 1)
            writer:close()
            local file = netcdf.open(folder .. '/run.nc')
            local found = file:attributes 'time'
            file:close()
            return { found.units, found.standard_name, found.calendar, found.comment }
        end
        assert.same({}, time {})
        assert.same({ 's' }, time { time_units = 's' })
        assert.same({ 'seconds since 2000-01-01 00:00:00', 'time', 'standard',
            'the date is arbitrary' }, time { time_units = 's', has_dates = true })
        assert.same({ 'hours since 2011-03-11 05:46:24', 'time', 'standard' },
            time { time_units = 'h', epoch = '2011-03-11 05:46:24' })
    end)

    it('compresses without changing a bit', function()
        local writer = output.writer(spec { deflate = 4 })
        write(writer, 2)
        writer:close()
        local file = netcdf.open(folder .. '/run.nc')
        local found, wanted = file:get('E', { 1, 0, 0 }, { 1, ny, nx }), data('E', 1)
        for i = 0, nx * ny - 1 do assert.equal(wanted[i], found[i]) end
        file:close()
    end)

    it('keeps memory flat over many writes', function()
        local writer = output.writer(spec())
        local values = { rho = data('rho', 0), E = data('E', 0) }
        local function get(name) return values[name] end
        local function resident()
            return tonumber(slurp '/proc/self/statm':match '^%d+ (%d+)') * 4
        end
        for step = 1, 500 do writer:write(step, get) end
        collectgarbage()
        local lua, all = collectgarbage 'count', resident()
        for step = 501, 2500 do writer:write(step, get) end
        collectgarbage()
        assert.is_true(collectgarbage 'count' - lua < 64, 'Lua grew')
        assert.is_true(resident() - all < 4096, 'the process grew')
        writer:abort()
    end)
end)

-- Fields of whole pages, which HDF5 only finds a place for.
describe('large fields', function()
    local wide, high = 1024, 1536       -- two chunks each
    local bytes = wide * high * 4

    local function large(changes)
        local out = spec { grid = { nx = wide, ny = high, x = { 0, 1 }, y = { 0, 1 } },
            owner = 'a1', variables = { { name = 'rho', type = 'float' },
                { name = 'p', type = 'float' } } }
        for name, value in pairs(changes or {}) do out[name] = value end
        return out
    end

    -- A pointer `shift` bytes after the start of a page, and what keeps it.
    local function values(step, shift)
        local memory = ffi.new('char[?]', 2 * bytes + 8192)
        local address = tonumber(ffi.cast('intptr_t', memory))
        local cells = ffi.cast('float *', memory + (-address % 4096) + (shift or 0))
        for i = 0, 2 * wide * high - 1 do cells[i] = i % 1021 + 0.5 * step end
        return cells, memory
    end

    local function put(writer, step, shift)
        local cells, memory = values(step, shift)
        writer:write(step, function(name) return name == 'p' and cells + wide * high or cells end)
        return memory
    end

    -- What such a writer leaves, byte for byte but for the index.
    local function contents(path)
        local file, all = netcdf.open(path), {}
        for step = 0, file:dimensions().time - 1 do
            for _, name in ipairs { 'rho', 'p' } do
                local cells, n = file:get(name, { step, 0, 0 }, { 1, high, wide })
                all[#all + 1] = ffi.string(ffi.cast('const char *', cells:pointer()), 4 * n)
            end
        end
        file:close()
        return all
    end

    local function expected(steps)
        local all = {}
        for step = 0, steps - 1 do
            local cells, memory = values(step)
            for k = 0, 1 do
                all[#all + 1] = ffi.string(ffi.cast('char *', cells) + k * bytes, bytes)
            end
            assert(memory)
        end
        return all
    end

    local function check(steps)
        local found, wanted = contents(folder .. '/run.nc'), expected(steps)
        assert.equal(#wanted, #found)
        for k = 1, #wanted do assert.is_true(wanted[k] == found[k], 'field ' .. k) end
    end

    -- f(pieces) instead of the writer's own way to the disk, or after it.
    local function intercept(name, f)
        local probe = files.temporary(folder .. '/probe')
        local Temporary = getmetatable(probe)
        local own = Temporary[name]
        probe:discard()
        Temporary[name] = function(...) return f(own, ...) end
        finally(function() Temporary[name] = own end)
    end

    it('go past HDF5, chunk by chunk to the start of a page', function()
        local count, at = 0, {}
        intercept('place', function(own, self, pieces)
            count = count + #pieces
            for _, p in ipairs(pieces) do at[#at + 1] = p.offset % 4096 end
            return own(self, pieces)
        end)
        local writer = output.writer(large())
        if not writer.index then pending 'no way past the page cache here' end
        for step = 0, 2 do put(writer, step) end
        writer:close()
        assert.equal(12, count)
        for _, offset in ipairs(at) do assert.equal(0, offset) end
        check(3)
    end)

    it('are the same from memory that begins anywhere', function()
        local writer = output.writer(large())
        for step = 0, 1 do put(writer, step, 4 + 60 * step) end
        writer:close()
        check(2)
    end)

    it('are the same where there is no way past the page cache', function()
        intercept('has_direct', function() return false end)
        local writer = output.writer(large())
        assert.is_nil(writer.index)
        for step = 0, 1 do put(writer, step) end
        writer:close()
        check(2)
    end)

    it('are left to HDF5 where it fills them first, with missing values', function()
        local writer = output.writer(large { variables = { { name = 'rho', type = 'float' },
            { name = 'p', type = 'float', missing = -1 } } })
        assert.is_nil(writer.index)
        put(writer, 0)
        writer:close()
        check(1)
    end)

    it('are converted and compressed by HDF5', function()
        intercept('place', function(own, self, pieces)
            assert.equal(0, #pieces)
            return own(self, pieces)
        end)
        local packed = output.writer(large { deflate = 1 })
        put(packed, 0)
        packed:close()
        check(1)
        local writer = output.writer(large())
        local cells = ffi.new('double[?]', wide * high, 1.5)
        writer:write(0, function() return cells end)
        writer:close()
        local file = netcdf.open(folder .. '/run.nc')
        assert.equal(1.5, file:get('p', { 0, 9, 9 }, { 1, 1, 1 })[0])
        file:close()
    end)

    it('are there in a file that is gone on with', function()
        local writer = output.writer(large())
        for step = 0, 1 do put(writer, step) end
        local position = writer:seal()
        writer:keep()
        put(writer, 2, 64)
        writer:abort()
        writer = output.resume(large(), position)
        for step = 2, 3 do put(writer, step) end
        writer:seal()
        writer:keep()
        writer:close()
        assert.equal('run.nc ', listing(folder))
        check(4)
    end)
end)

describe('a file that is gone on with', function()
    -- HDF5 1.10.8 crashed on closing files with such a history, see netcdf.create.
    it('may get longer attributes each time', function()
        for _, lines in ipairs { 128, 146, 164 } do
            local many = { run_id = 'a1', scenario_text = ('a line of a scenario.\n'):rep(lines) }
            for k = 1, 30 do many['number_' .. k] = k + 0.5 end
            local described = spec { attributes = many, owner = 'a1',
                command = 'mare ' .. ('x'):rep(190) }
            local writer = output.writer(described)
            write(writer, 1)
            for k = 1, 8 do
                local position = writer:seal()
                writer:keep()
                writer:abort()
                writer = output.resume(described, position)
                writer:write(k, function(name) return data(name, k) end)
            end
            writer:close()
            local file = netcdf.open(folder .. '/run.nc')
            local found = file:attributes()
            assert.equal(many.scenario_text, found.scenario_text)
            assert.equal(9, select(2, found.history:gsub('mare x+', '')))
            assert.equal(9, file:dimensions().time)
            file:close()
        end
    end)
end)

describe('a failing run', function()
    it('keeps the existing file and removes its own', function()
        spit(folder .. '/run.nc', 'old')
        local writer = output.writer(spec())
        write(writer, 1)
        writer:abort()
        writer:abort()
        assert.equal('old', slurp(folder .. '/run.nc'))
        assert.equal('run.nc ', listing(folder))
        assert.error_matches(function() write(writer, 1) end, 'run%.nc: is closed')
    end)

    it('replaces the existing file only when it closes', function()
        spit(folder .. '/run.nc', 'old')
        local writer = output.writer(spec())
        write(writer, 1)
        assert.equal('old', slurp(folder .. '/run.nc'))
        writer:close()
        writer:abort()
        assert.truthy(slurp(folder .. '/run.nc'):find '^\137HDF')
        assert.equal('run.nc ', listing(folder))
    end)

    it('leaves nothing when the writer is simply dropped', function()
        write(output.writer(spec()), 1)
        collectgarbage()
        collectgarbage()
        assert.equal('', listing(folder))
    end)

    it('passes on an error of the caller and cleans up', function()
        local writer = output.writer(spec())
        assert.error_matches(function()
            writer:write(0, function() error 'device lost' end)
        end, 'device lost')
        assert.equal('', listing(folder))
    end)

    it('names the variable whose data are too short or of a wrong type', function()
        local short, odd = output.writer(spec()), output.writer(spec())
        assert.error_matches(function()
            short:write(0, function() return ffi.new('float[?]', nx * ny - 1) end)
        end, 'run%.nc: variable rho: 23 values given, 24 needed')
        for _, given in ipairs { 'text', { 1, 2 } } do
            local none = output.writer(spec())
            assert.error_matches(function() none:write(0, function() return given end) end,
                'run%.nc: variable rho: data of type ' .. type(given))
        end
        assert.error_matches(function()
            odd:write(0, function() return ffi.new('int16_t[?]', nx * ny) end)
        end, 'run%.nc: variable rho: data of type .*, must be float, double or int')
        assert.equal('', listing(folder))
    end)

    it('refuses a time that does not advance', function()
        local writer = output.writer(spec())
        write(writer, 2)
        fails(function() write(writer, 1) end, nil, 'time 0', 'after 0.25', 'does', 'come')
    end)
end)

describe('a bad request', function()
    local function refused(changes, pattern)
        assert.error_matches(function() output.writer(spec(changes)) end, pattern)
        assert.equal('', listing(folder))
    end

    it('is refused with its reason, and writes nothing', function()
        refused({ path = folder }, 'is a folder')
        refused({ path = folder .. '/none/run.nc' }, 'cannot write into its folder: No such file')
        refused({ path = '' }, 'a file name is needed')
        refused({ path = '/dev/null' }, 'exists and is not an ordinary file')
        refused({ variables = {} }, 'no variables')
        refused({ variables = { { name = 'x', type = 'float' } } },
            'x: a coordinate of the file is called so')
        refused({ variables = { { name = 'a b', type = 'float' } } }, 'name a b, must be letters')
        refused({ variables = { { name = 'rho', type = 'half' } } }, 'type half, must be float or')
        refused({ attributes = { a = {} } }, 'attribute a: neither text nor numbers')
        refused({ options = { f = print } }, 'attribute option_f: neither text nor numbers')
        refused({ deflate = 10 }, 'deflate = 10, must be 0 to 9')
        refused({ grid = { nx = 0, ny = 1, x = { 0, 1 }, y = { 0, 1 } } }, 'nx = 0, must be')
    end)

    it('tells that a folder is not writable', function()
        local path = '/proc/run.nc'        -- nobody can create files there, not even root
        fails(function() files.check(path) end, nil, 'cannot write', '/proc/run.nc', 'into',
            'folder')
    end)

    it('tells what to install when the library is missing', function()
        assert.error_matches(function() netcdf.load { 'libnetcdf-missing.so' } end,
            'NetCDF%-C was not found .*libnetcdf%-missing%.so.* libnetcdf%-dev')
        netcdf.load()
    end)

    it('names the file and the reason when a file cannot be read', function()
        assert.error_matches(function() netcdf.open(folder .. '/none.nc') end,
            'none%.nc: .*no such')
        spit(folder .. '/text.nc', 'this is no NetCDF file')
        assert.error_matches(function() netcdf.open(folder .. '/text.nc') end,
            'text%.nc: open: NetCDF: Unknown file format')
    end)
end)

describe('a full disk', function()
    local tiny

    before_each(function()
        tiny = folder .. '/tiny'
        os.execute("mkdir '" .. tiny .. "'")
        if run("mount -t tmpfs -o size=1m tmpfs '" .. tiny .. "'") ~= 0 then
            pending 'a tmpfs cannot be mounted here (needs root)'
        end
    end)

    after_each(function()
        run("umount -l '" .. tiny .. "'")
    end)

    local function fill(writer)
        for step = 0, 10000 do writer:write(step, function(name) return data(name, step) end) end
    end

    it('stops the run with a message and costs no file', function()
        spit(tiny .. '/run.nc', 'old')
        local writer = output.writer(spec { path = tiny .. '/run.nc' })
        fails(function() fill(writer) end, nil, 'no room', 'No space', 'run.nc', 'for 0.1', 'MiB',
            'device')
        assert.equal('old', slurp(tiny .. '/run.nc'))
        assert.equal('run.nc ', listing(tiny))
    end)

    it('is noticed before the run when not even one record fits', function()
        local large = { nx = 1000, ny = 1000, x = { 0, 1 }, y = { 0, 1 } }
        assert.error_matches(function()
            output.writer(spec { path = tiny .. '/run.nc', grid = large })
        end, 'run%.nc: no room for 11%.7 MiB more')
        assert.equal('', listing(tiny))
    end)

    it('is survived where the file system cannot reserve room', function()
        local probe = files.temporary(tiny .. '/probe')
        local Temporary = getmetatable(probe)
        local reserve = Temporary.reserve
        probe:discard()
        Temporary.reserve = function() end
        finally(function() Temporary.reserve = reserve end)
        local writer = output.writer(spec { path = tiny .. '/run.nc' })
        fails(function() fill(writer) end, nil, 'No space', 'run.nc', 'left', 'device')
        assert.equal('', listing(tiny))
        local values = ffi.new('double[?]', 256 * 128)
        local room = output.writer(spec { path = tiny .. '/run.nc', variables = {
            { name = 'E', type = 'double' } },
            grid = { nx = 256, ny = 128, x = { 0, 1 }, y = { 0, 1 } } })
        fails(function()
            for step = 0, 9 do room:write(step, function() return values end) end
        end, nil, 'cannot be', 'No space', 'run.nc', 'written', 'device')
        assert.equal('', listing(tiny))
    end)
end)

describe('other programs', function()
    local function have(command)
        if run(command) ~= 0 then pending('needs ' .. command) end
    end

    local function written(changes)
        local writer = output.writer(spec(changes))
        write(writer, 3)
        writer:close()
        return folder .. '/run.nc'
    end

    it('ncdump reads the file', function()
        have 'command -v ncdump'
        local status, text = run('ncdump -v time,rho ' .. written())
        assert.equal(0, status, text)
        assert.truthy(text:find('time = 0, 0.25, 0.5', 1, true), text)
        assert.truthy(text:find('  218, 219, 220, 221, 222, 223 ;', 1, true), text)
    end)

    it('xarray reads the file, the dates too', function()
        local python3 = trial.python 'xarray, netCDF4'
            or pending 'needs Python with xarray and netCDF4'
        spit(folder .. '/read.py', [[
import sys, xarray
d = xarray.open_dataset(sys.argv[1])
assert str(d.time.values[2]) == '2011-03-11T05:46:24.500000000', d.time
print(d.rho.sel(time='2011-03-11T05:46:24.5').isel(x=1, y=0).item(), d.E.attrs['units'])
]])
        local status, text = run(python3 .. ' ' .. folder .. '/read.py '
            .. written { time_units = 's', epoch = '2011-03-11 05:46:24' })
        assert.equal(0, status, text)
        assert.truthy(text:find('201.0 J m-3', 1, true), text)
    end)

    it('cdo reads the file', function()
        have 'cdo --version'
        local path = written()
        local status, text = run('cdo sinfo ' .. path)
        assert.equal(0, status, text)
        assert.truthy(text:find('points=24 (6x4)', 1, true), text)
        assert.is_nil(text:lower():find 'warning' or text:find 'Unsupported', text)
        status, text = run('cdo -s output -seltimestep,3 -selname,rho ' .. path)
        assert.equal(0, status, text)
        assert.truthy(text:find '%f[%d]223%f[%D]', text)
        assert.truthy(text:find '%f[%d]200%f[%D]', text)
    end)

    it('a CF checker has nothing against it', function()
        have 'command -v compliance-checker'
        local spherical = { nx = nx, ny = ny, x = { 10, 16 }, y = { -1, 1 },
            coordinates = 'longitude-latitude' }
        local paths = ''
        for k, changes in ipairs { { has_dates = true },
            { time_units = 's', space_units = 'm', has_dates = true },
            { time_units = 's', epoch = '2011-03-11 05:46:24', grid = spherical } } do
            local path = folder .. '/' .. k .. '.nc'
            assert(os.rename(written(changes), path))
            paths = paths .. ' ' .. path
        end
        local status, text = run('compliance-checker --test cf:1.8' .. paths)
        assert.equal(0, status, text)
        assert.equal(3, select(2, text:gsub('All tests passed', '')), text)
    end)

    it('a CF checker misses nothing in it but the dates that a problem may not have', function()
        have 'command -v compliance-checker'
        local _, text = run('compliance-checker --test cf:1.8 ' .. written { time_units = 's' })
        assert.truthy(text:find('cf:1.8', 1, true), text)
        for complaint in text:gmatch '\n%* ([^\n]*)' do
            assert.matches("^Coordinate variable 'time' should have standard_name", complaint)
        end
    end)
end)
