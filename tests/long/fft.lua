-- fft.lua - errors of transforms of every length, beside NumPy in double.
--     build/mare tests/long/fft.lua [FIRST [LAST [STEP [LONG [PROCESSES [SECONDS]]]]]]
-- lengths FIRST (1) to LAST (4096) by STEP (1), and LONG (200) random ones to 2^20, shared out to
-- PROCESSES (as many as there are processors), none of which begins more after SECONDS (no end).
-- They come in an order of which each beginning is a sample of all. The error is that of so many
-- transforms as have 4096 points together: one of 81 points has 0.72 to 0.82, many have 0.66.

local ffi = require 'ffi'
local factors = require 'mare.stages.factors'
local home = require 'bindings.home'
local mare = require 'mare'
local random = require 'mare.base.random'
local system = require 'bindings.system'
local trial = require 'tests.scenarios.trial'

-- Returns the text that a command prints first.
local function said(command)
    local pipe = io.popen(command)
    local line = pipe:read '*l'
    pipe:close()
    return line
end

local first, last, step = tonumber(arg[1] or 1), tonumber(arg[2] or 4096), tonumber(arg[3] or 1)
local long = tonumber(arg[4] or 200)
local processes = tonumber(arg[5] or said 'nproc')
local seconds, own = tonumber(arg[6] or 1e9), tonumber(arg[7])     -- own: number of a process
local begun = system.now()

-- ---- which lengths ----

-- Returns all lengths in their order: number k is followed by one about 0.618 of all further on.
local function lengths()
    local list, order = {}, {}
    for n = first, last, step do list[#list + 1] = n end
    for k = 1, long do
        list[#list + 1] = 4097 + math.floor(random.uniform(5, k) * (2 ^ 20 - 4096))
    end
    local apart = math.max(1, math.floor(0.618 * #list))
    local function divisor(a, b) return b == 0 and a or divisor(b, a % b) end
    while divisor(apart, #list) > 1 do apart = apart + 1 end
    for k = 0, #list - 1 do order[k + 1] = list[k * apart % #list + 1] end
    return order
end

-- What a length is, and the error allowed of such ones.
local function kind_of(n)
    if factors.is_smooth(n) then return 'smooth', 0.75 end
    if factors.is_prime(n) and factors.is_smooth(n - 1) then return 'rader', 1.3 end
    return 'bluestein', 1.6
end

-- ---- one process ----

local chunk = 64        -- lengths that NumPy gets at a time

local function bytes(x)
    local copy = ffi.new('complex float[?]', x.count)
    x:buffer():download { into = copy }
    return ffi.string(copy, 8 * x.count)
end

-- Transforms the lengths list[low], list[low + processes], ..., at most a chunk of them. Returns
-- the number of the next one.
local function transform(list, low, folder)
    local data, lines = assert(io.open(folder .. '/data', 'wb')), {}
    while #lines < chunk and low <= #list and system.now() - begun < seconds do
        local n = list[low]
        local shape = { math.ceil(4096 / n), n }
        local x = mare.complex(mare.rand(shape, { seed = n }) - 0.5,
            mare.rand(shape, { seed = n + 2 ^ 21 }) - 0.5):eval()
        data:write(bytes(x), bytes(mare.fft.fft(x)))
        lines[#lines + 1] = ('%d %d %s %.2f\n'):format(shape[1], n, kind_of(n))
        low = low + processes
    end
    data:close()
    trial.spit(folder .. '/list', table.concat(lines))
    return low
end

-- Prints a line for each length: its kind, the length, the error and the error allowed.
local function run()
    local list, low, folder = lengths(), own, trial.new_folder()
    local python = trial.python 'numpy' or error 'needs Python with numpy'
    while low <= #list and system.now() - begun < seconds do
        low = transform(list, low, folder)
        local pipe = io.popen(('%s tests/long/fft.py %s/data %s/list'):format(python, folder,
            folder))
        io.write(pipe:read '*a')
        pipe:close()
        io.stderr:write(('%.0f s: process %d is at length %d of %d\n'):format(
            system.now() - begun, own, math.min(low, #list), #list))
    end
    trial.remove(folder)
end

-- ---- all of them ----

local found = {}        -- by kind: { count, worst, at }

-- Takes in a line of a process. Returns whether the error is as small as is allowed.
local function take(line)
    local kind, n, value, allowed = line:match '^(%a+) (%d+) (%S+) (%S+)$'
    if not kind then error('a process says: ' .. line) end
    value = tonumber(value)
    local all = found[kind] or { count = 0, worst = -1 }
    found[kind], all.count = all, all.count + 1
    if value > all.worst or value ~= value then all.worst, all.at = value, n end
    local is_good = value <= tonumber(allowed)
    if not is_good then
        print(('length %s (%s): %.2f, allowed %s'):format(n, kind, value, allowed))
    end
    return is_good
end

local function run_all()
    local pipes, count, bad = {}, 0, 0
    for k = 1, processes do
        pipes[k] = io.popen(("'%s' tests/long/fft.lua %d %d %d %d %d %s %d"):format(
            home.launcher, first, last, step, long, processes, seconds, k))
    end
    for _, pipe in ipairs(pipes) do
        for line in pipe:lines() do
            count = count + 1
            if not take(line) then bad = bad + 1 end
        end
        pipe:close()
    end
    for kind, all in pairs(found) do
        print(('%s: %d lengths, worst %.2f at %s'):format(kind, all.count, all.worst, all.at))
    end
    print(('%d of %d lengths in %.0f s, %d processes; %d have errors above what is allowed'):format(
        count, #lengths(), system.now() - begun, processes, bad))
    os.exit((bad > 0 or count == 0) and 1 or 0)
end

if own then run() else run_all() end
