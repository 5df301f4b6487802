-- process.lua - joins the ranks and leaves them. However a rank ends, all end:
-- by MPI_Finalize if its program is done, by MPI_Abort if it has failed, by the
-- launcher if it was killed.

local beat = require 'bindings.beat'
local heart = require 'mare.ranks.heart'
local home = require 'bindings.home'
local mpi = require 'bindings.mpi'
local speaker = require 'mare.ranks.speaker'
local system = require 'bindings.system'
local terminal = require 'mare.base.terminal'

local process = { world = nil, name = nil, has_agreed = false, agreed = nil, has_word = false }
-- agreed: the exit status that all ranks have agreed on, if they have

local moment = 1                -- seconds in which rank 0 says what has failed on all alike
local launcher_pause = 3        -- seconds after its signal in which a launcher kills
local last_pause = 10           -- seconds in which a launcher has to end all

local interrupted = 130

-- Whether a program ends with this status in good order: it is done, or all
-- ranks have agreed to stop.
function process.is_orderly(status)
    return status == 0 or status == process.agreed
        or status == interrupted and process.has_agreed
end

-- Waits for the launcher, or another rank, to end this process. seconds: how long, if no
-- signal of the launcher's comes, which a process is to answer
local function wait_for_end(seconds)
    local start = system.now()
    repeat
        local limit = home.interrupted() and math.max(seconds, launcher_pause) or seconds
        system.sleep(0.01)
    until system.now() - start >= limit
end

-- Returns when this rank may say why all end: rank 0 at once, others when they have
-- left it a moment. Where another rank of this machine has said so this one is silent
-- until the launcher ends it, or it ends itself.
function process.take_word()
    local world = process.world
    if not world or world.size == 1 or process.has_word then return end
    if world.rank > 0 then wait_for_end(moment) end
    process.has_word = speaker.take()
    if process.has_word then return end
    wait_for_end(last_pause)
    world:abort(1)
end

-- Leaves the run with the exit status of this rank's program; does not return if
-- that is a failure.
function process.leave(status)
    local world = process.world
    if not world or world.is_over then return end
    if process.is_orderly(status) or world.size == 1 then
        if not pcall(world.finish, world) then
            process.take_word()
            beat.say(('mare: %s: interrupted: all ranks end\n'):format(process.name))
            wait_for_end(launcher_pause)        -- another may be about to close its files
            world:abort(interrupted)
        end
        heart.stop()
    else
        world:abort(status)
    end
end

local function status_of(code)
    if code == nil or code == true then return 0 end
    return code == false and 1 or tonumber(code) or 1
end

local function guard_exit()
    local exit = os.exit
    os.exit = function(code, ...)       -- luacheck: ignore 122
        process.leave(status_of(code))
        exit(code, ...)
    end
end

-- Returns the world of MPI, or nil for a process that was started alone.
function process.join()
    local stop = heart.watch_start()
    local ok, world = pcall(mpi.start)
    stop()
    if not ok then error(world, 0) end
    process.world = world
    if process.world then guard_exit() end
    return process.world
end

-- From now on failures tell which rank this is. name: such as "rank 2 (node7)"
function process.introduce(name)
    process.name = name
    if process.world.rank > 0 then terminal.rank = name end
end

return process
