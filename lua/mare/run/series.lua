-- Takes the time series of a run: the values at gauges and the integrals of its scheme, every T of
-- model time or every N steps. They are few, so that they are kept in memory until the end, and in
-- every checkpoint: what a run that goes on appends neither repeats a time nor loses one. A sample
-- is fetched from the device when the next is taken; nothing waits for it.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local here = require 'mare.ranks.here'
local integrals = require 'mare.array.integrals'
local literal = require 'mare.base.literal'
local ndarray = require 'mare.ndarray'
local schedule = require 'mare.base.schedule'
local snapshot = require 'mare.array.snapshot'
local tables = require 'bindings.tables'
local variables = require 'mare.base.variables'
local writer = require 'mare.files.series'

local series = {}

local Series = {}
Series.__index = Series

-- ---- what to sample ----

-- What a series takes of a simulation on a plane; volume/samples.lua has the same in space.
local plane = { axes = { 'x', 'y' }, find = variables.find, sums = integrals.new }

-- Returns the cell that holds a place, and the centre of that.
function plane.locate(grid, at)
    local i, j = grid:cell(at.x, at.y)
    return { i = i, j = j, x = grid:x_centre(i), y = grid:y_centre(j) }
end

function plane.points(sim, names, gauges)
    local points = {}
    for k, gauge in ipairs(gauges) do points[k] = { gauge.i, gauge.j } end
    return snapshot.new(sim, { variables = names, points = points, everywhere = true })
end

