-- Gives the variables of a simulation as arrays of the whole grid on the host: unknowns are
-- gathered from the parts, the others computed from them on the devices. Methods of a simulation,
-- which all ranks call, and get the same. An array holds nx * ny numbers, x fastest, south first,
-- in the simulation's precision, and is reused once the state has moved on.

local errors = require 'bindings.errors'
local snapshot = require 'mare.array.snapshot'
local variables = require 'mare.base.variables'

local host_fields = {}

-- Returns host copies of all unknowns, fetched at most once for each version of the state.
local function unknowns(self)
    local g = self.gathered or { version = -1 }
    self.gathered = g
    if g.version == self.version then return g end
    self:find_state()
    for k = 1, #self.scheme.fields do
        g[k] = g[k] or self.fields:host { count = self.grid.cells }
        self.fields:download(k, g[k])
    end
    g.version = self.version
    return g
end

-- Returns a pointer to the array of an unknown as it is stored, valid until the next step.
function host_fields.stored(self, name)
    for k, unknown in ipairs(self.scheme.fields) do
        if unknown == name then return unknowns(self)[k]:pointer() end
    end
    errors.argument("no unknown '%s' (there are: %s)", tostring(name),
        table.concat(self.scheme.fields, ', '))
end

-- Returns a pointer to the array of a variable as files hold it, valid until the next step.
function host_fields.field(self, name)
    if not variables.is_derived(self, (variables.find(self.scheme, name))) then
        return host_fields.stored(self, name)
    end
    local derived = self.derived or {}
    self.derived = derived
    derived[name] = derived[name]
        or snapshot.new(self, { variables = { name }, everywhere = true })
    local shot = derived[name]
    if shot.version ~= self.version then shot:take(1) end
    shot.version = self.version
    return shot:wait(1)
end

-- check(scheme, arrays, k) asks scheme:invalid() about cell k of so many fields, written out for
-- the sake of LuaJIT.
local function checker(count)
    local values = {}
    for q = 1, count do values[q] = ('g[%d].data[k]'):format(q) end
    return assert(loadstring(('return function(scheme, g, k) return scheme:invalid(%s) end')
        :format(table.concat(values, ', ')), '=check'))()
end

-- Says where and how the state is not one, and returns the cell; nil if it is one.
function host_fields.invalid(self)
    local g, grid, check = unknowns(self), self.grid, checker(#self.scheme.fields)
    for k = 0, grid.cells - 1 do
        local what = check(self.scheme, g, k)
        if what then
            local i, j = k % grid.nx, math.floor(k / grid.nx)
            return string.format('%s in cell (%d, %d) at x = %g, y = %g', what, i, j,
                grid:x_centre(i), grid:y_centre(j)), i, j
        end
    end
end

return host_fields
