-- What a run writes: snapshots into one NetCDF file, and a picture at the end. Made before the
-- simulation, so that a path that cannot be written stops a run before it has cost anything.

local device = require 'bindings.device'
local errors = require 'bindings.errors'
local image = require 'mare.output.image'
local netcdf = require 'mare.output.netcdf'
local options = require 'mare.options'

local outputs = {}

local Outputs = {}
Outputs.__index = Outputs

-- The scheme's unknowns and what --variables adds to them, as the writer describes variables.
local function describe_variables(scheme, extra, precision)
    local known, listed, list, names = {}, {}, {}, {}
    for k, v in ipairs(scheme.variables) do
        known[v.name], names[k] = v, v.name
    end
    local function add(name)
        local v = known[name]
        if not v then
            errors.usage("option --variables: '%s' (allowed: %s)", name, table.concat(names, ', '))
        end
        if listed[name] then return end
        listed[name] = true
        list[#list + 1] = { name = name, type = precision, long_name = v.long_name,
            units = v.units }
    end
    for _, name in ipairs(scheme.fields) do add(name) end
    for name in (extra or ''):gmatch '[^,%s]+' do add(name) end
    return list
end

-- Everything a reader needs to run it again, beside the options.
local function attributes(desc, devices)
    local names = {}
    for k, d in ipairs(devices) do names[k] = string.format('%s (%s)', d.name, d.info.model) end
    local list = { device = table.concat(names, ', '), driver = devices[1].info.driver }
    for name, value in pairs(desc.scheme:parameters()) do list[name] = value end
    for side, kind in pairs(desc.boundaries) do list['boundary_' .. side] = kind end
    return list
end

local function option_values(o)
    local values = {}
    for _, option in ipairs(o:metadata()) do values[option.name] = option.value end
    return values
end

local function make_writer(desc, devices)
    local o = desc.options
    return netcdf.writer {
        path = o.out, grid = desc.grid, title = desc.title, source = 'Mare ' .. device.version,
        command = options.program .. ' ' .. table.concat(options.source, ' '),
        variables = describe_variables(desc.scheme, o.variables, o.precision),
        attributes = attributes(desc, devices), options = option_values(o),
    }
end

-- desc: as for run.new, boundaries of exchange.boundaries
function outputs.new(desc, devices)
    local o = desc.options
    if o.image then image.check(o.image) end
    return setmetatable({
        desc = desc, image = o.image, writer = o.out and make_writer(desc, devices),
    }, Outputs)
end

function Outputs:write(sim)
    if self.writer then
        self.writer:write(sim.now.t, function(name) return sim:field(name) end)
    end
end

-- desc.picture: { variable = 'rho', label = 'density', colours =, range = }, function(sim, path)
-- or nil
local function draw(desc, sim, path)
    local g, picture = sim.grid, desc.picture or {}
    if type(picture) == 'function' then return picture(sim, path) end
    local variable = picture.variable or sim.scheme.fields[1]
    image.field {
        path = path, data = sim:field(variable), nx = g.nx, ny = g.ny, x = g.x, y = g.y,
        title = string.format('%s, t = %.3g', desc.title, sim.now.t), xlabel = 'x', ylabel = 'y',
        label = picture.label or variable, colours = picture.colours, range = picture.range,
    }
end

-- The run is complete. Returns the files there are now.
function Outputs:close(sim)
    local written = {}
    if self.writer then
        self.writer:close()
        written[1] = self.desc.options.out
    end
    if self.image then
        draw(self.desc, sim, self.image)
        written[#written + 1] = self.image
    end
    return written
end

-- Nothing of it stays.
function Outputs:abort()
    if self.writer then self.writer:abort() end
end

return outputs
