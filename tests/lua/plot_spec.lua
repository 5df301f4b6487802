-- Tests `mare plot`: the picture of a file is the one that image.field draws of
-- the same numbers, and a refusal lists what can be plotted.

local fails = require 'tests.fails'
local home = require 'bindings.home'
local image = require 'mare.draw.image'
local lfs = require 'lfs'
local netcdf = require 'bindings.netcdf'
local output = require 'mare.files.netcdf'
local series = require 'mare.files.series'

local folder, path

local function slurp(name)
    local file = assert(io.open(folder .. '/' .. name, 'rb'))
    local text = file:read '*a'
    file:close()
    return text
end

local function listing()
    local list = {}
    for name in lfs.dir(folder) do
        if name ~= '.' and name ~= '..' and name ~= 'a.nc' then list[#list + 1] = name end
    end
    table.sort(list)
    return table.concat(list, ' ')
end

local function plot(words)
    local pipe = io.popen(string.format("cd '%s' && '%s' plot %s 2>&1; echo \"status $?\"", folder,
        home.launcher, words))
    local text = pipe:read '*a'
    pipe:close()
    return tonumber(text:match 'status (%d+)%s*$'), text
end

local function drawn(words)
    local status, text = plot(words)
    assert.equal(0, status, text)
end

local nx, ny = 24, 12

local function values(scale)
    local data = netcdf.doubles(nx * ny)
    for k = 0, nx * ny - 1 do data[k] = scale * (k % nx) + math.floor(k / nx) end
    return data
end

before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
    path = folder .. '/a.nc'
    local out = output.writer {
        path = path, grid = { nx = nx, ny = ny, x = { 0, 2 }, y = { -1, 1 } }, title = 'Waves',
        variables = { { name = 'h', type = 'double', long_name = 'depth', units = 'm' },
            { name = 'u', type = 'float', units = 'm s-1' } },
        space_units = 'm', time_units = 's',
    }
    for k = 1, 3 do
        out:write(k / 2, function(name) return values(name == 'h' and k or 0.1) end)
    end
    out:close()
end)

after_each(function() os.execute("rm -rf '" .. folder .. "'") end)

local function expected(changes)
    local spec = { path = folder .. '/expected.png', data = values(3), nx = nx, ny = ny,
        x = { 0, 2 }, y = { -1, 1 }, xlabel = 'x (m)', ylabel = 'y (m)', label = 'depth (m)',
        title = 'Waves, t = 1.5 s', width = 400 }
    for name, value in pairs(changes) do spec[name] = value end
    image.field(spec)
    return slurp 'expected.png'
end

