-- solvers.lua - cell updates per second of every scheme on every device, and
-- their share of the copy bandwidth measured in the same process.
--     mare tests/bench/solvers.lua [--help]
-- A step advances the whole state once, with its ghost cells and the reduction
-- of dt; T_eff counts each value that it cannot avoid once. Ends within
-- --seconds, and leaves out what does not fit into memory; the table comes
-- last. --from FILE makes table and roofline of the latest records in a file
-- instead.

local bandwidth = require 'mare.measure.bandwidth'
local cases = require 'tests.bench.cases'
local devices = require 'bindings.device'
local errors = require 'bindings.errors'
local options = require 'mare.base.options'
local peak = require 'tests.bench.peak'
local rate = require 'tests.bench.rate'
local record = require 'tests.bench.record'
local roofline = require 'tests.bench.roofline'
local system = require 'bindings.system'
local table_of = require 'tests.bench.solver_table'

options.program = 'mare tests/bench/solvers.lua'
local o = options { title = 'Cell updates per second of every scheme', {
    title = 'Which',
    { name = 'device', type = 'string', help = 'list, as cuda:0,opencl:0; default: all' },
    { name = 'scheme', type = 'string', help = 'list, as euler_hll,ocean_linear; default: all' },
    { name = 'precision', default = 'float,double', help = 'list' },
    { name = 'size', default = '512,1024,2048,4096,8192,16384',
      help = 'list of cells along each side' },
    { name = 'seconds', default = 1200, range = { 1 }, help = 'of the whole run, about' },
}, {
    title = 'Results',
    { name = 'from', type = 'string', help = 'records (a JSON object a line) instead of a run' },
    { name = 'roofline', type = 'string', help = 'picture of the first device, as FILE.png' },
} }

-- Returns the names in a comma-separated list, each of which must be allowed.
local function listed(name, text, allowed)
    local list = {}
    for word in text:gmatch '[^,]+' do
        if not allowed(word) then errors.usage("option --%s: there is no '%s'", name, word) end
        list[#list + 1] = word
    end
    return list
end

-- The names of schemes, or of devices but those that run no kernels.
local function names_of(list)
    local names = {}
    for _, one in ipairs(list) do
        if one.runs_kernels ~= false then names[#names + 1] = one.name end
    end
    return table.concat(names, ',')
end

local started = system.now()

local function time_left() return o.seconds - (system.now() - started) end

-- ---- measuring ----

-- limits: { copy =, flops = { float =, double = } } of the device.
local function report(device, limits, case, precision, n)
    local r, reason = rate.measure(device, case, precision, n)
    if not r then return nil, reason end
    local t_eff = r.cells_per_second * r.bytes_per_cell
    r.benchmark, r.solver, r.precision, r.nx, r.ny = 'solvers', case.name, precision, n, n
    r.t_eff, r.copy_bandwidth, r.flops_per_second = t_eff, limits.copy, limits.flops[precision]
    r.share_of_copy = limits.copy and t_eff / limits.copy
    return record.write(device, r, ('%-9s %-26s %-6s %5d² %8.4g Gcells/s'):format(device.name,
        case.name, precision, n, r.cells_per_second / 1e9))
end

local function run_case(device, limits, done, case, precision, n)
    local before = system.now()
    local expected = 4 * (done[case.name .. precision] or 0)     -- for a grid twice as long
    local ok, values, reason = false, nil, ('%.0f s left'):format(time_left())
    if time_left() > expected then
        ok, values, reason = pcall(report, device, limits, case, precision, n)
        collectgarbage()
    end
    if values and ok then
        done[#done + 1] = values
    else
        print(('%-9s %-26s %-6s %5d² left out: %s'):format(device.name, case.name, precision, n,
            reason or tostring(values)))
    end
    done[case.name .. precision] = n >= 4096 and system.now() - before or 0
end

local function run_device(name, wanted, done)
    local device = devices.open(name)
    local limits = { copy = bandwidth.measure(device), flops = {} }
    for _, precision in ipairs(wanted.precision) do
        limits.flops[precision] = peak.measure(device, precision)
    end
    for _, n in ipairs(wanted.size) do
        for _, scheme in ipairs(wanted.scheme) do
            for _, precision in ipairs(wanted.precision) do
                run_case(device, limits, done, cases[scheme], precision, tonumber(n))
            end
        end
    end
    device:release()
end

local function run()
    local function known(list)
        return function(word) return (',' .. list .. ','):find(',' .. word .. ',', 1, true) end
    end
    local all, all_schemes = names_of(devices.list()), names_of(cases.list)
    local wanted = {
        device = listed('device', o.device or all, known(all)),
        scheme = listed('scheme', o.scheme or all_schemes, known(all_schemes)),
        precision = listed('precision', o.precision, known 'float,double'),
        size = listed('size', o.size, function(n) return n:find '^%d+$' and tonumber(n) >= 16 end),
    }
    local done = {}
    for _, name in ipairs(wanted.device) do run_device(name, wanted, done) end
    return done
end

local records = o.from and record.read(o.from, { benchmark = 'solvers' }) or run()
table_of.print(records)
if o.roofline then print('wrote ' .. roofline.draw(records, o.roofline)) end
