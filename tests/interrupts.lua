-- interrupts.lua - Ctrl-C at random moments: in loops of one's own, as scripts and typed into a
-- session, and in runs of both kinds. interrupts.case(seed, folder) returns the kind, the seconds
-- from the key to the end (or to the prompt), what was computed, what is wrong, or nil, and the
-- processor time between, which says how long it goes on where the machine is busy.

local home = require 'bindings.home'
local lfs = require 'lfs'
local random = require 'mare.base.random'
local terminal = require 'tests.pseudo_terminal'
local trial = require 'tests.scenarios.trial'

local interrupts = {}

-- Seconds that a script, and what is typed, may go on.
interrupts.limits = { script = 1, session = 0.2, run = 1, typed_run = 0.2 }

-- Loops that never end; `d` is a device, `l` a launch and `b` its buffer.
local loops = {
    'for i = 1, 1e12 do end',
    'local x = 0 while true do x = math.sin(x) + 1 end',
    'while true do local t = {} for i = 1, 100 do t[i] = { i } end end',
    'local n = 0 while true do n = n + #(("x"):rep(1000):gsub("x", "y")) end',
    'while true do local t = {} for i = 1, 1e4 do t[i] = -i end table.sort(t) end',
    'while true do local t = {} for i = 1, 1e4 do t[i] = -i end '
        .. 'table.sort(t, function(a, b) return a < b end) end',
    'while true do pcall(function() for i = 1, 1e10 do end end) end',
    'while true do pcall(function() while true do pcall(error) end end) end',
    'while true do for _ in coroutine.wrap(function() for i = 1, 1e5 do coroutine.yield(i) end end)'
        .. ' do end end',
    'local a = require("ffi").new "double[100000]" while true do for i = 0, 99999 do '
        .. 'a[i] = a[i] + 1 end end',
    'jit.off() local x = 0 while true do x = x + 1 end',
    'while true do l:run() end',
    'while true do for i = 1, 100 do l:run() end b:download() end',
    'while true do l:run() d:wait() end',
    'local e = d:event() while true do l:run() e:record() e:wait() end',
    'while true do b:fill(1) local x = b:download() local s = 0 for i = 0, 9999 do s = s + x[i] end'
        .. ' end',
    'while true do for i = 1, 20 do heavy:run() end b:download() end',
    'while true do heavy:run() d:wait() end',
}

local preparation = [[
local mare = require 'mare'
d = mare.device.open(%q)
local program = d:program { source = [=[
    MR_KERNEL void add(int n, int rounds, MR_GLOBAL float *x)
    {
        int i = mr_gid_x();
        for (int k = 0; k < rounds; k++) if (i < n) x[i] = x[i] * 0.5f + 1.0f;
    }]=] }
b = d:buffer { type = 'float', count = 10000 }
b:fill(0)
l = program:kernel 'add':bind { n = 10000, rounds = 1, x = b, global = 10000 }
heavy = program:kernel 'add':bind { n = 10000, rounds = 1000, x = b, global = 10000 }
l:run() heavy:run() d:wait()
]]


-- Of a run. Odd seeds take checkpoints.
local function run_options(folder, with_checkpoint)
    local list = { t_end = 1000, every = 0.01, out = folder .. '/run.nc',
        film = folder .. '/run.gif', image = folder .. '/run.png' }
    if with_checkpoint then
        list.checkpoint, list.checkpoint_every = folder .. '/run.ck', 0.05
    end
    return list
end

