-- flops.lua - how many operations per cell a step of each scheme takes. They
-- are counted in the machine code that CUDA compiles for an H200 (sm_90), which
-- need not be present. Of each kernel the loop over rows counts, with all its
-- branches; it updates as many cells per iteration as it stores. An FFMA or
-- DFMA is two operations; an add, multiply, minimum or special function (MUFU)
-- is one. What strips and warps compute twice at their edges is left out, since
-- a roofline counts useful work.
--     mare tests/bench/flops.lua [NAME] > records/flops.jsonl
-- Requires nvcc, cuobjdump and nvdisasm of the CUDA toolkit on the PATH; with MARE_BENCH=small only
-- the launches of a step are listed where these are missing.

local cases = require 'tests.bench.cases'
local home = require 'bindings.home'
local json = require 'dkjson'
local layout = require 'mare.array.layout'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

local cells = 8192      -- along each side; the shapes of kernels depend on it

local weights = { FFMA = 2, FADD = 1, FMUL = 1, FMNMX = 1, MUFU = 1, DFMA = 2, DADD = 1, DMUL = 1 }

-- ---- which kernels a step runs ----

-- A substitute for a device, which records what is compiled and bound.
local h200 = { info = { name = 'cuda:0', model = 'NVIDIA H200', kind = 'gpu',
    vendor = 'NVIDIA Corporation', compute_units = 132, local_memory = 48 * 1024 } }

function h200.program(_, desc)
    local program = { desc = desc }
    function program.kernel(_, name)
        local kernel = { args = {} }
        function kernel.bind() return { name = name, desc = desc } end
        return kernel
    end
    return program
end

