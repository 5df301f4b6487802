local device = require 'bindings.device'
local energy = require 'mare.measure.energy'
local fails = require 'tests.fails'
local files = require 'bindings.files'
local lfs = require 'lfs'
local plot = require 'mare.draw.plot'
local power_log = require 'mare.measure.power_log'
local system = require 'bindings.system'
local trial = require 'tests.scenarios.trial'

-- Returns a fake device with a clock of its own: it takes `rest` watts, and
-- `work` watts while it computes; its counter moves every `step` seconds.
local function fake(rest, work, step)
    local self = { t = 0.037, joules = 3, shown = 3, busy = false, next = step }
    function self.pass(seconds)
        local till = self.t + seconds
        while self.t < till do
            local to = math.min(self.next, till)
            self.joules = self.joules + (to - self.t) * (self.busy and work or rest)
            self.t = to
            if to == self.next then self.shown, self.next = self.joules, self.next + step end
        end
    end
    self.source = {
        name = 'fake', now = function() return self.t end, sleep = self.pass,
        counter = function() return self.shown end,
    }
    function self.run(seconds)
        return function()
            self.busy = true
            self.pass(seconds)
            self.busy = false
        end
    end
    return self
end

describe('energy', function()
    for _, batch in ipairs { 0.0031, 0.0173, 0.0441 } do
        it('covers the truth, in batches of ' .. batch .. ' s', function()
            local f = fake(120, 655, 0.1)
            local found = energy.new(f.source):measure { run = f.run(batch), units = 8,
                seconds = 2 }
            local truth = (655 - 120) * batch / 8
            assert.is_true(found.low <= truth and truth <= found.high)
            assert.is_true(found.high - found.low < 3 * batch * truth)
            assert.near(truth, found.joules, 0.05 * truth)
            assert.near(655, found.power, 0.05 * 655)
            assert.near(120, found.idle, 0.02 * 120)
            assert.is_true(found.steps >= 20)
        end)
    end

    it('says what a run took since its device rested', function()
        local f = fake(100, 500, 0.1)
        local meter = energy.new(f.source)
        meter:rest()
        f.run(1.234)()
        local found = meter:since_rest()
        local truth = 400 * 1.234
        assert.is_true(found.low <= truth and truth <= found.high)
        assert.near(truth, found.joules, 0.01 * truth)
    end)

    it('warms up until the power is steady', function()
        local f = fake(100, 300, 0.1)
        local runs = 0
        local found = energy.new(f.source):measure { seconds = 1, run = function()
            runs = runs + 1
            f.run(0.01)()
            f.pass(0.01 * math.max(0, 1 - runs / 60))   -- as long as it is cold, it rests too
        end }
        assert.near(2, found.joules, 0.05)
    end)

    it('refuses a run that is too short', function()
        local f = fake(100, 500, 0.1)
        local meter = energy.new(f.source)
        meter:rest()
        f.run(0.2)()
        local found, reason = meter:since_rest()
        assert.is_nil(found)
        fails.says(reason, 'short', '0.30 s', 'are 5', '0.50 s', 'counter')
    end)

    it('refuses a device that others use', function()
        local f = fake(100, 500, 0.1)
        f.source.load = function() return 0.4 end
        local found, reason = energy.new(f.source):measure { run = f.run(0.01) }
        assert.is_nil(found)
        fails.says(reason, 'shared', 'while', 'process')
        f.source.load = nil
        f.source.others = function() return f.busy == false and 'other processes' or nil end
        assert.same({ nil, 'other processes' },
            { energy.new(f.source):measure { run = f.run(0.01) } })
    end)

    it('refuses a counter that stands still', function()
        local f = fake(0, 0, 0.1)
        local found, reason = energy.new(f.source):measure { run = f.run(0.01) }
        assert.is_nil(found)
        fails.says(reason, 'in 5', 'counter', 'moved')
    end)

    describe('of CPUs', function()
        local folder = os.tmpname()
        local function put(name, text)
            local file = assert(io.open(folder .. '/' .. name, 'w'))
            file:write(text)
            file:close()
        end
        setup(function()
            os.remove(folder)
            for _, name in ipairs { '', '/intel-rapl:0', '/intel-rapl:1', '/intel-rapl:2',
                '/intel-rapl:0:0' } do
                assert(lfs.mkdir(folder .. name))
            end
            put('intel-rapl:0/max_energy_range_uj', '10000000\n')
            put('intel-rapl:1/max_energy_range_uj', '10000000\n')
            put('intel-rapl:1/name', 'package-1\n')
            put('intel-rapl:2/name', 'psys\n')
        end)
        teardown(function() os.execute("rm -rf '" .. folder .. "'") end)

        it('adds packages, not the machine, and follows counters that start again', function()
            put('intel-rapl:0/energy_uj', '9000000\n')
            put('intel-rapl:1/energy_uj', '2000000\n')
            put('intel-rapl:2/energy_uj', '2000000\n')
            local source = energy.rapl(folder)
            assert.equal(0, source.counter())
            put('intel-rapl:0/energy_uj', '500000\n')
            put('intel-rapl:1/energy_uj', '2250000\n')
            put('intel-rapl:2/energy_uj', '6000000\n')
            assert.near(1.75, source.counter(), 1e-9)
        end)

        it('says what is missing', function()
            assert.has_error(function() energy.rapl(folder .. '/none') end,
                folder .. '/none is not there: no RAPL')
            os.remove(folder .. '/intel-rapl:1/energy_uj')
            assert.has_error(function() energy.rapl(folder) end,
                folder .. '/intel-rapl:1/energy_uj cannot be read (by root alone?)')
        end)
    end)

    describe('of a whole node, with RAPL from a recorded tree,', function()
        local open, rapl = energy.open, energy.rapl
        local path, f, package = os.tmpname(), nil, 0

        -- A GPU of 100 to 500 W and processors of 60 to 90 W, which share a clock.
        local function node(log)
            f = fake(100, 500, 0.1)
            f.source.id, f.source.temperature = 'gpu', function() return 41 end
            local cpu = { name = 'RAPL', id = 'RAPL', now = f.source.now, sleep = f.pass,
                counter = function() return package + 60 * f.t end }
            energy.open = function() return energy.new(f.source) end
            energy.rapl = function() return cpu end
            local devices = { { name = 'cuda:0', info = { model = 'A GPU' } } }
            return energy.recorder(devices, log)
        end

        after_each(function() energy.open, energy.rapl = open, rapl end)
        teardown(function() os.remove(path) end)

        it('adds both, tells each, and logs watts and degrees of the work alone', function()
            local recorder = node(path)
            recorder:begin()
            for _ = 1, 200 do
                f.run(0.01)()
                package = package + 0.3
                recorder:look()
            end
            local found = recorder:finish()
            assert.near(800, found.sources[1].joules, 30)
            assert.near(60, found.sources[2].joules, 3)
            assert.near(found.joules, found.sources[1].joules + found.sources[2].joules, 1e-6)
            fails.says(energy.text(found), 'A GPU', 'processors (RAPL)')
            local log = files.read(path)
            fails.says(log, '# idle 160', 'time_s,A GPU W,processors (RAPL) W,total_W,degrees',
                ',41.0\n')
            local read = power_log.read(path)
            assert.near(160, read.idle, 2)
            assert.near(590, read.power, 15)
            assert.near(1.9, read.seconds, 0.1)
            local curves, picture = power_log.curves(path), path .. '.png'
            assert.same({ 'A GPU', 'processors (RAPL)', 'total' },
                { curves[1].label, curves[2].label, curves[3].label })
            assert.near(600, curves[3].y[50], 60)
            os.rename(path, path .. '.csv')
            plot.run(path .. '.csv', { '--out', picture })
            assert.truthy(files.read(picture):find '^\137PNG')
            os.remove(path .. '.csv')
            os.remove(picture)
        end)

        it('counts devices alone where no log is asked for', function()
            local recorder = node()
            recorder:begin()
            f.run(1)()
            local found = recorder:finish()
            assert.equal(1, #found.sources)
            assert.is_nil(energy.text(found):find 'RAPL')
        end)
    end)

    it('is read of a wall meter, less rest before and after', function()
        local path = os.tmpname()
        local file = assert(io.open(path, 'w'))
        file:write 'Time;Power (W);Volt\n'
        for k = 0, 160 do
            local watts = k >= 40 and k <= 120 and 350 or 150
            file:write(('%.2f;%d;230.1\n'):format(0.1 * k, watts))
        end
        file:close()
        local found = power_log.read(path)
        assert.same({ 150, 350, 81 }, { found.idle, found.power, found.samples })
        assert.near(1600, found.joules, 1e-6)
        assert.near(1680, power_log.read(path, { idle = 140 }).joules, 1e-6)
        fails(function() power_log.read(path, { column = 9 }) end, 'MARE_ERROR_ARGUMENT', path,
            'two at least')
        os.remove(path)
        fails(function() power_log.read(path) end, 'MARE_ERROR_IO', path)
    end)

    it('is read of hours, with commas in fractions, blanks, and samples that failed', function()
        local path = os.tmpname()
        local function power_of(format)
            local file = assert(io.open(path, 'w'))
            for k = 1, 20000 do
                local line = format:format(k, k > 5000 and k <= 15000 and 350 or 150)
                file:write((line:gsub('%.', format:find ';' and ',' or '.')))
            end
            file:close()
            local found = power_log.read(path)
            return found.power, found.idle, found.samples
        end
        assert.same({ 350.5, 150.5, 10000 }, { power_of '%d.0;%d.5\n' })
        assert.same({ 350, 150, 10000 }, { power_of ' %d.0  %d\n' })
        assert.same({ 350, 150, 10000 }, { power_of '%d,%d\n1,nan\n' })
        os.remove(path)
    end)

    it('is read of the one GPU that hwmon knows', function()
        local folder = os.tmpname()
        os.remove(folder)
        local function put(name, text)
            local file = assert(io.open(folder .. '/' .. name, 'w'))
            file:write(text)
            file:close()
        end
        for _, name in ipairs { '', '/hwmon0', '/hwmon1' } do lfs.mkdir(folder .. name) end
        put('hwmon0/name', 'nvme\n')
        fails(function() energy.hwmon(folder) end, nil, '0 GPUs of amdgpu')
        put('hwmon1/name', 'amdgpu\n')
        put('hwmon1/energy1_input', '2500000\n')
        put('hwmon1/temp1_input', '47000\n')
        local source = energy.hwmon(folder)
        assert.same({ 'hwmon of amdgpu', 2.5, 47 }, { source.name, source.counter(),
            source.temperature() })
        os.remove(folder .. '/hwmon1/energy1_input')
        put('hwmon1/power1_average', '90000000\n')
        source = energy.hwmon(folder)
        assert.is_true(source.counter() <= source.counter())
        os.execute("rm -rf '" .. folder .. "'")
    end)

    it('is told of a run that asks for it', function()
        local open, mark = energy.open, system.now()
        local function counter() return 50 * (system.now() - mark) end
        energy.open = function() return energy.new { name = 'steady', counter = counter } end
        local ok, result = pcall(trial.run, 'bump', { nx = 16, steps = 500, t_end = 1e4,
            energy = true, image = os.tmpname() .. '.png' })
        energy.open = open
        assert.is_true(ok, tostring(result))
        local rates = result.sim.rates
        assert.is_nil(rates.no_energy)
        assert.is_true(rates.energy_low <= 0 and rates.energy_high >= 0)
        assert.is_true(rates.energy_high < 50)      -- J: it never takes more than at rest
    end)

    it('is told of the launches of a single kernel', function()
        local open, joules, t = energy.open, 0, 0
        local function counter()        -- each look finds work done, none at rest
            joules = joules + 1
            return joules
        end
        local function now()            -- looks come at one pace, so that the power is steady
            t = t + 0.01
            return t
        end
        energy.open = function()
            return energy.new { name = 'looks', counter = counter, now = now,
                sleep = function() end }
        end
        local ok, result = pcall(trial.run, 'saxpy', { n = 1000, energy = true })
        energy.open = open
        assert.is_true(ok, tostring(result))
        assert.is_true(result.energy.steps >= 5, 'too few steps of the counter')
        assert.is_true(result.energy.low <= result.energy.joules)
    end)

    it('is refused where a run asks for it and there is none', function()
        local open = energy.open
        energy.open = function() return nil, 'no counter' end
        local ok, failure = pcall(trial.run, 'bump', { nx = 16, energy = true })
        energy.open = open
        assert.is_false(ok)
        assert.truthy(failure.message:find '^option %-%-energy: [%w:]+: no counter$')
        assert.equal('usage', failure.status)
    end)

    it('says why there is none', function()
        local d = device.open 'null:0'
        local meter, reason = energy.open(d)
        assert.is_nil(meter)
        assert.equal('no energy counter is known for ' .. d.info.model, reason)
    end)
end)

describe('the energy of a run', function()
    it('counts a counter that several devices share once', function()
        local open = energy.open
        energy.open = function(d)
            return energy.new { name = 'made up', id = d.id, counter = function() return 0 end }
        end
        local ok, recorder = pcall(energy.recorder,
            { { id = 'a' }, { id = 'b' }, { id = 'a' }, {}, {} })
        energy.open = open
        assert.is_true(ok, tostring(recorder))
        assert.equal(4, #recorder.meters)
    end)

    it('refuses odd arguments in words', function()
        local odd = { 1, 'x', true, {}, { 1 }, { device = 3 }, { info = {} } }
        for name, f in pairs(energy) do
            for k = 0, type(f) == 'function' and #odd or -1 do
                local ok, failure = pcall(f, odd[k])
                local text = type(failure) == 'table' and failure.message or tostring(failure)
                assert.truthy(ok or not (text:find '%.lua:%d' or text:find 'bad argument'),
                    name .. ': ' .. text)
            end
        end
    end)
end)