-- Returns what an interrupted run should not have left, or nil. One that takes
-- checkpoints keeps the parts of its outputs, to go on with them.
local function litter(folder, with_checkpoint)
    local found, has_checkpoint = {}, lfs.attributes(folder .. '/run.ck') ~= nil
    for name in lfs.dir(folder) do
        local path, is_allowed = folder .. '/' .. name, name == '.' or name == '..'
        if name:find '%.ck' and not name:find 'part' then
            local status, text = trial.status_of(("'%s' info '%s'"):format(home.launcher, path))
            if status ~= 0 then found[#found + 1] = name .. ': ' .. text end
            is_allowed = with_checkpoint
        elseif name:find 'part' then
            is_allowed = has_checkpoint and not name:find '%.ck'
        end
        if not is_allowed and name ~= 'loop.lua' then found[#found + 1] = name end
    end
    return found[1] and 'left ' .. table.concat(found, ' ')
end

local kinds = {}

-- Each returns the child once what is to be stopped is under way, what shows
-- that it has stopped (nil: its end), and what it is, in words.

function kinds.script(folder, loop)
    trial.spit(folder .. '/loop.lua', preparation:format(trial.device) .. 'print "under way" '
        .. loop)
    return terminal.start { folder .. '/loop.lua' }, nil, loop
end

function kinds.session(folder, loop)
    trial.spit(folder .. '/loop.lua', preparation:format(trial.device))
    local child = terminal.start {}
    assert(child:see '> ', 'no prompt: ' .. child.text)
    child:send(("dofile '%s/loop.lua'\n"):format(folder))
    assert(child:see '\n> ', 'no prompt: ' .. child.text)
    child:send("print('under' .. ' way') " .. loop .. '\n')
    return child, 'interrupted', loop
end

function kinds.run(folder, _, with_checkpoint)
    local words = { 'kelvin_helmholtz', '--nx=64', '--ny=32' }
    for name, value in pairs(run_options(folder, with_checkpoint)) do
        words[#words + 1] = '--' .. name:gsub('_', '-') .. '=' .. value
    end
    return terminal.start(words), nil, 'run'
end

function kinds.typed_run(folder, _, with_checkpoint)
    local child, list = terminal.start {}, {}
    for name, value in pairs(run_options(folder, with_checkpoint)) do
        list[#list + 1] = ('%s = %s'):format(name,
            type(value) == 'string' and ('%q'):format(value) or value)
    end
    assert(child:see '> ', 'no prompt: ' .. child.text)
    child:send("sim = mare.simulation 'kelvin_helmholtz' { nx = 64, ny = 32 } "
        .. "print('rea' .. 'dy')\n")
    assert(child:see 'ready', 'no simulation: ' .. child.text)
    child:send(("print('under' .. ' way') sim:run { %s }\n"):format(table.concat(list, ', ')))
    return child, 'interrupted', 'typed run'
end

local names = { 'script', 'session', 'run', 'typed_run' }

function interrupts.case(seed, folder)
    local function draw(index) return random.uniform(seed, index) end
    local kind = names[1 + math.floor(draw(0) ^ 1.5 * #names)]
    local with_checkpoint = draw(1) < 0.5
    local child, sign, what = kinds[kind](folder, loops[1 + math.floor(draw(2) * #loops)],
        with_checkpoint)
    if kind ~= 'run' then
        assert(child:see 'under way', what .. ' does not start: ' .. child.text)
    end
    child:see('\0', (kind == 'run' and 3 or 1) * draw(3))
    local before, used = child.text, child:processor_seconds()
    child.text = ''
    child:send '\3'
    local seconds = child:see(sign)
    used = child:processor_seconds() - used
    local said = child.text
    if sign then
        child:see '\n> '
        child:send '\4'
        child:see()
    end
    local status = child:stop()
    local is_right = sign and status == 0 or not sign and (status == 130 or status == -2)
    local problem = not seconds and 'does not stop: ' .. before .. said
        or not is_right and ('status %d: %s%s'):format(status, before, said)
        or kind:find 'run' and litter(folder, with_checkpoint)
    return kind, seconds, what, problem or nil, used
end

-- Counts for about 0.1 s when the key comes, and tells its processor time before and after.
local control = [[
    trap 'times; i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; times; exit' INT
    echo under way
    while :; do :; done]]

-- Processor seconds of a shell, of each line that `times` printed for it.
local function processor_seconds(text)
    local list = {}
    for minutes, seconds, rest in text:gmatch '(%d+)m([%d.]+)s (%d+m[%d.]+s)' do
        local of_system, more = rest:match '(%d+)m([%d.]+)s'
        list[#list + 1] = 60 * (minutes + of_system) + seconds + more
    end
    return list
end

-- Returns by how much longer than its processor time a loop of the shell took
-- from the key to its end: what a busy machine does to anybody.
function interrupts.lateness()
    local child = terminal.start({ '-c', control }, {}, 'sh')
    assert(child:see 'under way', 'no loop: ' .. child.text)
    child:see('\0', 0.1)
    child:send '\3'
    local seconds, used = child:see(), processor_seconds(child.text)
    child:stop()
    return assert(seconds, 'the loop does not end') - (used[3] - used[1])
end

return interrupts
