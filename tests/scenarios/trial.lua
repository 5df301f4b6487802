-- What the specs of whole runs share: scenarios in this process and in a
-- process of their own, and the files that they leave.

local ffi = require 'ffi'
local home = require 'bindings.home'
local lfs = require 'lfs'
local mare = require 'mare'
local netcdf = require 'bindings.netcdf'
local system = require 'bindings.system'

ffi.cdef 'int kill(int process, int number);'

local trial = { device = os.getenv 'MARE_TEST_DEVICE' or 'auto' }

function trial.slurp(path)
    local file = io.open(path, 'rb')
    local text = file and file:read '*a'
    if file then file:close() end
    return text
end

function trial.spit(path, text)
    local file = assert(io.open(path, 'wb'))
    file:write(text)
    file:close()
end

function trial.new_folder()
    local folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
    return folder
end

function trial.remove(folder)
    os.execute("rm -rf '" .. folder .. "'")
end

function trial.listing(folder)
    local list = {}
    for name in lfs.dir(folder) do
        if name ~= '.' and name ~= '..' then list[#list + 1] = name end
    end
    table.sort(list)
    return table.concat(list, ' ')
end

-- Seconds that only a hang takes, however busy the machine is.
trial.patience = 600

-- Waits until condition() is true. what: that it stands for, in words.
function trial.await(what, condition)
    local started = system.now()
    while not condition() do
        assert(system.now() - started < trial.patience, 'not in time: ' .. what)
        system.sleep(0.002)
    end
end

-- Whether a process still is there: its files are open for as long as one of its threads writes,
-- dead though the first one is.
function trial.is_alive(process)
    local stat = trial.slurp('/proc/' .. process .. '/stat')
    local ok, tasks = pcall(trial.listing, '/proc/' .. process .. '/task')
    return stat and (not stat:find '%) Z' or ok and tasks:find ' ' ~= nil)
end

-- Kills a process, and waits until it is gone.
function trial.kill(process)
    ffi.C.kill(process, 9)
    trial.await('its death', function() return not trial.is_alive(process) end)
end

-- Returns the exit status and the output of a shell command.
function trial.status_of(command)
    local pipe = io.popen(command .. ' 2>&1; echo "status $?"')
    local text = pipe:read '*a'
    pipe:close()
    return tonumber(text:match 'status (%d+)%s*$'), text
end

-- Returns the name of a Python that has these modules, or nil.
function trial.python(modules)
    for _, name in ipairs { 'python3', '/usr/bin/python3' } do
        if trial.status_of(name .. " -c 'import " .. modules .. "'") == 0 then return name end
    end
end

-- Returns the shell command that runs a scenario.
function trial.command(name, values)
    local words = { home.launcher, name, '--device=' .. trial.device, '--quiet' }
    for key, value in pairs(values) do words[#words + 1] = '--' .. key .. '=' .. value end
    for k, word in ipairs(words) do words[k] = "'" .. word .. "'" end
    return table.concat(words, ' ')
end

-- Runs a scenario in this process, with options as a script gives them.
function trial.run(name, values)
    local options, all = mare.options, { device = trial.device, quiet = true }
    for key, value in pairs(values) do all[key] = value end
    local source, path = options.source, home.root .. '/scenarios/' .. name .. '.lua'
    options.source, options.program = all, name
    options.script = { name = name .. '.lua', text = trial.slurp(path) }
    local ok, result = pcall(dofile, path)
    options.source, options.script = source, nil
    if not ok then error(result, 0) end
    return result
end

-- Returns the bytes of all variables of a file.
function trial.data_of(path)
    local file, all = netcdf.open(path), {}
    for _, v in ipairs(file:variables()) do
        local data = file:get(v.name)
        all[v.name] = ffi.string(data:pointer(), ffi.sizeof(data:pointer()))
    end
    file:close()
    return all
end

function trial.same_data(expected, path)
    local found = trial.data_of(path)
    for name, bytes in pairs(expected) do
        if found[name] ~= bytes then error(name .. ' differs in ' .. path, 2) end
    end
end

function trial.times_of(path)
    local file = netcdf.open(path)
    local data, n = file:get 'time'
    local times = {}
    for k = 0, n - 1 do times[k + 1] = data[k] end
    file:close()
    return times
end

return trial
