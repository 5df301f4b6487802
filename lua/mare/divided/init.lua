-- mare.divide: arrays whose rows are divided among devices, and among the ranks of a run.
--
--     local on = mare.divide 'cuda:0,cuda:1'             -- or 'all'; of each rank its own device
--     local a, b = on.rand({ 1e6, 8 }, { seed = 1 }), on.arange(1e6):float():unsqueeze(1)
--     local c = mare.sqrt(a * a + b) / 2
--     print(c:sum():item(), c:mean { axis = 1 }:max():item())
--     local whole = c:gather()
--
-- A row is what has one index along the first axis. Each device has some neighbouring rows, about
-- as many as the others. Elements are computed where they are, by the kernels of arrays on one
-- device; reductions along the first axis bring one value of each block of elements together, in
-- the order of one device, so that sums have the same bits however an array is divided. Random
-- numbers are those of the numbers of the elements. Arrays that are on one device and have no first
-- axis of many rows, such as the results of reductions, go together with divided ones, too.
--
-- Under mpirun all ranks make the same calls, in the same order, and get the same reduced values.

local array = require 'mare.ndarray.array'
local creation = require 'mare.ndarray.creation'
local devices = require 'mare.array.devices'
local errors = require 'bindings.errors'
local handles = require 'mare.divided.handles'
local here = require 'mare.ranks.here'
local ndarray = require 'mare.ndarray'
local tables = require 'bindings.tables'
require 'mare.divided.reductions'
require 'mare.divided.transforms'

local divided = {}

-- ---- new arrays ----

-- Which argument has the options.
local options_at = { zeros = 2, ones = 2, full = 3, linspace = 4, rand = 2, randn = 2, randint = 4 }

-- Returns the arguments with their options, which are a table of their own, and where these are.
local function with_options(name, ...)
    local given = { ... }
    local at = options_at[name]
    if not at then
        at = select('#', ...)
        if at == 0 or type(given[at]) ~= 'table' then at = at + 1 end
    end
    local options = errors.wanted(name .. ': options', 'table', given[at] or {})
    if options.device or options.rows then
        errors.argument('%s: device and rows are those of mare.divide', name)
    end
    given[at] = tables.merged({}, options)
    return given, at
end

local function maker(group, name)
    local f = ndarray[name]
    return function(...)
        local given, at = with_options(name, ...)
        local options = given[at]
        if name:find '^rand' then options.seed = options.seed or creation.new_seed() end
        local function made(device, rows)
            options.device, options.rows = device, rows
            return (f(unpack(given, 1, at)))
        end
        local whole = array.node(made(group.home))
        return handles.made(group, whole, function(share) return made(share.device, share.rows) end)
    end
end

-- Returns a function that divides an array on one device, or what mare.array takes.
local function divider(group)
    return function(data, options)
        if options ~= nil then errors.wanted('array: options', 'table', options) end
        local whole = array.is(data) and data
            or ndarray.new(data, tables.merged({ device = group.home }, options))
        if options and array.is(data) then
            errors.argument 'array: options are not for an array, which has its type and device'
        end
        return handles.made(group, array.node(whole), function(share)
            return handles.moved(whole { share.rows }, share.device)
        end)
    end
end

-- ---- groups ----

-- Returns the devices of this rank, each with its number among those of all.
local function devices_of(opened)
    local list = {}
    for k, device in ipairs(opened) do
        list[k] = { device = device, index = here.size > 1 and here.rank or k - 1 }
    end
    return list
end

-- Returns what makes divided arrays: zeros, ones, full, arange, linspace, eye, rand, randn, randint
-- and array, with the arguments of mare's functions of that name. list: 'cuda:0,cuda:1', 'all', or
-- an array of names and open devices, MARE_DEVICE if nil; of several ranks each takes one.
function divided.new(list)
    if list ~= nil and type(list) ~= 'string' and type(list) ~= 'table' then
        errors.argument("divide: names of devices are wanted, as 'cuda:0,cuda:1', not %s",
            type(list))
    end
    local opened = devices.open(list, 'divide')
    local group = { own_devices = devices_of(opened), home = opened[1],
        count = here.size > 1 and here.size or #opened }
    local made = { array = divider(group) }
    for name in pairs { zeros = 1, ones = 1, full = 1, arange = 1, linspace = 1, eye = 1, rand = 1,
        randn = 1, randint = 1 } do
        made[name] = maker(group, name)
    end
    return made
end

return divided
