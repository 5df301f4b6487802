-- part.lua - what the specs of the kernels share: a small part on a device, its sweeps in any
-- shape, and back.

local bind = require 'mare.array.bind'
local device = require 'bindings.device'
local devices = require 'tests.devices'
local equation = require('mare.schemes.euler').equation
local source = require 'mare.base.source'

local part = {}

local Part = {}
Part.__index = Part

local halo, pad, tail = 2, 32, 256

-- Every device to test but null, opened once.
function part.devices()
    if not part.opened then
        part.opened = {}
        for _, info in ipairs(devices()) do
            if info.runs_kernels then
                part.opened[#part.opened + 1] = device.open(info.name)
            end
        end
    end
    return part.opened
end

-- Work-items of W columns in groups of GROUP, and strips of rows; any of them gives the same bits.
part.shapes = {
    { W = 8, GROUP = 1, strips = 2 },
    { W = 4, GROUP = 3, strips = 1 },
    { W = 1, GROUP = 8, strips = 5 },
}

-- { device, nx, ny, precision, gamma, dx, dy, cells = function(i, j) -> rho, rho u, rho v, E };
-- cells is also asked for ghost cells.
function part.new(desc)
    local self = setmetatable({}, Part)
    for key, value in pairs(desc) do self[key] = value end
    self.precision, self.gamma = self.precision or 'double', self.gamma or 1.4
    self.stride = math.ceil((pad + self.nx + halo) / 32) * 32
    self.plane = self.stride * (self.ny + 2 * halo)
    self.count = 4 * self.plane + 4 * self.stride + tail
    local function buffer(type, count)
        return self.device:buffer { type = type, count = count }
    end
    self.now, self.other = buffer(self.precision, self.count), buffer(self.precision, self.count)
    self.clock, self.maxima = buffer('double', 10), buffer(self.precision, 4096)
    self.maxima:fill(0)
    self.other:fill(0)
    self:upload(self.cells)
    return self
end

function Part:element(q, i, j)
    return (q - 1) * self.plane + (j + halo) * self.stride + pad + i
end

function Part:upload(cells)
    local data = {}
    for k = 1, self.count do data[k] = 0 end
    for j = -halo, self.ny + halo - 1 do
        for i = -halo, self.nx + halo - 1 do
            local values = { cells(i, j) }
            for q = 1, 4 do data[self:element(q, i, j) + 1] = values[q] end
        end
    end
    self.now:upload(data)
end

-- A function (q, i, j) that gives the present state.
function Part:values()
    local data = self.now:totable()
    return function(q, i, j) return data[self:element(q, i, j) + 1] end
end

local programs = {}

-- Compiled once per device and variant.
function part.program(device_handle, file, defines)
    local key = { device_handle.name, file }
    for name, value in pairs(defines) do key[#key + 1] = name .. '=' .. value end
    table.sort(key)
    key = table.concat(key, ' ')
    if not programs[key] then
        programs[key] = device_handle:program(file:find '^traverse/'
            and equation:program(file, { defines = defines, has_source = defines.SOURCES == 1 })
            or source.program(file, { defines = defines }))
    end
    return programs[key]
end

function part.defines(precision, shape, flux, limiter)
    return {
        MARE_REAL = precision, W = shape.W, GROUP = shape.GROUP,
        EQUATION = '"physics/euler/equation.h"', FLUX = ('"physics/euler/%s.h"'):format(flux),
        LIMITER = ('"physics/limiters/%s.h"'):format(limiter),
        THETA = limiter == 'minmod' and 'R(1.3)' or nil,
    }
end

local columns = { sweep_x_first = 0, sweep_x_last = 0, sweep_y_first = 34, sweep_y_last = 0 }

-- What the kernels ask for, but for buffers of the state; `values` come before all else.
function Part:arguments(values)
    local all = {
        clock = self.clock, nx = self.nx, ny = self.ny, stride = self.stride, plane = self.plane,
        inv_dx = 1 / self.dx, inv_dy = 1 / self.dy, south = 1, north = 1,
        k = { gamma = self.gamma, gravity = values and values.gravity or 0 },
        maxima = self.maxima, slot = 0, wraps = 0, ticks = 0,
    }
    for key, value in pairs(values or {}) do all[key] = value end
    return all
end

-- Runs one sweep by its kernel's name; `values` are further arguments.
function Part:sweep(name, shape, flux, limiter, values)
    local first = name:find '_first$'
    local file = ('traverse/%s.krn'):format(name:match '^sweep_%a')
    local defines = part.defines(self.precision, shape, flux, limiter)
    defines.SOURCES = values and values.gravity and 1 or 0
    local kernel = part.program(self.device, file, defines):kernel(name)
    local all = self:arguments(values)
    all.src, all.dst = first and self.now or self.other, first and self.other or self.now
    local items = math.ceil((self.nx + columns[name]) / shape.W)
    bind(kernel, all, { global = { items, shape.strips }, group = { shape.GROUP, 1 } }):run()
end

-- One step of length dt; order 'xy' or 'yx'.
function Part:advance(order, dt, shape, flux, limiter, values)
    self.clock:upload { 0, dt, 1e30, 0.4, 0, 0, 0, 0 }
    self:sweep(('sweep_%s_first'):format(order:sub(1, 1)), shape, flux, limiter, values)
    self:sweep(('sweep_%s_last'):format(order:sub(2, 2)), shape, flux, limiter, values)
end

-- How march.krn or tile.krn, which has TEAMS, is cut for a part: TEAM, GROUP, global size.
local function cut(self, shape)
    local shuffles = self.device.info.vendor:find 'NVIDIA'
    local team = shuffles and 32 or shape.GROUP
    if not shape.TEAMS then
        local group = shuffles and 64 or team
        return team, group, { shape.groups * group, 1 }
    end
    local group = shape.TEAMS * team
    return team, group, { math.ceil(self.nx / (team - 4)) * group,
        math.ceil(self.ny / (shape.TEAMS * shape.W - 4)) }
end

-- The same in one pass, from the present state to the other buffer, which becomes the present one.
-- shape: of march.krn { W, GROUP, DEPTH, groups }, where a group is a team, unless lanes can
-- shuffle; of tile.krn { W, GROUP, TEAMS }, where a team is so many, unless lanes can shuffle.
function Part:one_pass(order, dt, shape, flux, limiter, values)
    local defines = part.defines(self.precision, shape, flux, limiter)
    local team, group, global = cut(self, shape)
    defines.TEAM, defines.GROUP, defines.DEPTH = team, group, shape.DEPTH
    defines.SOURCES = values and values.gravity and 1 or 0
    self.clock:upload { 0, dt, 1e30, 0.4, 0, 0, 0, 0 }
    local name = shape.TEAMS and 'tile' or 'march'
    local kernel = part.program(self.device, ('traverse/%s.krn'):format(name), defines)
        :kernel(name .. '_' .. order:sub(1, 1))
    local all = self:arguments(values)
    all.src, all.dst = self.now, self.other
    bind(kernel, all, { group = { group, 1 }, global = global }):run()
    self.now, self.other = self.other, self.now
end

-- The largest of the maxima, or a NaN among them.
function Part:largest_rate()
    local largest = 0
    for _, rate in ipairs(self.maxima:totable()) do
        if rate ~= rate then return rate end
        largest = math.max(largest, rate)
    end
    return largest
end

function Part:measure(groups_x, groups_y, group)
    local defines = part.defines(self.precision, { W = 1, GROUP = group }, 'hll', 'none')
    local program = part.program(self.device, 'traverse/max_rate.krn', defines)
    self.maxima:fill(0)
    local values = self:arguments { src = self.now }
    bind(program:kernel 'max_rate', values, { global = { groups_x * group, groups_y },
        group = { group, 1 } }):run()
    return self:largest_rate()
end

return part
