-- mpi_launch.lua - how this process was started: by a launcher of MPI (mpirun, mpiexec, srun),
-- as its environment tells, or alone. Loads no library.

local system = require 'bindings.system'
local posix = require 'bindings.posix'

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

local function parent_of(process)
    local file = io.open('/proc/' .. process .. '/stat')
    local text = file and file:read '*a' or ''
    if file then file:close() end
    return tonumber(text:match '.*%) %S+ (%d+)')
end

local programs = { mpirun = true, mpiexec = true, orterun = true, orted = true, prterun = true,
    prte = true, prted = true, hydra_pmi_proxy = true, ['mpiexec.hydra'] = true }

-- The folder lib/ beside the bin/ of the launcher that is an ancestor of this process, or nil.
function M.library_folder()
    local process = parent_of 'self'
    for _ = 1, 8 do
        if not process or process <= 1 then return nil end
        local path = posix.target('/proc/' .. process .. '/exe') or ''
        local prefix, program = path:match '^(.*)/bin/([^/]*)$'
        if programs[program] then return prefix .. '/lib/' end
        process = parent_of(process)
    end
end

return M
