-- Gives the variables of a simulation as arrays of the whole grid on the host: unknowns are
-- gathered from the parts, the others computed from them on the devices. Methods of a simulation,
-- which all ranks call, and get the same. An array holds nx * ny numbers, x fastest, south first,
-- in the simulation's precision, and is reused once the state has moved on. Nobody reads past its
-- end or writes into it (bindings/host_array.lua); array:pointer() is a pointer for C.

local errors = require 'bindings.errors'
local host_array = require 'bindings.host_array'
local memory = require 'bindings.memory'
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

-- Returns the pinned memory of an unknown.
local function pinned(self, name)
    for k, unknown in ipairs(self.scheme.fields) do
        if unknown == name then return unknowns(self)[k] end
    end
    errors.argument("no unknown '%s' (there are: %s)", tostring(name),
        table.concat(self.scheme.fields, ', '))
end

-- Returns the pinned memory of a derived variable.
local function derived_of(self, name)
    local derived = self.derived or {}
    self.derived = derived
    derived[name] = derived[name]
        or snapshot.new(self, { variables = { name }, everywhere = true })
    local shot = derived[name]
    if shot.version ~= self.version then shot:take(1) end
    shot.version = self.version
    shot:wait(1)
    return shot.slots[1]
end

-- Returns the frozen view of pinned memory, which is made once.
local function view(self, host, name)
    self.views = self.views or {}
    self.views[host] = self.views[host] or memory.view(host, self.grid.cells, name)
    return self.views[host]
end

-- Returns the array of an unknown as it is stored, valid until the next step.
function host_fields.stored(self, name)
    return view(self, pinned(self, name), name)
end

-- Returns the array of a variable as files hold it, valid until the next step.
function host_fields.field(self, name)
    local is_derived = variables.is_derived(self, (variables.find(self.scheme, name)))
    return view(self, (is_derived and derived_of or pinned)(self, name), name)
end

-- Gives the arrays back, whose views have no elements then.
function host_fields.release(self)
    for _, array in pairs(self.views or {}) do host_array.close(array) end
    for _, shot in pairs(self.derived or {}) do shot:release() end
    for _, array in ipairs(self.gathered or {}) do array:release() end
    self.views, self.derived, self.gathered = nil, nil, nil
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
