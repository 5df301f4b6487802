-- The variables of a simulation as arrays of the whole grid on the host: unknowns are gathered
-- from the parts, the others computed from them. Methods of a simulation. An array holds nx * ny
-- numbers, x fastest, south first, in the simulation's precision, and is reused once the state
-- has moved on.

local errors = require 'bindings.errors'

local fields = {}

local function new_array(self)
    return self.members[1].device:host { type = self.precision, count = self.grid.cells }
end

-- Host copies of all unknowns, fetched at most once for each version of the state.
local function unknowns(self)
    local g = self.gathered or { version = -1 }
    self.gathered = g
    if g.version == self.version then return g end
    for k = 1, #self.scheme.fields do
        g[k] = g[k] or new_array(self)
        for _, s in ipairs(self.states) do s:download(k - 1, g[k], self.grid.nx) end
    end
    g.version = self.version
    return g
end

local function variable(self, name)
    local names = {}
    for k, v in ipairs(self.scheme.variables) do
        if v.name == name then return v, k end
        names[k] = v.name
    end
    errors.argument("no variable '%s' (there are: %s)", tostring(name), table.concat(names, ', '))
end

-- value(parameters, a, b, c, d) of every cell; four unknowns at most.
local function compute(out, value, gamma, a, b, c, d, count)
    for k = 0, count - 1 do out[k] = value(gamma, a[k], b[k], c[k], d[k]) end
end

-- A pointer to the array of a variable; valid until the next one that is computed, or the next
-- step.
function fields.field(self, name)
    local v, k = variable(self, name)
    local g = unknowns(self)
    if not v.value then return g[k].data end
    self.derived = self.derived or new_array(self)
    local last = g[#self.scheme.fields]
    compute(self.derived.data, v.value, self.scheme.gamma, g[1].data, (g[2] or last).data,
        (g[3] or last).data, (g[4] or last).data, self.grid.cells)
    return self.derived.data
end

-- Where and how the state is not one, in words, or nil if it is.
function fields.invalid(self)
    local g, grid = unknowns(self), self.grid
    for k = 0, grid.cells - 1 do
        local what = self.scheme:invalid(g[1].data[k], g[2].data[k], g[3].data[k], g[4].data[k])
        if what then
            local i, j = k % grid.nx, math.floor(k / grid.nx)
            return string.format('%s in cell (%d, %d) at x = %g, y = %g', what, i, j,
                grid:x_centre(i), grid:y_centre(j))
        end
    end
end

return fields
