-- field.lua - makes an object of a variable of a simulation at one time: f:at(i, j), f:range(),
-- f:totable(), f:plot(), f:save 'f.png'. It holds its own numbers, [j * nx + i] from the south-west
-- corner, and stays as it is while the simulation goes on.

local errors = require 'bindings.errors'
local labels = require 'mare.draw.labels'
local memory = require 'bindings.memory'
local picture = require 'mare.draw.picture'
local draw = require 'mare.draw'
local raster = require 'mare.draw.raster'
local suggest = require 'bindings.suggest'
local tables = require 'bindings.tables'
local variables = require 'mare.base.variables'

local field = {}

local Field = {}
local meta = { __methods = Field, __names = function() return field.names end }

field.names = { 'name', 'data', 'nx', 'ny', 'count', 'type', 'device', 't', 'axes', 'title',
    'label' }

-- f[j * nx + i] is the number of cell (i, j), as f.data[j * nx + i] is.
function meta.__index(self, key)
    if type(key) == 'number' then return self.data[key] end
    if Field[key] or type(key) ~= 'string' or key:find '^_' then return Field[key] end
    errors.argument("a field has no '%s'%s", key, suggest(key, field.names))
end

function meta.__newindex(self, key)
    errors.argument("field '%s' is a frozen copy of one time: [%s] cannot be assigned; f:totable() "
        .. 'makes a Lua array to change', self.name, tostring(key))
end

-- Waits for the queued steps, and returns the field. sim: of simulation.new.
function field.of_simulation(sim, name)
    local variable = variables.find(sim.scheme, name, 'field: ')
    local grid, n = sim.grid, sim.grid.cells
    local data = sim:field(name):pointer()
    local frozen, own = memory.frozen(sim.precision, n, name)
    for k = 0, n - 1 do own[k] = data[k] end
    local axes = picture.axes(grid, sim.scheme)
    return setmetatable({
        name = name, data = frozen, nx = grid.nx, ny = grid.ny, count = n, type = sim.precision,
        device = table.concat(tables.column(sim.devices, 'name'), ', '), t = sim.now.t, axes = axes,
        title = labels.clock(picture.time_unit(sim.scheme), sim.now.t)(sim.now.t),
        label = labels.with_unit(variable.long_name or name, variable.units),
    }, meta)
end

-- Returns the value of cell (i, j), counted from 0 from the west and the south.
function Field:at(i, j)
    local function is_index(k, n) return type(k) == 'number' and k % 1 == 0 and k >= 0 and k < n end
    if not (is_index(i, self.nx) and is_index(j, self.ny)) then
        errors.argument("field '%s': cell (%s, %s), there are %d x %d, from 0", self.name,
            tostring(i), tostring(j), self.nx, self.ny)
    end
    return self.data[j * self.nx + i]
end

-- Returns the least and the greatest finite value; nothing where there is none.
function Field:range()
    return raster.range(self.data:pointer(), self.count)
end

-- Returns all values in one Lua array, row after row from the south.
function Field:totable()
    return self.data:totable()
end

-- Returns row j, from the west, as a Lua array; the middle one if none is given.
function Field:row(j)
    j = j or math.floor(self.ny / 2)
    local values = {}
    for i = 0, self.nx - 1 do values[i + 1] = tonumber(self:at(i, j)) end
    return values
end

-- Returns column i, from the south, as a Lua array; the middle one if none is given.
function Field:column(i)
    i = i or math.floor(self.nx / 2)
    local values = {}
    for j = 0, self.ny - 1 do values[j + 1] = tonumber(self:at(i, j)) end
    return values
end

local thin = 8      -- cells across which a field is a line

local function profile(self, spec)
    local along_x = self.ny <= self.nx
    local range = along_x and self.axes.x or self.axes.y
    local values = along_x and self:row() or self:column()
    local positions, width = {}, (range[2] - range[1]) / #values
    for k = 1, #values do positions[k] = range[1] + (k - 0.5) * width end
    return draw.lines { title = spec.title or self.name .. ', ' .. self.title,
        ylabel = spec.label or self.label, yrange = spec.range,
        xlabel = along_x and self.axes.xlabel or self.axes.ylabel,
        series = { { x = positions, y = values } } }
end

local function picture_of(self, spec)
    if math.min(self.nx, self.ny) <= thin and math.max(self.nx, self.ny) > 2 * thin then
        return profile(self, spec or {})
    end
    return draw.field(tables.merged({ data = self.data:pointer(),
        title = self.name .. ', ' .. self.title, label = self.label }, self.axes, spec))
end

-- Draws it in the terminal: colours, or a line where it is a few cells thin. spec: range, colours,
-- label and others as image.field takes them. Returns the picture.
function Field:plot(spec)
    return picture_of(self, spec):draw()
end

-- For notebooks, which show the picture.
function meta.__mime(self)
    return { ['image/png'] = picture_of(self):png() }
end

-- Draws it into a PNG file; spec as for plot.
function Field:save(path, spec)
    picture_of(self, spec):save(path)
    return self
end

local corner = { columns = 6, rows = 4 }

function meta:__tostring()
    local low, high = self:range()
    local lines = { ('%s (%s): %d x %d of %s from %s, %s'):format(self.name, self.label, self.nx,
        self.ny, self.type, self.device, self.title),
        low and ('range %.6g to %.6g; the south-west corner:'):format(low, high)
            or 'no finite value; the south-west corner:' }
    for j = math.min(corner.rows, self.ny) - 1, 0, -1 do
        local row = {}
        for i = 0, math.min(corner.columns, self.nx) - 1 do
            row[i + 1] = ('%10.5g'):format(self:at(i, j))
        end
        lines[#lines + 1] = table.concat(row, ' ') .. (self.nx > corner.columns and ' ...' or '')
    end
    return table.concat(lines, '\n')
end

for name in pairs(Field) do field.names[#field.names + 1] = name end

return field
