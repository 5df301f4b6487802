-- readers.lua - 20000 damaged files for each reader: none ends the process, takes more than five
-- seconds, or shows an error of Lua. Files of one kind are read by processes of their own, 500 at a
-- time. Adds a record for each kind to MARE_RECORDS.
--     build/mare tests/long/readers.lua [CASES [KIND]]

local ffi = require 'ffi'
local home = require 'bindings.home'
local json = require 'dkjson'
local mutate = require 'tests.mutate'
local trial = require 'tests.scenarios.trial'

ffi.cdef [[
    unsigned alarm(unsigned seconds);
    void *signal(int number, void *handler);
]]

local SIGALRM = 14
local cases, only, first, state = tonumber(arg[1] or 20000), arg[2], tonumber(arg[3]), arg[4]
local patience = 60         -- seconds for one case, then the process is killed: others run, too

-- One process: the cases from `first` on. `state` always holds the seed of the present one.
local function read_some()
    local folder, failed = trial.new_folder(), 0
    ffi.C.signal(SIGALRM, nil)      -- the launcher handles it otherwise
    for seed = first, first + cases - 1 do
        trial.spit(state, tostring(seed))
        ffi.C.alarm(patience)
        math.randomseed(seed)
        local problem = mutate.case(only, folder)
        if problem then
            failed = failed + 1
            print(('%s %d: %s'):format(only, seed, problem))
        end
    end
    trial.remove(folder)
    os.exit(failed == 0 and 0 or 1)
end

if first then read_some() end

-- Reads seeds from..last; returns how many findings there were.
local function read_batch(kind, from, last, name)
    local found = 0
    while from <= last do
        local status, text = trial.status_of(("'%s' '%s' %d %s %d '%s'"):format(home.launcher,
            arg[0], last - from + 1, kind, from, name))
        if status == 0 then break end
        local _, told = text:gsub('%f[^\n%z]' .. kind .. ' %d+: ', '')
        found = found + told
        io.write(text)
        if status == 1 and told > 0 then break end
        local seed = tonumber(trial.slurp(name))
        found, from = found + 1, seed + 1
        print(('%s %d: ended with status %s'):format(kind, seed, tostring(status)))
    end
    return found
end

local function read_all(kind)
    local name, found, begun = os.tmpname(), 0, os.time()
    for from = 1, cases, 500 do
        found = found + read_batch(kind, from, math.min(from + 499, cases), name)
    end
    os.remove(name)
    local record = json.encode { benchmark = 'readers', kind = kind, cases = cases,
        findings = found, first_seed = 1, seconds = os.time() - begun,
        date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
    print(record)
    local path = os.getenv 'MARE_RECORDS'
    local file = path and assert(io.open(path, 'a'))
    if file then
        file:write(record, '\n')
        file:close()
    end
    return found
end

local kinds, failed = {}, 0
for kind in pairs(mutate.kinds) do kinds[#kinds + 1] = kind end
table.sort(kinds)
for _, kind in ipairs(kinds) do
    if not only or only == kind then failed = failed + read_all(kind) end
end
os.exit(failed == 0 and 0 or 1)
