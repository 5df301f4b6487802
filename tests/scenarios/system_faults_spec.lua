-- A sample of tests/long/system_faults.lua: calls of the system that fail cost no file, and no run
-- ends without a word.

local faults = require 'tests.faults'
local home = require 'bindings.home'
local random = require 'mare.base.random'
local sample = require 'tests.sample'
local tables = require 'bindings.tables'
local trial = require 'tests.scenarios.trial'

local seed = tonumber(os.getenv 'MARE_TEST_SEED' or 1)

describe('a run in which a call of the system fails', function()
    local folder, runs

    if faults.library:find ' ' then return pending 'LD_PRELOAD takes no path with a space' end

    setup(function()
        folder = trial.new_folder()
        runs = faults.new(folder)
    end)

    teardown(function() trial.remove(folder) end)

    it('makes calls of every kind', function()
        for kind in pairs(faults.kinds) do assert.is_true(runs.counts[kind] > 5, kind) end
    end)

    local drawn = 0
    for _, kind in ipairs(sample(tables.keys(faults.kinds), 4)) do
        it('keeps its files and says why: ' .. kind, function()
            local faulty
            for _, from_there in ipairs(faults.ways(kind)) do
                local n = 1 + math.floor(random.uniform(seed, drawn) * runs.counts[kind])
                drawn = drawn + 1
                local fault, vendor = runs:try(kind, n, from_there)
                assert.is_nil(fault, n)
                faulty = faulty or vendor
            end
            if faulty then pending(faulty .. ' itself faults where this fails') end
        end)
    end

    it('says in one line that memory lacks where modules are loaded', function()
        for n = 1, 3 do
            local status, said = trial.status_of(("LD_PRELOAD='%s' MARE_FAULT=mmap:%d:%d '%s' sod")
                :format(faults.library, n, faults.kinds.mmap, home.launcher))
            assert.equal(1, status, said)
            assert.matches('^mare: [^\n]*memory[^\n]*\nstatus', said)
        end
    end)

    it('leaves files open that no write can complete', function()
        assert.is_nil(runs:try('write', 1, true))
    end)

    it('ends in a library of a driver or of ours, which is told apart', function()
        local vendor = require 'tests.fakes' .. '/fake_system/libvendor.so'
        local code = ("local ffi = require 'ffi' ffi.cdef 'void vendor_fault(const char *how); "
            .. "void *memmove(void *to, const void *from, size_t size); void abort(void);' "
            .. "local vendor = ffi.load '%s' %%s"):format(vendor)
        local function library_of(text)
            local status, said = trial.status_of(("LD_PRELOAD='%s' MARE_FAULT=mmap:999999:12 "
                .. '\'%s\' -e "%s"'):format(faults.library, home.launcher, code:format(text)))
            assert.is_true(status > 128, said)
            assert.matches('fault in ', said)
            return faults.vendor(said)
        end
        for _, how in ipairs { 'itself', 'libc', 'nowhere', 'abort' } do
            assert.equal('libvendor.so', library_of(("vendor.vendor_fault '%s'"):format(how)))
        end
        for _, text in ipairs { "ffi.cast('char *', 0)[0] = 1", 'ffi.C.memmove(nil, vendor, 9)',
            'ffi.C.abort()', "ffi.cast('void (*)(void)', 0)()" } do
            assert.is_nil(library_of(text), text)
        end
    end)

    it('is found out where it loses a file or says nothing', function()
        runs:prepare()
        os.remove(folder .. '/case/x.nc')
        assert.equal('x.nc is lost', runs:fault_of_files(false))
        trial.spit(folder .. '/case/x.nc', 'half')
        assert.is_false((pcall(runs.fault_of_files, runs, false)))
        runs:prepare()
        assert.equal('x.nc is not what the run was to write', runs:fault_of_files(true))
        trial.spit(folder .. '/case/x.nc.1-1.part', '')
        assert.equal('leaves x.nc.1-1.part', (runs:fault_of_checkpoints(true)))
    end)
end)
