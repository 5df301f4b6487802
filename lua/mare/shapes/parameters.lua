-- Which parameters of a kernel's shape tuning or the file of kept shapes may
-- set, and within which bounds. Outside of these bounds a kernel would compute
-- something else or crash the process. The head of init.lua and the heads of
-- the kernels say what the parameters mean.

local source = require 'mare.base.source'
local tables = require 'bindings.tables'

local parameters = {}

-- ---- rules: what one field may be ----

local function count(least, most)
    local words = most and ('whole numbers from %d to %d'):format(least, most)
        or ('whole numbers from %d on'):format(least)
    return { words = words, allows = function(value)
        return type(value) == 'number' and value % 1 == 0 and value >= least
            and value <= (most or 2 ^ 31 - 1)
    end }
end

local function one_of(...)
    local values = tables.set { ... }
    return { words = table.concat({ ... }, ', '), allows = function(v) return values[v] end }
end

local switch = { words = 'true, false', allows = function(v) return type(v) == 'boolean' end }

-- Joins a rule for CPUs and one for GPUs. If the kind of device is not known, a
-- value that either allows is allowed.
local function either(cpu, gpu)
    return { cpu = cpu, gpu = gpu, words = ('on a CPU %s, on a GPU %s'):format(cpu.words,
        gpu.words), allows = function(v) return cpu.allows(v) or gpu.allows(v) end }
end

local cpu_lanes = count(1, 256)         -- layout.tail: rows may be read this far past their end
local narrow, wide = either(cpu_lanes, one_of(1, 2, 4)), either(cpu_lanes, one_of(1, 2, 4, 8))
local any = count(1)

-- ---- the kernels ----

local rules = {
    x = { W = wide, rows = any }, y = { W = wide, rows = any }, stage = { W = wide, rows = any },
    rate = { W = wide, rows = any },
    march = { W = one_of(1, 2, 4), rows = any, resident = any, DEPTH = count(2, 16) },
    tile = { W = count(1, 16) },
    linear = { W = narrow, rows = any, resident = any, ahead = switch, UNROLL = count(1, 16) },
    nonlinear = { W = narrow, rows = any, resident = any, ahead = switch, old_ahead = switch,
        UNROLL = count(1, 16) },
    volumes = { W = narrow, rows = any, resident = any, UNROLL = count(1, 16),
        TEAM = count(4, 1024), DEPTH = count(3, 16) },
}
for _, own in pairs(rules) do
    own.GROUP, own.max_registers = any, count(0, 255)
end

-- Returns the names of a kernel's parameters as the keys of a table.
function parameters.names(kernel)
    return tables.set(tables.keys(rules[kernel]))
end

local function shown(value)
    return type(value) == 'string' and ("'%s'"):format(value) or tostring(value)
end

-- Checks each parameter of a kernel's shape by itself. Returns what is wrong
-- and what is allowed, in words, or nil. info: of the device, nil if not known.
function parameters.fault(kernel, fields, info)
    local own = rules[kernel]
    if not own then return ('kernel = %s (allowed: %s)'):format(kernel, tables.names(rules)) end
    for name, value in pairs(fields) do
        local rule = own[name]
        if not rule then
            return ('%s has no field %s (there are: %s)'):format(kernel, tostring(name),
                tables.names(own))
        end
        rule = info and rule[info.kind == 'cpu' and 'cpu' or 'gpu'] or rule
        if not rule.allows(value) then
            return ('%s = %s (allowed: %s)'):format(name, shown(value), rule.words)
        end
    end
end

-- ---- whole shapes ----

-- Checks a team: its work-items exchange values by shuffles, so they must
-- belong to one warp.
local function team_fault(shape, info)
    local group = ('GROUP = %d'):format(shape.GROUP)
    if not source.shuffles(info) then
        if shape.TEAM and shape.TEAM ~= shape.GROUP then
            return ('%s (allowed: TEAM, which is %d)'):format(group, shape.TEAM)
        end
        return shape.GROUP * shape.W <= 4 and group .. ' (allowed: more than 4 columns a group)'
    end
    local team = shape.TEAM or 32
    if 32 % team ~= 0 then return ('TEAM = %d (allowed: 4, 8, 16, 32)'):format(team) end
    if shape.GROUP % team ~= 0 then return ('%s (allowed: multiples of %d)'):format(group, team) end
end

local fits = {
    march = team_fault,
    volumes = function(shape, info)
        if (shape.TEAM == nil) ~= (shape.DEPTH == nil) then
            return 'TEAM or DEPTH without the other (allowed: both, none)'
        end
        return shape.TEAM and team_fault(shape, info)
    end,
    tile = function(shape)
        if shape.GROUP % 32 ~= 0 then
            return ('GROUP = %d (allowed: multiples of 32)'):format(shape.GROUP)
        end
        return shape.GROUP / 32 * shape.W <= 4
            and ('GROUP = %d, W = %d (allowed: GROUP / 32 * W above 4)'):format(shape.GROUP,
                shape.W)
    end,
}

-- On a CPU the columns of a group are kept on the stack of a thread. In double
-- precision, twice as many as this overflow the 8 MiB that PoCL gives it.
local most_columns = { volumes = 8192 }
local columns_else = 20480

-- Checks a whole shape whose parameters are right by themselves. Returns why it
-- does not fit the device, in words; nil or false if it fits.
function parameters.misfit(kernel, shape, info)
    if shape.GROUP > info.max_group_size then
        return ('GROUP = %d (allowed: up to %d)'):format(shape.GROUP, info.max_group_size)
    end
    local most = most_columns[kernel] or columns_else
    if info.kind == 'cpu' and shape.GROUP * (shape.W + 32) > most then
        return ('GROUP = %d, W = %d (allowed on a CPU: GROUP * (W + 32) up to %d)'):format(
            shape.GROUP, shape.W, most)
    end
    if (shape.max_registers or 0) > 0 and not info.vendor:find 'NVIDIA' then
        return ('max_registers = %d (allowed: 0, %s has no such limit)'):format(
            shape.max_registers, info.model)
    end
    return fits[kernel] and fits[kernel](shape, info)
end

return parameters
