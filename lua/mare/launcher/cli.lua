-- cli.lua - the command line of `mare`. main(...) takes the words after the
-- program's name and returns the exit status: 0 success, 1 failure, 2 wrong
-- usage, 3 stopped by --wall-limit, 130 interrupted. A failure prints its
-- message and the stack frames of the user's code; MARE_TRACEBACK=1 prints all
-- stack frames.

require 'bindings.pairs'
local home = require 'bindings.home'
local errors = require 'bindings.errors'
local launch = require 'bindings.mpi_launch'
local printable = require 'bindings.printable'
local read = require 'bindings.read'
local system = require 'bindings.system'

local usage = [[
Usage: mare FILE.lua [--option value ...]   run a script; a bare name: one of Mare's scenarios
       mare FILE.lua --help                 the options of a scenario
       mare --profile[=FILE.json] ...       any of these, then where the time on the devices went
       mare -e CODE [arguments]             run CODE
       mare - [arguments]                   run what comes in on standard input
       mare                                 an interactive session
       mare info FILE                       what a NetCDF file or a checkpoint holds
       mare plot FILE.nc [--option ...]     pictures and films of it; --help tells how
       mare rerun [--trust] FILE.nc [--option ...]
                                            run again what made it, into FILE.rerun.nc or --out
       mare help NAME                       what the session's help says of a name, or finds
       mare doctor [--json]                 what was found here, and why something is missing
       mare cache ls | clear | path         compiled device programs on disk
       mare jupyter [install] [--prefix FOLDER]
                                            tells Jupyter of Mare's kernel, for notebooks in Lua
       mare bench [NAME] [arguments]        a benchmark, such as table1; the list of them
       mare tune ls | show KERNEL | clear [KERNEL]
                                            shapes of kernels that tuning has found and runs use
       mare --version

Environment: MARE_DEVICE (default of --device), MARE_CACHE (folder of compiled programs, or
             'off'), MARE_CACHE_SIZE and MARE_MEMORY_LIMIT (such as 512M), MARE_TRACEBACK=1
             (errors with every stack frame), MARE_LOG=off|error|warn|info|debug (warn), MARE_TUNED
             (file of tuned shapes, or 'off'), MARE_DEBUG=1 (kernels with lines and
             variables for cuda-gdb and gdb, not optimized)
             Under mpirun: MARE_MPI (library of MPI), MARE_RANK_TIMEOUT (seconds that a rank may
             be silent, 10; 0: for ever), MARE_TRANSPORT=staged (cells pass through the host)
             In a session: MARE_HISTORY (file, or 'off'), NO_COLOR, MARE_PICTURES=kitty|sixel|
             blocks|ascii (what the terminal can show, if it does not say so)

Ctrl-C and SIGTERM end a run after the steps that are under way. A loop of a script's own
ends within a second, unless it waits for a device or in C: Mare then says so, and a second signal
ends it at once (a SIGTERM a second later). One SIGTERM alone ends C that computes on for 5 s.
]]

-- What `mare COMMAND --help` prints after the command's line of the usage.
local details = {
    info = [[
Dimensions, variables with their ranges, what made it and with which options; of a checkpoint its
time, step and outputs, after its checksum.]],
    rerun = [[
A file may hold any program. It runs if it is the text of a scenario of Mare's, or of the script
where it was read; any other only with --trust. `mare rerun --text FILE.nc` prints it.
The options are those of the scenario and win over those in the file, which stays as it is.
`mare rerun FILE.nc --help` lists them.]],
    doctor = 'With --json the same as data, for programs and for reports of errors.',
    tune = [[
ls: kernel, scheme, precision, size, date and device of each; show: the shapes of a kernel and its
time, and those that Mare comes with; clear: removes those of a kernel, or all. MARE_TUNED sets the
file, which is $XDG_DATA_HOME/mare/tuned.json otherwise. mare.tune finds them: help(mare.tune) in a
session.]],
    cache = [[
ls: when each was last used, its bytes, device and program; clear: removes all; path: the folder,
which MARE_CACHE sets.]],
    jupyter = [[
Says what a kernel takes and where Jupyter finds it. install: writes share/jupyter/kernels/mare of
FOLDER, such as the one of a virtual environment, or of the user; JUPYTER_DATA_DIR is heeded.
Jupyter starts it by `mare jupyter run CONNECTION_FILE`.]],
    bench = [[
Each prints a table; with MARE_RECORDS=FILE it also adds JSON records to that file.
`mare bench NAME --help` says what it measures and takes.]],
}

