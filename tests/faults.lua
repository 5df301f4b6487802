-- faults.lua - a run with output, series, pictures and checkpoints in which one call of the system
-- fails, or all calls from one on: faults.new(folder):try('write', 17, true). tests/fake/system.c
-- lets them fail. A run may end with a message, but never by a signal; each file is the old one
-- or a whole new one; a checkpoint leads to the same results.

local checkpoint = require 'mare.files.checkpoint'
local home = require 'bindings.home'
local trial = require 'tests.scenarios.trial'

local faults = {}

-- By kind of call: what it says when it fails.
local EIO, ENOMEM, ENOSPC = 5, 12, 28
faults.kinds = { open = EIO, write = ENOSPC, short = 0, fsync = EIO, close = EIO, rename = EIO,
    resize = ENOSPC, read = EIO, mmap = ENOMEM, malloc = ENOMEM }

-- How calls of a kind fail: one, and then all from one on. Without any memory LuaJIT ends the
-- process where a thread begins to serve, so only one piece is refused.
function faults.ways(kind)
    return faults.kinds[kind] == ENOMEM and { false } or { false, true }
end

faults.library = require 'tests.fakes' .. '/fake_system/libfaults.so'

local files = { 'x.nc', 's.nc', 'i.png', 'f.gif' }
local options = '--nx=32 --ny=32 --t-end=0.02 --out=x.nc --every=0.005 --series=s.nc --image=i.png '
    .. '--film=f.gif --frames=2 --film-width=200 --checkpoint=x.ck '
    .. '--checkpoint-every=0.005'

-- Runs in a folder. Returns the exit status and what was said.
local function run(folder, environment, more)
    return trial.status_of(("cd '%s' && timeout %d env %s '%s' kelvin_helmholtz --device=%s "
        .. '--quiet %s %s'):format(folder, trial.patience, environment, home.launcher, trial.device,
        options, more))
end

-- What a file holds, without the time when it was written.
local function contents(path)
    if not trial.slurp(path) then return nil end
    if path:find '%.nc$' then return trial.data_of(path) end
    return { trial.slurp(path) }
end

local function is_same(a, b)
    for key, value in pairs(a or {}) do
        if not b or b[key] ~= value then return false end
    end
    return a ~= nil
end

local Faults = {}
Faults.__index = Faults

-- Makes the runs that others are compared with: an old one, whose files are there when a run
-- begins, and the one without faults. counts: how many calls of each kind it makes.
function faults.new(folder)
    local self = setmetatable({ folder = folder, old = {}, new = {}, counts = {} }, Faults)
    for _, name in ipairs { 'old', 'new', 'case' } do os.execute(('mkdir %s/%s'):format(folder,
        name)) end
    assert(run(folder .. '/old', '', '--seed=7') == 0)
    assert(run(folder .. '/new', '', '') == 0)
    local counts = folder .. '/counts'
    local environment = ("LD_PRELOAD='%s' MARE_FAULT_COUNTS='%s'"):format(faults.library, counts)
    self:prepare()
    local status, said = run(folder .. '/case', environment, '')
    assert(status == 0, said)
    for kind, n in trial.slurp(counts):gmatch '(%a+) (%d+)' do self.counts[kind] = tonumber(n) end
    for _, name in ipairs(files) do
        self.old[name] = contents(folder .. '/old/' .. name)
        self.new[name] = contents(folder .. '/new/' .. name)
        assert(not is_same(self.old[name], self.new[name]), name)
    end
    return self
end

function Faults:prepare()
    os.execute(("rm -rf '%s/case' && cp -r '%s/old' '%s/case'"):format(self.folder, self.folder,
        self.folder))
end

