-- memory.lua - random calls of the API for a long time, good and bad ones: the memory of the
-- process has to level off. Prints twelve times where it is, after a collection: what the process
-- has, Lua's heap, what malloc() has given away and what it keeps, and the kinds of mappings.
-- Fails if the last third of the calls needs more than the second.
--
-- On PoCL 3.1 most of it is the compiler's: LLVM keeps what all programs have in common in one
-- context, which grows by about 14 kB for each simulation whose programs are loaded and is never
-- freed, and compiling leaves malloc() with pieces in between. The null device has Mare's alone.
--     build/mare tests/long/memory.lua [CALLS [SEED [DEVICE [KIND,...]]]]

local mare = require 'mare'
local memory_use = require 'tests.memory_use'
local random = require 'mare.base.random'

local calls, seed = tonumber(arg[1] or 60000), tonumber(arg[2] or 1)
local limits = { rss = 16, in_use = 4 }      -- MiB

local drawn = 0

-- Returns a whole number of 1 to n.
local function draw(n)
    drawn = drawn + 1
    return 1 + math.floor(n * random.uniform(seed, drawn))
end

-- ---- calls ----

local device = mare.device.open(arg[3] or 'auto')
local runs_kernels = device.info.runs_kernels
local text = [=[
    MR_KERNEL void scale(int n, float by, MR_GLOBAL float *x)
    {
        int i = mr_gid_x();
        if (i < n) x[i] = x[i] * by + ADD;
    }]=]
local program = device:program { source = text, defines = { ADD = 1 } }
local kernel = program:kernel 'scale'

local function new_buffer()
    return device:buffer { type = 'float', count = 2 ^ draw(14) }
end

local function bind(buffer, other)
    return (other or kernel):bind { n = buffer.count, by = 0.5, x = buffer, global = buffer.count }
end

local kinds = {}

function kinds.buffer() new_buffer():fill(draw(9)) end

function kinds.transfer()
    local buffer = new_buffer()
    buffer:fill(0)
    buffer:upload(buffer:download())
    buffer:totable()
    buffer:release()
end

function kinds.launch()
    local launch = bind(new_buffer())
    for _ = 1, draw(5) do launch:run() end
end

function kinds.shape()
    local buffer = device:buffer { type = 'float', count = 4096 }
    kernel:bind({ n = 4096, by = 1, x = buffer, global = 4096, group = 2 ^ draw(8) }):run()
end

function kinds.stream()
    local stream, buffer = device:stream(), new_buffer()
    local event = device:event()
    buffer:fill(1)
    event:record()
    event:wait()
    stream:wait()
end

function kinds.plan()
    local launch = bind(new_buffer())
    local stream = device:stream()
    local plan = stream:record(function()
        for _ = 1, draw(5) do launch:run(stream) end
    end)
    plan:run(draw(20))
    device:wait()
end

-- One of few: each is compiled once.
function kinds.program()
    local loaded = device:program { source = text, defines = { ADD = draw(8) } }
    bind(new_buffer(), loaded:kernel 'scale'):run()
end

local bad = {
    function() return device:buffer { type = 'flot', count = 3 } end,
    function() return device:buffer { type = 'float', count = -draw(1000) } end,
    function() return device:program { source = text, defines = { ['A+'] = 1 } } end,
    function() return program:kernel('none' .. draw(1000)) end,
    function() return kernel:bind { n = 1, by = 2 } end,
    function() return mare.device.open('none' .. draw(1000)) end,
    function() return mare.simulation('none' .. draw(1000)) {} end,
    function() return bind(3) end,
}

function kinds.refused()
    local k = draw(#bad)
    local ok = pcall(bad[k])
    assert(not ok, 'a bad call is taken: ' .. k)
end

function kinds.simulation()
    if draw(20) > 1 then return end
    local sim = mare.simulation 'sod' { nx = 16 * draw(8), device = arg[3] }
    sim:step(draw(5))
    if draw(2) == 1 then sim:release() end
end

-- ---- all of it ----

local function kinds_asked_for()
    local names = {}
    for name in pairs(kinds) do
        local is_wanted = not arg[4] or (',' .. arg[4] .. ','):find(',' .. name .. ',', 1, true)
        if is_wanted and (runs_kernels or name ~= 'simulation') then names[#names + 1] = name end
    end
    table.sort(names)       -- the same calls for the same seed
    return names
end

local names, samples = kinds_asked_for(), {}
print('  calls' .. memory_use.head)
for done = 1, calls do
    kinds[names[draw(#names)]]()
    if done % math.ceil(calls / 12) == 0 then
        device:wait()
        samples[#samples + 1] = memory_use.measure()
        print(('%7d%s'):format(done, memory_use.row(samples[#samples])))
    end
end

local rss, in_use = memory_use.growth(samples, 'rss'), memory_use.growth(samples, 'in_use')
print(('from the second third to the last: %.1f MiB more, %.1f of them in use'):format(rss, in_use))
os.exit(rss <= limits.rss and in_use <= limits.in_use and 0 or 1)