local function show_help(name)
    print('Usage:' .. usage:match('\n      ( mare ' .. name .. ' .-)\n') .. '\n\n' .. details[name])
    return 0
end

-- ---- failures ----

local max_stack_frames = 12

-- The module mare.ranks if mpirun or srun has started this process, or nil.
local ranks

local function write(message)
    local from = ranks and ranks.size > 1 and ranks.name() .. ': ' or ''
    io.stderr:write(('mare: %s%s\n'):format(from, printable(message)))    -- in one piece
end

-- Says why this process ends; of several ranks one says it.
local function tell(message)
    if ranks then require('mare.ranks.process').take_word() end
    write(message)
end

-- The message handler of errors. It collects what is known only while the stack
-- exists.
local function describe(failure)
    local all = os.getenv 'MARE_TRACEBACK' == '1' and debug.traceback('', 2)
    return { failure = failure, stack = errors.stack_frames(1, max_stack_frames), all = all }
end

-- The same of an end in good order, of which rank 0 tells.
local function tell_end(message, is_agreed)
    if not is_agreed then return tell(message) end
    if not ranks or ranks.rank == 0 then write(message) end
end

local function print_failure(report)
    local failure, stack = report.failure, report.stack
    local text = errors.text(failure)
    local module = text:match "^error loading module '([^\n]*)' from .*\n\tnot enough memory$"
    if module then return tell('out of memory while ' .. module .. ' is loaded') end
    tell(text)
    if report.all then
        io.stderr:write(report.all, '\n')
        return
    end
    local is_told = stack[1] and text:sub(1, #stack[1] + 1) == stack[1] .. ':'
    for i = is_told and 2 or 1, #stack do io.stderr:write('    at ', stack[i], '\n') end
    if failure == errors.foreign then system.leave(1) end
end

local function bad_usage(message, ...)
    tell(message:format(...) .. "\nTry 'mare --help'.")
    return 2
end

-- Returns the exit status of a call that failed, and prints the error.
local function status_of(report)
    if type(report) ~= 'table' then     -- describe itself failed, for example on a full stack
        report = { failure = report, stack = {} }
    end
    local status = errors.is(report.failure) and report.failure.status
    if status == 'stop' then return 0 end
    if home.interrupted() or status == 'interrupted' then
        tell_end('interrupted', ranks and require('mare.ranks.process').has_agreed)
        -- To release what a compiler has would wait for it.
        if require('bindings.compiler').was_left and not ranks then system.leave(130) end
        return 130
    elseif status == 'unfinished' then
        tell_end(report.failure.message, true)
        if ranks then require('mare.ranks.process').agreed = 3 end
        return 3
    elseif status == 'usage' then
        tell(report.failure.message .. '\nTry --help.')
        return 2
    elseif status == 'MARE_ERROR_IO' and not report.all then    -- not the fault of a script's line
        tell(report.failure.message)
        return 1
    end
    print_failure(report)
    return 1
end

-- ---- scripts ----

-- mare.options stores its values here if it is loaded. Scripts with only a few
-- kernels do not load it: fewer Lua objects mean shorter garbage collections.
home.options = {}

-- Runs a loaded chunk as the script `name` with the words of its command line.
local function run(chunk, name, words)
    home.options.source = words
    home.options.program = 'mare ' .. name:gsub('^.*/', ''):gsub('%.lua$', '')
    _G.arg = { [0] = name, unpack(words) }
    local ok, report = home.call(function() chunk(unpack(words)) end, describe)
    if not ok then return status_of(report) end
    if not home.interrupted() then return 0 end
    if ranks then require('mare.ranks.process').agreed = 130 end    -- others may still write
    return 130
end

local function run_text(text, chunk_name, name, words)
    local chunk, message = loadstring(text, chunk_name)
    home.options.script = { name = name, text = text }
    if chunk then return run(chunk, name, words) end
    tell(message)
    return 1
end

local commands = {}         -- by name

-- Finds a script: a bare name is first looked up in root/scenarios, even if the
-- current folder has a file of that name.
local function find_script(name)
    local candidates = { name }
    if not name:find '[/.]' then
        table.insert(candidates, 1, home.root .. '/scenarios/' .. name .. '.lua')
    end
    for _, path in ipairs(candidates) do
        local text = read(path)
        if text then return path, text end
    end
end

-- Refuses a scenario of Mare that each of several ranks would do all of, to the same files. In one
-- that shares a simulation rank 0 speaks.
local function share_among_ranks(name)
    if not ranks or ranks.size == 1 then return end
    if require('mare.live.scenario').is_shared(name) then
        require('mare.ranks.here').hush()
        return
    end
    return bad_usage('%s: it runs no simulation that ranks could share: start it without %s. '
        .. 'Programs of your own use mare.ranks', name, ranks.start().launcher)
end

local function run_file(name, words)
    local path, text = find_script(name)
    local refusal = path and path ~= name and share_among_ranks(name)
    if refusal then return refusal end
    if path then return run_text(text:gsub('^#[^\n]*', ''), '@' .. path, path, words) end
    if not name:find '[/.]' then
        local names = require('mare.live.scenario').names()
        for known in pairs(commands) do names[#names + 1] = known end
        local meant = require 'bindings.suggest'(name, names)
        return bad_usage('%s: there is no such file, and no such scenario%s (there are: %s)', name,
            meant, table.concat(require('mare.live.scenario').names(), ', '))
    end
    return bad_usage('%s', select(2, read(name)))
end

-- ---- commands ----

commands['-e'] = function(code, ...)
    if not code then return bad_usage '-e: CODE is missing' end
    home.stop_anywhere()
    return run_text(code, '=(command line)', '-e', { ... })
end

commands['-'] = function(...)
    home.stop_anywhere()
    local text = (not ranks or ranks.rank == 0) and io.read '*a'
    if ranks then text = ranks.broadcast(text) end      -- a launcher gives it to rank 0 only
    return run_text(text, '=stdin', '-', { ... })
end

commands['--help'] = function()
    io.write(usage)
    return 0
end
commands['-h'] = commands['--help']

function commands.help(name, extra)
    if not name or name == '--help' or name == '-h' then return commands['--help']() end
    if extra then return bad_usage("help: one name is wanted, '%s' is another", extra) end
    require 'mare'
    require 'mare.session.repl'     -- whose words it knows
    local text, is_found = require('mare.session.help').text(name)
    if not is_found then
        tell(text)
        return 1
    end
    print(text)
    return 0
end

commands['--version'] = function()
    print('mare ' .. require('bindings.device').full_version)
    return 0
end

function commands.info(path, extra)
    if not path or extra then return bad_usage 'info: one FILE is wanted' end
    print(table.concat(require('mare.launcher.info').lines(path), '\n'))
    return 0
end

function commands.plot(path, ...)
    local is_help = path == '--help' or path == '-h'
    if not path or path:find '^%-' and not is_help then
        return bad_usage 'plot: FILE.nc is missing'
    end
    require('mare.draw.plot').run(path, is_help and { '--help' } or { ... })
    return 0
end

local rerun_flags = { ['--trust'] = 'trust', ['--text'] = 'text' }

function commands.rerun(...)
    local words, flags = { ... }, {}
    while rerun_flags[words[1]] do flags[rerun_flags[table.remove(words, 1)]] = true end
    local path = table.remove(words, 1)
    if not path then return bad_usage 'rerun: FILE.nc is missing' end
    local name, text, of_run = require('mare.launcher.rerun').prepare(path, words, flags)
    if flags.text then
        io.write(text)
        return 0
    end
    words = of_run
    return run_text(text, '@' .. name, name, words)
end

function commands.doctor(option, extra)
    if extra or (option and option ~= '--json') then
        return bad_usage("doctor: '%s' (allowed: --json)", extra or option)
    end
    local doctor = require 'mare.launcher.doctor'
    if ranks and ranks.rank > 0 then
        doctor.take_part()
    else
        print(option and doctor.json() or doctor.text())
    end
    return 0
end

function commands.cache(action, extra)
    local cache = require('bindings.device').cache
    if action == 'path' and not extra then
        print(cache.path())
    elseif action == 'clear' and not extra then
        print(('%d removed'):format(cache.clear()))
    elseif action == 'ls' and not extra then
        for _, entry in ipairs(cache.entries()) do
            local date = os.date('%Y-%m-%d %H:%M', entry.used)
            print(('%s  %8d  %s  %s'):format(date, entry.size, entry.device, entry.program))
        end
    else
        return bad_usage("cache: '%s' (allowed: ls, clear, path)", tostring(extra or action or ''))
    end
    return 0
end

function commands.tune(action, kernel, extra)
    local shapes = require 'mare.shapes'
    if action == 'clear' and not extra then
        print(('%d removed'):format(shapes.clear(kernel)))
    elseif action == 'ls' and not kernel or action == 'show' and kernel and not extra then
        for _, line in ipairs(shapes.lines(kernel)) do print(line) end
    elseif action == 'show' and not kernel then
        return bad_usage 'tune show: KERNEL is missing'
    else
        return bad_usage("tune: '%s' (allowed: ls, show KERNEL, clear [KERNEL])",
            table.concat({ action, kernel, extra }, ' '))
    end
    return 0
end

local function run_kernel(path)
    home.stop_anywhere(10)
    require 'mare'
    if ranks and ranks.rank > 0 then return require('mare.notebook.kernel').follow() end
    local connection = require('mare.notebook.install').connection(path)
    require('mare.notebook.kernel').run(connection)
    return 0
end

function commands.jupyter(action, name, value, extra)
    local install = require 'mare.notebook.install'
    if not action then
        print(table.concat(install.lines(), '\n'))
    elseif action == 'run' and name and not value then
        return run_kernel(name)
    elseif action == 'install' and (not name or name == '--prefix' and value) and not extra then
        print('wrote ' .. install.write(value))
    else
        return bad_usage("jupyter: '%s' (allowed: install [--prefix FOLDER], run FILE)",
            table.concat({ action, name, value, extra }, ' '))
    end
    return 0
end

function commands.bench(name, ...)
    local bench = require 'mare.measure.bench'
    local help = name and (... == '--help' or ... == '-h') and bench.help(name)
    if name and not help then
        if ranks and ranks.size > 1 then
            return bad_usage('bench: it starts the ranks that it measures: start it without %s',
                ranks.start().launcher)
        end
        return run_file(bench.path(name), { ... })
    end
    print(help or bench.text())
    return 0
end

local function session()
    home.stop_anywhere(10)      -- only the tenth unanswered Ctrl-C ends a session
    require 'mare'
    local ok, result = xpcall(require 'mare.session.talk', describe)
    return ok and result or status_of(result)
end

local M = {}

-- Prints the profile, even if the script failed. The trace of several ranks wants all of them.
local function show_profile(path, status)
    if ranks and ranks.size > 1 and not require('mare.ranks.process').is_orderly(status) then
        return 0
    end
    local report = require('mare.measure.profile').finish()
    local is_first = not ranks or ranks.rank == 0
    if is_first and report.rows[1] then io.stderr:write(tostring(report), '\n') end
    if path then report:write_trace(path) end
    return 0
end

local function run_profiled(path, ...)
    local is_good, reason = true, nil
    if path then is_good, reason = pcall(require('bindings.files').check, path) end
    if not is_good then return bad_usage('--profile=FILE: %s', reason) end
    require('mare.measure.profile').begin()
    local status = M.main(...)
    local ok, result = xpcall(show_profile, describe, path, status)
    if not ok then result = status_of(result) end
    return status ~= 0 and status or result
end

function M.main(first, ...)
    if not first then return session() end
    if first == '--profile' then return run_profiled(nil, ...) end
    if first:find '^%-%-profile=' then return run_profiled(first:match '=(.*)', ...) end
    local command = commands[first]
    if not command and first:sub(1, 1) == '-' then
        local names = { '--profile' }
        for name in pairs(commands) do
            if name:sub(1, 1) == '-' then names[#names + 1] = name end
        end
        return bad_usage("unknown option '%s'%s", first, require 'bindings.suggest'(first, names))
    end
    if not command then return run_file(first, { ... }) end
    local is_help = ... == '--help' or ... == '-h'
    if is_help and details[first] then return show_help(first) end
    local ok, result = xpcall(command, describe, ...)
    return ok and result or status_of(result)
end

-- Core's log goes to standard error, while the program runs and when it ends.
function home.log(level, text)
    require('mare.base.events').tell('log', { level = level, message = text })
end

local function finish(status)
    local core = package.loaded['bindings.ffi']
    if type(core) == 'table' then core.poll_log() end       -- not if it failed to load
    if ranks then require('mare.ranks.process').leave(status) end
    return status
end

-- Commands that every rank runs; others print what rank 0 finds.
local of_all_ranks = { ['-e'] = true, ['-'] = true, doctor = true, rerun = true,
    ['--profile'] = true }

local function is_for_all(first, second)
    return not first or not commands[first] or of_all_ranks[first]
        or first == 'jupyter' and second == 'run'
end

-- Joins the ranks if a launcher has started this process as one of them.
local function join()
    ranks = launch.find() and require 'mare.ranks'
end

return function(first, ...)
    local ok, report = xpcall(join, describe)
    if not ok then return finish(status_of(report)) end
    if ranks and ranks.rank > 0 and not is_for_all(first, ...) then return finish(0) end
    return finish(M.main(first, ...))
end