-- Returns the launches of one step of a case, { { name, desc }, ... }.
local function launches_of(case, precision)
    local set_up = cases.make(case, 64, precision)
    local scheme, n, domain = set_up.scheme, cells, nil
    if scheme.domain then
        local sides = {}
        for _, side in ipairs { 'west', 'east', 'south', 'north' } do
            sides[side] = set_up.boundaries
        end
        domain = scheme:domain(set_up.grid, sides, precision)
    end
    local part = { nx = n, ny = n, cells = n * n, i0 = 0, j0 = 0, edge = {} }
    local state = { device = h200, precision = precision, part = part,
        layout = layout.new { nx = n, ny = n, halo = 2, fields = #scheme.fields }, element = 4,
        domain = domain and { host = domain, forcing = {}, edges = {} } }
    local launches = scheme:bind(scheme:kernels(h200, precision, domain, part), {
        state = state, grid = set_up.grid, boundaries = {}, first = 'x',
        levels = scheme.levels or scheme.levels_on and scheme:levels_on { h200 },
    })
    return launches.x, #scheme.fields
end

-- ---- their machine code ----

local function read(path)
    local file = assert(io.open(path))
    local text = file:read '*a'
    file:close()
    return text
end

local function write(path, text)
    local file = assert(io.open(path, 'w'))
    file:write(text)
    file:close()
end

local function run(command, ...)
    local line = command:format(...)
    if os.execute(line) ~= 0 then error('failed: ' .. line) end
end

-- Compiles with nvcc what nvrtc.c and program.c would pass to the compiler.
local function machine_code(desc)
    local base, texts = os.tmpname(), {}
    for name, value in pairs(desc.defines) do
        if value ~= false then
            texts[#texts + 1] = ('#define %s %s'):format(name, tostring(value))
        end
    end
    if desc.math == 'fast' then texts[#texts + 1] = '#define MR_FAST 1' end
    texts[#texts + 1] = read(home.root .. '/kernels/prelude/cuda.h')
    texts[#texts + 1] = desc.source
    write(base .. '.cu', table.concat(texts, '\n'))
    local is_exact = desc.math ~= 'fast'
    run('nvcc -arch=sm_90 -std=c++17 -fmad=false -ftz=%s -prec-div=%s -prec-sqrt=%s '
        .. '-diag-suppress 177 %s -cubin -I %s -o %s.cubin %s.cu', not is_exact, is_exact, is_exact,
        desc.options or '', home.root .. '/kernels', base, base)
    run('cuobjdump -sass %s.cubin > %s.sass', base, base)
    local text = read(base .. '.sass')
    for _, ending in ipairs { '', '.cu', '.cubin', '.sass' } do os.remove(base .. ending) end
    return text
end

-- Returns { { address, text }, ... } of a function, and its loops: conditional
-- branches back. Unconditional ones return from code that was moved elsewhere.
local function read_code(text, name)
    local code, loops = {}, {}
    local body = text:match('Function : ' .. name .. '\n(.-)\n%s*Function : ')
        or text:match('Function : ' .. name .. '\n(.*)')
    for address, what in body:gmatch '/%*(%x%x%x%x+)%*/%s+([^;]*);' do
        local here = tonumber(address, 16)
        code[#code + 1] = { address = here, text = what }
        local target = tonumber(what:match '^@!?%w+ BRA[^;]*0x(%x+)' or '', 16)
        if target and target < here then loops[#loops + 1] = { from = target, to = here } end
    end
    return code, loops
end

local widths = { ['64'] = 2, ['128'] = 4 }

-- Returns the operations and the stored real numbers of one iteration of the
-- loop. Narrow stores are left out: they store only the last columns, in place
-- of the wide ones.
local function count(code, loop, precision)
    local operations, stored, widest = 0, 0, 0
    for _, one in ipairs(code) do
        if one.address >= loop.from and one.address <= loop.to then
            local word = one.text:gsub('^@!?%w+%s+', '')
            operations = operations + (weights[word:match '^%w+'] or 0)
            if word:find '^STG' then
                local width = widths[word:match '^STG%.E%.(%d+)'] or 1
                stored = width > widest and width or width == widest and stored + width or stored
                widest = math.max(widest, width)
            end
        end
    end
    return operations, precision == 'double' and stored / 2 or stored
end

local also_stored = { nonlinear = 3 }     -- values stored only by every 16th step

-- Returns the operations per value of the longest loop that stores and contains
-- no other such loop.
local function operations_a_value(text, name, precision)
    local code, loops = read_code(text, name)
    local storing, longest = {}, { from = 0, to = 0 }
    for _, loop in ipairs(loops) do
        loop.operations, loop.stored = count(code, loop, precision)
        if loop.stored > 0 then storing[#storing + 1] = loop end
    end
    for _, loop in ipairs(storing) do
        local is_innermost = true
        for _, other in ipairs(storing) do
            local within = other.from >= loop.from and other.to <= loop.to
            is_innermost = is_innermost and (other == loop or not within)
        end
        if is_innermost and loop.to - loop.from > longest.to - longest.from then longest = loop end
    end
    return longest.operations / longest.stored
end

local function has_tools()
    for _, tool in ipairs { 'nvcc', 'cuobjdump', 'nvdisasm' } do
        if os.execute('command -v ' .. tool .. ' >/dev/null') ~= 0 then return false end
    end
    return true
end

local is_counted = not record.is_small or has_tools()

local function report(case, precision)
    local launches, fields = launches_of(case, precision)
    local total, seen = 0, {}
    for _, launch in ipairs(is_counted and launches or {}) do
        if not seen[launch.name] then
            local values = fields + (also_stored[launch.name] or 0)
            seen[launch.name] = values * operations_a_value(machine_code(launch.desc),
                launch.name, precision)
        end
        total = total + seen[launch.name]
    end
    print(json.encode({ benchmark = 'flops', solver = case.name, precision = precision,
        flops_per_cell = is_counted and total or nil, launches = #launches, target = 'sm_90' },
        { keyorder = { 'benchmark', 'solver', 'precision' } }))
end

local names = {}
for k, case in ipairs(cases.list) do names[k] = case.name end
if arg[1] then words.choice('flops: NAME', arg[1], names) end
for _, case in ipairs(cases.list) do
    for _, precision in ipairs { 'float', 'double' } do
        if not arg[1] or arg[1] == case.name then report(case, precision) end
    end
end