-- What is wrong with the files of a run that has ended; nil if nothing. is_done: they all have to
-- be new.
function Faults:fault_of_files(is_done)
    local case = self.folder .. '/case/'
    for _, name in ipairs(files) do
        local found = contents(case .. name)
        local is_new = is_same(self.new[name], found)
        if is_done and not is_new then return name .. ' is not what the run was to write' end
        if not is_new and not is_same(self.old[name], found) then
            return name .. (found and ' is neither old nor new' or ' is lost')
        end
    end
end

-- The part files that a run may go on from, as one text.
local function kept_parts(header)
    local list = {}
    for _, output in ipairs(header.outputs) do list[#list + 1] = output.position.temporary end
    return table.concat(list, ' ')
end

-- The same of its checkpoints and part files. The second result is whether the new run can go on.
function Faults:fault_of_checkpoints(is_done)
    local ok, found = pcall(checkpoint.newest, self.folder .. '/case/x.ck')
    if not ok or not found then return 'no checkpoint: ' .. tostring(found) end
    local before = checkpoint.read(self.folder .. '/old/x.ck')
    local can_go_on = found.header.run_id ~= before.header.run_id
    local kept = can_go_on and not is_done and kept_parts(found.header) or ''
    for part in trial.listing(self.folder .. '/case'):gmatch '[^ ]*%.part' do
        if not kept:find(part, 1, true) then return 'leaves ' .. part end
    end
    return nil, can_go_on
end

-- Libraries in which a fault is ours: Mare, LuaJIT and what writes files, whoever called them, and
-- PoCL, whose calls never fail here; "?" is compiled Lua.
local ours = { '^mare$', '^libmare', '^libluajit', '^luajit', '^%?$', '^libpocl', '^libLLVM',
    '^libnetcdf', '^libhdf5', '^libcairo', '^libpng', '^libgif', '^libz%.' }

local function is_any(name, patterns)
    for _, pattern in ipairs(patterns) do
        if name:find(pattern) then return true end
    end
    return false
end

-- The library of a driver in which a process has faulted, by what system.c said of it; nil if that
-- was in one of ours. A function of libc faults for its caller.
function faults.vendor(said)
    local names
    for found in said:gmatch 'fault in ([^\n]*)' do names = found end
    for name in (names or ''):gmatch '%S+' do
        if not is_any(name, { '^libc%.', '^libpthread%.', '^ld%-', '^libfaults' }) then
            return not is_any(name, ours) and name or nil
        end
    end
end

local function fault_of_end(status, said)
    if not status or status >= 124 then return 'ended with status ' .. tostring(status) end
    if status > 0 and not said:find 'mare: ' then return 'said nothing' end
    if said:find 'error loading module .*: Input/output error' then return nil end  -- Lua's words
    if said:find '/lua/mare/[%w_/]+%.lua:%d' or said:find '/bindings/[%w_]+%.lua:%d'
        or said:find 'attempt to' then
        return 'showed an error of Lua'
    end
end

-- Returns nil, or what is wrong, and the library of a driver that has ended the run by a fault, of
-- which no more is asked than that files are old or new. from_there: all calls from the n-th on
-- fail.
function Faults:try(kind, n, from_there)
    self:prepare()
    local status, said = run(self.folder .. '/case', ("LD_PRELOAD='%s' MARE_FAULT=%s:%d:%d%s")
        :format(faults.library, kind, n, faults.kinds[kind], from_there and ':on' or ''), '')
    local is_done = status == 0
    local vendor = status and status > 128 and faults.vendor(said)
    if vendor then return self:fault_of_files(false), vendor end
    local fault = fault_of_end(status, said) or self:fault_of_files(is_done)
    local can_go_on
    if not fault then fault, can_go_on = self:fault_of_checkpoints(is_done) end
    if not fault and can_go_on and not is_done then
        status, said = run(self.folder .. '/case', '', '--restart=latest')
        fault = status ~= 0 and 'could not go on' or self:fault_of_files(true)
            or self:fault_of_checkpoints(true)
    end
    return fault and ('%s: %s'):format(fault, said)
end

return faults
