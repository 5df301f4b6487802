-- mpi_launch.lua - how this process was started: by a launcher of MPI (mpirun, mpiexec, srun),
-- as its environment tells, or alone. Loads no library.

local ffi = require 'ffi'
local folders = require 'bindings.folders'
local posix = require 'bindings.posix'
local system = require 'bindings.system'

ffi.cdef [[
    int prctl(int option, const char *name, unsigned long a, unsigned long b, unsigned long c);
]]

local PR_SET_NAME = 15

local M = {}

-- Set in a process that has joined its ranks: a program that a rank starts is none itself.
M.mark = 'MARE_RANK_PROCESS'

-- In this order: Open MPI's mpirun and MPICH's mpiexec have srun start them on the nodes of a job.
local launchers = {
    { name = "Open MPI's mpirun", size = 'OMPI_COMM_WORLD_SIZE', rank = 'OMPI_COMM_WORLD_RANK',
      family = 'Open MPI' },
    { name = "MPICH's mpiexec", size = 'PMI_SIZE', rank = 'PMI_RANK', family = 'MPICH' },
    { name = 'srun', size = 'SLURM_STEP_NUM_TASKS', rank = 'SLURM_PROCID' },
}

local function number(name)
    return tonumber(system.setting(name))
end

local function by_environment()
    for _, launcher in ipairs(launchers) do
        local size, rank = number(launcher.size), number(launcher.rank)
        if size and rank then
            return { name = launcher.name, family = launcher.family, size = size, rank = rank,
                variable = launcher.size }
        end
    end
end

-- srun sets the variables of PMI for any MPI.
local function is_of_slurm(found)
    return found.variable == 'PMI_SIZE' and number 'SLURM_STEP_NUM_TASKS' == found.size
end

-- Whether srun gave its tasks a way to find each other.
local function is_wired(found)
    return found.name ~= 'srun' or system.setting 'PMIX_RANK' ~= nil
end

-- { name, family (nil if any MPI may do), size, rank, variable, is_wired }; nil for a process
-- that was started alone.
function M.find()
    local process = tonumber(system.setting(M.mark))
    if process and process ~= system.process() then return nil end
    local found = by_environment()
    if not found then return nil end
    if is_of_slurm(found) then found.name, found.family = 'srun', nil end
    found.is_wired = is_wired(found)
    if not found.is_wired and found.size == 1 then return nil end
    return found
end

-- Returns what a file of /proc holds, or nil. A start without a launcher loads no `files`.
local function text_of(path)
    return (require('bindings.files').read('/proc/' .. path))
end

local function parent_of(process)
    return tonumber((text_of(process .. '/stat') or ''):match '.*%) %S+ (%d+)')
end

local programs = { mpirun = true, mpiexec = true, orterun = true, orted = true, prterun = true,
    prte = true, prted = true, hydra_pmi_proxy = true, ['mpiexec.hydra'] = true }

-- Returns the launcher's process that is an ancestor of a process, and the folder that its bin/ is
-- in; nil if there is none.
local function launcher_of(process)
    process = parent_of(process)
    for _ = 1, 8 do
        if not process or process <= 1 then return nil end
        local path = posix.target('/proc/' .. process .. '/exe') or ''
        local prefix, program = path:match '^(.*)/bin/([^/]*)$'
        if programs[program] then return process, prefix end
        process = parent_of(process)
    end
end

-- The folder lib/ beside the bin/ of the launcher that is an ancestor of this process, or nil.
function M.library_folder()
    local _, prefix = launcher_of 'self'
    return prefix and prefix .. '/lib/'
end

-- ---- the ranks of this machine ----

local function rank_of(process)
    local text = '\0' .. (text_of(process .. '/environ') or '')
    for _, launcher in ipairs(launchers) do
        local rank = text:match('%z' .. launcher.rank .. '=(%d+)%z')
        if rank then return tonumber(rank) end
    end
end

local function describe(process)
    local name, state = (text_of(process .. '/stat') or ''):match '%((.*)%) (%a)'
    local threads = {}
    for _, thread in ipairs(folders.list('/proc/' .. process .. '/task') or {}) do
        local text = text_of(('%d/task/%s/comm'):format(process, thread)) or ''
        threads[text:match '^[^\n]*'] = true
    end
    return { process = process, name = name or '?', state = state or '?', threads = threads }
end

-- Returns the processes that the launcher of this one has started on this machine as its ranks, by
-- the rank: lists of { process, name, state as in /proc, threads = { name = true } }.
function M.processes()
    local own, by_rank = launcher_of 'self', {}
    for _, name in ipairs(own and folders.list '/proc' or {}) do
        local process = tonumber(name)
        local rank = process and rank_of(process)
        if rank and launcher_of(process) == own then
            by_rank[rank] = by_rank[rank] or {}
            table.insert(by_rank[rank], describe(process))
        end
    end
    return by_rank
end

-- Gives the thread that calls it a name of at most 15 bytes.
function M.name_thread(name)
    posix.C.prctl(PR_SET_NAME, name, 0, 0, 0)
end

return M
