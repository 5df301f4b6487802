-- y = a x + y: a kernel of your own, compiled, run and checked. It is written
-- three times: in Mare's dialect, which all devices take, and in CUDA and
-- OpenCL, for those who bring kernels. TUTORIAL.md has one of a few lines.

local mare = require 'mare'

local o = mare.options {
    title = 'y = a x + y',
    help = 'A kernel of your own: compile it, run it, check the result, measure its energy.',
    mare.options.device,
    { name = 'n', default = 1000000, range = { 1, 2 ^ 28 }, help = 'number of elements' },
    { name = 'a', default = 2.0, type = 'number', help = 'the factor a' },
    { name = 'language', default = 'mare', choices = { 'mare', 'cuda', 'opencl' },
        help = 'language of the kernel' },
    { name = 'energy', default = false,
        help = 'measure the energy per element, above rest, with many more launches' },
    { name = 'quiet', default = false, help = 'print nothing' },
}
local print = o.quiet and function() end or print

local kernels = {
    mare = [[
        MR_KERNEL void saxpy(int n, real a, const MR_GLOBAL real *x, MR_GLOBAL real *y)
        {
            int i = mr_gid_x();
            if (i < n) y[i] = mr_fma(a, x[i], y[i]);
        }
    ]],
    cuda = [[
        extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = fmaf(a, x[i], y[i]);
        }
    ]],
    opencl = [[
        __kernel void saxpy(int n, float a, __global const float *x, __global float *y)
        {
            int i = get_global_id(0);
            if (i < n) y[i] = fma(a, x[i], y[i]);
        }
    ]],
}

-- Queues batches of launches that take about 20 ms each: a launch takes
-- microseconds, and an energy counter moves ten times a second. The next batch
-- is queued before the previous one is waited for, so that the device is busy
-- while the counter is read.
local function measure_energy(device, meter, launch)
    local count, last, next = 1, device:event(), device:event()
    local function queue(event)
        for _ = 1, count do launch:run() end
        event:record()
    end
    repeat
        count = 2 * count
        last:record()
        queue(next)
        next:wait()
    until last:elapsed_ms(next) > 10
    queue(last)
    return meter:measure { units = count * o.n, run = function()
        queue(next)
        last:wait()
        last, next = next, last
    end }
end

local device = mare.options.apply('device', mare.device.open, o.device)
local meter = o.energy and mare.options.apply('energy', function()
    return assert(mare.energy.open(device))
end)
local x = device:buffer { type = 'float', count = o.n, label = 'x' }
local y = device:buffer { type = 'float', count = o.n, label = 'y' }
local numbers = device:host { type = 'float', count = o.n }
for i = 0, o.n - 1 do numbers.data[i] = i % 1000 end
x:upload(numbers)
y:fill(1)

local program = device:program {
    source = kernels[o.language], name = 'saxpy', language = o.language,
}
local launch = program:kernel('saxpy'):bind { n = o.n, a = o.a, x = x, y = y, global = o.n }
launch:run()

y:download { into = numbers }
local worst = 0
for i = 0, o.n - 1 do
    worst = math.max(worst, math.abs(numbers.data[i] - (o.a * (i % 1000) + 1)))
end
print(string.format('%s, %s kernel: %d elements, largest error %g', device.name, o.language, o.n,
    worst))
if worst > 1e-6 * (math.abs(o.a) * 1000 + 1) then error 'saxpy: the result is wrong' end

local energy, reason
if meter then energy, reason = measure_energy(device, meter, launch) end
if energy then
    print(string.format('energy: %.4g nJ an element above rest (%.4g to %.4g), %.0f W',
        1e9 * energy.joules, 1e9 * energy.low, 1e9 * energy.high, energy.power))
elseif meter then
    print(mare.energy.text(nil, reason))
end
return { error = worst, energy = energy }