describe('plotting a file', function()
    it('draws what it holds', function()
        drawn 'a.nc --width 400'
        assert.is_true(expected {} == slurp 'a.h.png')
        drawn 'a.nc --width=300 --var=u --range=0,20 --colours magma --out b.png --times 0.7'
        assert.is_true(expected { data = values(0.1), title = 'Waves, t = 0.5 s', width = 300,
            label = 'u (m s⁻¹)', range = { 0, 20 }, colours = 'magma' } == slurp 'b.png')
        drawn 'a.nc --width 400 --contours 5 --vectors h,u --out c.png'
        assert.is_true(expected { contours = 5,
            vectors = { u = values(3), v = values(0.1), unit = 'm' } } == slurp 'c.png')
        drawn 'a.nc --width 400 --contours-of u --contours 4 --out c.png'
        assert.is_true(expected { contours = 4, contour_data = values(0.1) } == slurp 'c.png')
        drawn 'a.nc --width 400 --contours 20,30.5 --out c.png'
        assert.is_true(expected { contours = { 20, 30.5 } } == slurp 'c.png')
    end)

    it('draws several times in one range', function()
        drawn 'a.nc --times 0.5,1.5 --width 400 --out t.png'
        local all = { 0, 3 * (nx - 1) + ny - 1 }
        assert.is_true(expected { range = all } == slurp 't-1.5.png')
        assert.is_true(expected { range = all, data = values(1), title = 'Waves, t = 0.5 s' }
            == slurp 't-0.5.png')
    end)

    it('makes films', function()
        drawn 'a.nc --times all --film a.gif --width 300 --contours-of u --vectors u,h'
        assert.equal('a.gif', listing())
        assert.equal(3, select(2, (slurp 'a.gif'):gsub('!\249\4', '')))
        drawn 'a.nc --times all --film a.apng --out p.png'
        assert.equal('a.apng a.gif p-0.5.png p-1.5.png p-1.png', listing())
    end)

    it('refuses what is not there', function()
        for words, message in pairs {
            [''] = 'plot: FILE.nc is missing',
            ['--var h'] = 'plot: FILE.nc is missing',
            ['none.nc'] = 'none.nc: there is no such file',
            ['a.nc --var rho'] = "a.nc: no variable 'rho' over y and x (there are: h, u)",
            ['a.nc --var time'] = "a.nc: no variable 'time' over y and x",
            ['a.nc --times 2'] = 'option --times: 2: a.nc is from 0.5 to 1.5',
            ['a.nc --times 0,1'] = 'option --times: 0: a.nc is from 0.5 to 1.5',
            ['a.nc --times soon'] = "option --times: 'soon' (allowed: numbers)",
            ['a.nc --times nan'] = "option --times: 'nan' (allowed: numbers)",
            ['a.nc --contours nan'] = "option --contours: 'nan' (allowed: numbers)",
            ['a.nc --contours 0'] = "option --contours: '0' (allowed: 1 to 200 lines)",
            ['a.nc --contours 100000'] = "option --contours: '100000' (allowed: 1 to 200 lines)",
            ['a.nc --range nan,2'] = "option --range: 'nan,2' (allowed: 2 numbers)",
            ['a.nc --range 2,1'] = "option --range: '2,1' (allowed: low,high)",
            ['a.nc --vectors u'] = "option --vectors: 'u' (allowed: two variables)",
            ['a.nc --vectors u,w'] = "a.nc: no variable 'w' over y and x (there are: h, u)",
            ['a.nc --contours-of w'] = "a.nc: no variable 'w' over y and x",
            ['a.nc --colours jet'] = 'cividis, diverging, grey, magma, viridis',
            ['a.nc --film a.avi'] = 'a.avi: a film ends in .mp4, .gif, .png or .apng',
            ['a.nc --out none/a.png'] = 'option --out: none/a.png',
            ['a.nc --size 7'] = "unknown option '--size'",
            ['a.nc b.nc'] = "'b.nc' is no option",
        } do
            local status, text = plot(words)
            assert.equal(2, status, words .. ': ' .. text)
            assert.truthy(text:find(message, 1, true), words .. ': ' .. text)
        end
        local file = io.open(folder .. '/text.nc', 'w')
        file:write 'no NetCDF'
        file:close()
        local status, text = plot 'text.nc'
        assert.equal(2, status)
        assert.truthy(text:find('text.nc: open: NetCDF: ', 1, true), text)
        assert.equal('text.nc', listing())
        local whole = slurp 'a.nc'
        file = io.open(folder .. '/a.nc', 'w')
        file:write(whole:sub(1, 600), ('x'):rep(#whole - 600))
        file:close()
        status, text = plot 'a.nc'
        assert.equal(2, status)
        assert.truthy(text:find('a.nc: open: NetCDF: HDF error', 1, true), text)
    end)

    it('reads other files that follow CF', function()
        local file = netcdf.create(folder .. '/other.nc')
        local lat, lon = file:define_dimension('lat', ny), file:define_dimension('lon', nx)
        file:define_variable('lat', 'float', { lat })
        file:define_variable('lon', 'float', { lon })
        file:put_attribute('lat', 'units', 'degrees_north')
        file:put_attribute('lon', 'units', 'degrees_east')
        file:define_variable('depth', 'int', { lat, lon })
        file:put_attribute('depth', 'scale_factor', 0.5)
        file:put_attribute('depth', 'add_offset', 10)
        file:put_attribute('depth', '_FillValue', -99)
        file:end_definitions()
        local x, y, packed, plain = netcdf.doubles(nx), netcdf.doubles(ny),
            netcdf.doubles(nx * ny), netcdf.doubles(nx * ny)
        for i = 0, nx - 1 do x[i] = -5 + (i + 0.5) / 4 end
        for j = 0, ny - 1 do y[j] = 60 - (j + 0.5) / 4 end          -- north first
        for k = 0, nx * ny - 1 do
            local j = math.floor(k / nx)
            packed[k] = k == 30 and -99 or k
            plain[(ny - 1 - j) * nx + k % nx] = k == 30 and 0 / 0 or 10 + 0.5 * k
        end
        file:put('lon', { 0 }, { nx }, x)
        file:put('lat', { 0 }, { ny }, y)
        file:put('depth', { 0, 0 }, { ny, nx }, packed)
        file:close()
        drawn 'other.nc --width 400'
        assert.is_true(expected { data = plain, x = { -5, 1 }, y = { 57, 60 }, title = 'other.nc',
            xlabel = 'longitude (°)', ylabel = 'latitude (°)', label = 'depth',
            missing = { colour = 0xb4aca0, label = 'no data' } } == slurp 'other.depth.png')
        local status, text = plot 'other.nc --film a.gif'
        assert.equal(2, status)
        fails.says(text, '--film', 'option', 'depth')
    end)

    it('draws the lines of a file of time series', function()
        local what = { integrals = { { name = 'mass', units = 'kg' } },
            variables = { { name = 'eta', long_name = 'elevation', units = 'm' } },
            gauges = { { name = 'Wick', x = 1, y = 0 }, { name = 'Immingham', x = 2, y = 0 } } }
        local arrays = { time = { 0, 3600, 7200 }, mass = { 5, 4, 3 },
            gauges = { Wick = { eta = { 1, 2, 3 } }, Immingham = { eta = { 0, -1, 0.5 } } } }
        series.write({ path = folder .. '/s.nc', title = 'Tide', grid = { nx = nx, ny = ny },
            space_units = 'm', time_units = 's' }, what, arrays)
        local told = table.concat(require 'mare.launcher.info'.lines(folder .. '/s.nc'), '\n')
        assert.matches('station_name char +Wick, Immingham  name of the gauge', told)
        local hours = { 0, 1, 2 }
        local function lines(label, list)
            image.lines { path = folder .. '/expected.png', title = 'Tide', xlabel = 't (h)',
                ylabel = label, width = 400, series = list }
            return slurp 'expected.png'
        end
        drawn 's.nc --width 400'
        assert.is_true(slurp 's.eta.png' == lines('elevation (m)', {
            { x = hours, y = { 1, 2, 3 }, label = 'Wick' },
            { x = hours, y = { 0, -1, 0.5 }, label = 'Immingham' } }))
        drawn 's.nc --width 400 --var mass --out m.png'
        assert.is_true(slurp 'm.png' == lines('mass (kg)', { { x = hours, y = { 5, 4, 3 } } }))
        for words, message in pairs {
            ['s.nc --film a.gif'] = 'option --film: eta is of time alone',
            ['s.nc --times 1'] = 'option --times: eta is drawn over time',
            ['s.nc --var h'] = "s.nc: no variable 'h' over y and x (there are: eta, mass)",
        } do
            local status, text = plot(words)
            assert.equal(2, status)
            assert.truthy(text:find(message, 1, true), text)
        end
    end)

    it('tells its options', function()
        local status, text = plot '--help'
        assert.equal(0, status)
        assert.truthy(text:find '%-%-vectors <TEXT>')
    end)
end)
