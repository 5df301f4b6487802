-- affinity.lua - where ranks run: on which cores, beside which GPU. A GPU belongs to a NUMA
-- node; a rank whose cores are at another one sends its launches and copies the long way.

local files = require 'bindings.files'
local folders = require 'bindings.folders'
local here = require 'mare.ranks.here'
local sharers = require 'mare.ranks.sharers'

local affinity = { root = '' }          -- root: in front of /proc and /sys, for tests

local function line_of(path)
    local text = files.read(affinity.root .. path)
    return text and text:match '^[^\n]*'
end

local function names_in(path)
    return folders.list(affinity.root .. path) or {}
end

-- Returns the numbers of a text such as '0-3,8' as the keys of a table.
local function numbers_of(text)
    local found = {}
    for first, last in (text or ''):gmatch '(%d+)%-?(%d*)' do
        for k = tonumber(first), tonumber(last) or tonumber(first) do found[k] = true end
    end
    return found
end

-- Returns a text such as '0-63' of the cores on which this process may run.
local function own_cores()
    local text = files.read(affinity.root .. '/proc/self/status') or ''
    return text:match 'Cpus_allowed_list:%s*(%S+)' or ''
end

-- Returns the NUMA nodes that have some of the cores, as a sorted array.
local function nodes_of(cores)
    local own, nodes = numbers_of(cores), {}
    for _, name in ipairs(names_in '/sys/devices/system/node') do
        local number = tonumber(name:match '^node(%d+)$')
        local of_node = number
            and numbers_of(line_of(('/sys/devices/system/node/%s/cpulist'):format(name)))
        for core in pairs(of_node or {}) do
            if own[core] then
                nodes[#nodes + 1] = number
                break
            end
        end
    end
    table.sort(nodes)
    return nodes
end

-- Returns the NUMA node of a GPU of NVIDIA's, nil if it is not known.
local function node_of(uuid)
    if not uuid or uuid == '' then return nil end
    for _, bus in ipairs(names_in '/proc/driver/nvidia/gpus') do
        local text = files.read(('%s/proc/driver/nvidia/gpus/%s/information'):format(
            affinity.root, bus))
        if text and text:lower():find(uuid:lower(), 1, true) then
            local node = tonumber(line_of(('/sys/bus/pci/devices/%s/numa_node'):format(bus)))
            return node and node >= 0 and node or nil
        end
    end
end

-- Returns where this rank is: { machine, device, is_gpu, cores, nodes, node of its GPU }.
-- device: an open one, or nil
function affinity.own(device)
    local cores = own_cores()
    return { machine = here.machine, device = device and device.name or 'no device',
        is_gpu = device ~= nil and device.info.kind == 'gpu', cores = cores,
        nodes = nodes_of(cores), node = device and node_of(device.info.uuid) or nil }
end

local function has(list, value)
    for _, one in ipairs(list) do
        if one == value then return true end
    end
    return false
end

local function place_text(rank, own)
    local nodes = #own.nodes > 0 and (' of NUMA node %s'):format(table.concat(own.nodes, ', '))
    return ('  rank %d: %s%s, cores %s%s'):format(rank, own.device,
        own.node and (' at NUMA node %d'):format(own.node) or '', own.cores, nodes or '')
end

local most = 16             -- ranks that have a line each

-- Returns a line for each rank, and what should be otherwise. all: own() of each rank
function affinity.lines(all)
    local lines = {}
    for k, own in ipairs(all) do
        if k <= most then lines[#lines + 1] = place_text(k - 1, own) end
        if own.node and #own.nodes > 0 and not has(own.nodes, own.node) then
            lines[#lines + 1] = ('  rank %d is far from its GPU: it runs at NUMA node %s, %s is at '
                .. '%d: mpirun --map-by numa, srun --gpu-bind=none --cpu-bind=map_ldom:...')
                :format(k - 1, table.concat(own.nodes, ', '), own.device, own.node)
        end
    end
    if #all > most then lines[#lines + 1] = ('  and %d more'):format(#all - most) end
    local gpus = {}
    for k, own in ipairs(all) do
        gpus[k] = { own.is_gpu and ('%s of %s'):format(own.device, own.machine) or false }
    end
    for _, text in ipairs(sharers(gpus)) do lines[#lines + 1] = '  ' .. text end
    return lines
end

return affinity