-- "harbour:0.5,0.25;0.7,0.1" -> gauges, unnamed ones with their number as name
local function parse(text, axes)
    local list, names = {}, table.concat(axes, ','):upper()
    local function refuse()
        errors.usage("option --gauges: '%s' (allowed: NAME:%s;%s;...)", text, names, names)
    end
    for entry in text:gmatch '[^;]+' do
        local name, numbers = entry:match '^%s*([^:,]-):?([^:]+)$'
        local gauge, count = { name = name ~= '' and name or tostring(#list + 1) }, 0
        for word in (numbers or ''):gmatch '[^,]+' do
            count = count + 1
            gauge[axes[count] or 'beyond'] = tonumber(word) or refuse()
        end
        if count ~= #axes then refuse() end
        list[#list + 1] = gauge
    end
    return list[1] and list or refuse()
end

-- Returns the gauges that a script lists, or that are the rows of an array.
local function gauges_of(given, axes)
    if not ndarray.is(given) then return errors.wanted('gauges', 'table', given or {}) end
    local shape, list = given.shape, {}
    if #shape ~= 2 or shape[2] ~= #axes or given.type:find 'complex' then
        errors.argument('gauges: the array is %s %s: %s of each, { n, %d }, are wanted',
            given.type, tostring(shape), table.concat(axes, ' and '), #axes)
    end
    for k, row in ipairs(given:double():totable()) do
        list[k] = { x = row[1], y = row[2], z = row[3] }
    end
    return list
end

-- Refuses a gauge that lies not within the grid.
local function check_place(grid, axes, name, gauge)
    local places, ranges, is_within = {}, {}, true
    for k, axis in ipairs(axes) do
        local at, range = gauge[axis] or 0 / 0, grid[axis]
        is_within = is_within and at >= range[1] and at <= range[2]
        places[k], ranges[k] = ('%g'):format(at), ('%g to %g'):format(range[1], range[2])
    end
    if is_within then return end
    errors.argument("gauge '%s' at (%s), must be within %s", name, table.concat(places, ', '),
        table.concat(ranges, ', '))
end

-- Returns the cell of each gauge, and where that has its centre.
local function place(grid, list, space)
    local placed, taken, fields = {}, {}, { name = 'string' }
    for _, axis in ipairs(space.axes) do fields[axis] = 'number' end
    for k, gauge in ipairs(list) do
        errors.fields('gauge ' .. k, gauge, fields)
        local name = gauge.name or tostring(k)
        if taken[name] then errors.argument("gauges: two are called '%s'", name) end
        check_place(grid, space.axes, name, gauge)
        taken[name], placed[k] = true, space.locate(grid, gauge)
        placed[k].name = name
    end
    return placed
end

-- Returns the variables at gauges: those listed, or the unknowns and what --variables adds.
local function variables_of(desc, listed, find)
    local names, list, seen = {}, {}, {}
    for _, name in ipairs(listed or desc.scheme.fields) do names[#names + 1] = name end
    local more = not listed and desc.options.variables or ''
    for name in more:gmatch '[^,%s]+' do names[#names + 1] = name end
    for _, name in ipairs(names) do
        if not seen[name] then list[#list + 1] = find(desc.scheme, name, 'series: ') end
        seen[name] = true
    end
    return list
end

local series_fields = {
    path = 'string', every = 'number', steps = 'number', times = 'table', variables = 'table',
}

-- Returns what a script asks for, less what the command line says otherwise; nil where nobody asks.
local function wanted(desc, space)
    local o, script = desc.options, desc.series
    if script then errors.fields('series', script, series_fields) end
    local every, steps = o.series_every, o.series_steps
    if not (o.series or script or every or steps) then
        if o.gauges then errors.usage 'option --gauges wants --series FILE' end
        return nil
    end
    script = script or {}
    local when = (every or steps) and { every = every, steps = steps } or script
    return {
        path = o.series or script.path,
        variables = variables_of(desc, script.variables, space.find),
        schedule = schedule.new { t_end = o.t_end, every = when.every, steps = when.steps,
            times = when.times },
        gauges = o.gauges and errors.option('gauges', place, desc.grid,
                parse(o.gauges, space.axes), space)
            or place(desc.grid, gauges_of(desc.gauges, space.axes), space),
    }
end

-- ---- rows kept as texts, for checkpoints ----

local function encode(row)
    local words = {}
    for k, value in ipairs(row) do words[k] = string.format('%.17g', value) end
    return table.concat(words, ' ')
end

local function decode(line)
    local row = {}
    for word in line:gmatch '%S+' do row[#row + 1] = tonumber(word) end
    return row
end

local function recall(self, earlier)
    if earlier.shape ~= self.shape then
        errors.usage 'series: the run to be continued had other gauges, variables or integrals'
    end
    local columns = 1 + #self.integrals + #self.variables * #self.gauges
    for line in earlier.rows:gmatch '[^\n]+' do
        local row = decode(line)
        if #row ~= columns then
            errors.usage('series: a row of the checkpoint has %d values, must have %d', #row,
                columns)
        end
        self.rows[#self.rows + 1], self.texts[#self.texts + 1] = row, line
        self.last = row[1]
    end
end

-- Refuses integrals of what there is not, and those called like a variable at gauges: both would be
-- one variable of the file.
local function check_integrals(self, scheme)
    local taken = self.gauges[1] and tables.set(tables.column(self.variables, 'name')) or {}
    for _, integral in ipairs(self.integrals) do
        local name, of = integral.name, integral.variable
        if of then self.space.find(scheme, of, ("series: integral '%s': "):format(name)) end
        if taken[name] then
            errors.usage("series: an integral and a variable at gauges are called '%s'", name)
        end
    end
end

-- Makes the time series of a run. desc: as for run.new, with gauges = { { name =, x =, y = }, ... }
-- or an array of x and y, and series = { path, every, steps, times, variables = at the gauges },
-- all optional; earlier: what a checkpoint knows; space: as `plane` above, if not that. Nil where
-- there is nothing to sample.
function series.new(desc, earlier, space)
    space = space or plane
    local self = wanted(desc, space)
    if not self then return nil end
    self.space = space
    if desc.options.series then errors.option('series', files.check, self.path)
    elseif self.path then files.check(self.path) end
    self.integrals = desc.scheme.integrals or {}
    check_integrals(self, desc.scheme)
    self.rows, self.texts = {}, {}
    local names = { tables.column(self.integrals, 'name'), tables.column(self.variables, 'name'),
        {} }
    for k, gauge in ipairs(self.gauges) do
        names[3][k] = { gauge.name, gauge.i, gauge.j, gauge.k }
    end
    self.shape = literal.encode(names)
    if earlier then recall(self, earlier) end
    self.earlier = earlier
    return setmetatable(self, Series)
end

-- ---- samples ----

-- Takes the simulation that is sampled from now on.
function Series:attach(sim)
    self.points = self.gauges[1] and self.space.points(sim, tables.column(self.variables, 'name'),
        self.gauges)
    self.sums = self.integrals[1] and self.space.sums(sim, self.integrals)
    local known = self.sums and self.sums.accounts
    if known and self.earlier and self.earlier.accounts then
        known:load(decode(self.earlier.accounts))
    end
end

function Series:next_time(t) return self.schedule:next_time(t) end
function Series:next_step(n) return self.schedule:next_step(n) end
function Series:hits(t) return self.schedule:hits(t) end

-- Adds the sample that was taken last to the rows.
local function fetch(self)
    if not self.taken then return end
    local row = { self.taken }
    if self.sums then self.sums:fetch(row) end
    if self.points then
        local data = self.points:wait(1)
        for k = 0, #self.variables * #self.gauges - 1 do row[#row + 1] = data[k] end
    end
    self.rows[#self.rows + 1], self.texts[#self.texts + 1] = row, encode(row)
    self.taken = nil
end

local function take(self, sim)
    if self.last == sim.now.t then return end
    fetch(self)
    if self.sums then self.sums:take() end
    if self.points then self.points:take(1) end
    self.taken, self.last = sim.now.t, sim.now.t
end

-- Takes a sample if one is due and not yet taken at this time.
function Series:write(sim)
    if self.schedule:due(sim.now.t, sim.now.steps) then take(self, sim) end
end

-- Returns what a checkpoint keeps.
function Series:save()
    fetch(self)
    local known = self.sums and self.sums.accounts
    if known then known:take() end
    return { shape = self.shape, rows = table.concat(self.texts, '\n'),
        accounts = known and encode(known:list()) or nil }
end

-- ---- the end ----

-- Returns { time = { ... }, NAME of an integral = { ... }, gauges = { NAME = { x, y, VARIABLE = {
-- ... } } } }: arrays of equal length; x, y (and z): the centre of the cell that a gauge is in.
function Series:arrays()
    fetch(self)
    local all, columns = { time = {}, gauges = {} }, {}
    columns[1] = all.time
    for _, integral in ipairs(self.integrals) do
        all[integral.name] = {}
        columns[#columns + 1] = all[integral.name]
    end
    for _, gauge in ipairs(self.gauges) do
        all.gauges[gauge.name] = { x = gauge.x, y = gauge.y, z = gauge.z }
    end
    for _, v in ipairs(self.variables) do
        for _, gauge in ipairs(self.gauges) do
            local column = {}
            all.gauges[gauge.name][v.name], columns[#columns + 1] = column, column
        end
    end
    for n, row in ipairs(self.rows) do
        for k, column in ipairs(columns) do column[n] = row[k] end
    end
    return all
end

-- Writes what there is into a file. spec: as for the CF writer, without variables.
function Series:put(spec)
    errors.on_disk(writer.write, spec, self, self:arrays())
end

-- Returns the path of a file that does not come to be after a failure, or nil.
function Series:lost()
    return self.last and not self.is_complete and self.path or nil
end

-- Writes the file of a run that is complete. Returns the arrays.
function Series:close(sim, describe)
    if self.schedule:wants_end() then take(self, sim) end
    if self.path and here.rank == 0 then self:put(describe(self.path, nil, {})) end
    self.is_complete = true
    return self:arrays()
end

return series
