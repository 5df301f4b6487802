-- Every kernel file compiles without a word, in one variant and precision of each file and in all
-- of them in tests/long: on every device, and for CUDA, which needs no device; for that the suite
-- takes a third of the files, and all that only CUDA compiles. Files are found in the folder;
-- variants.lua says which defines they want.

local derive = require 'mare.array.derive'
local device = require 'bindings.device'
local choices = require 'mare.schemes.choices'
local every = require 'tests.every_scheme'
local fails = require 'tests.fails'
local ocean = require 'mare.ocean'
local part = require 'tests.kernels.part'
local sample = require 'tests.sample'
local shapes = require 'mare.shapes'
local source = require 'mare.base.source'
local system = require 'bindings.system'
local tables = require 'bindings.tables'
local variants = require 'tests.kernels.variants'

local sm = 'cuda:sm_90'

-- Every scalar type that the dialect names.
local types = { name = 'types.krn', source = [[
MR_KERNEL void types(MR_GLOBAL uchar *a, MR_GLOBAL ushort *b, MR_GLOBAL uint *c, MR_GLOBAL ulong *d,
                     int32_t e, uint32_t f, int64_t g, uint64_t h, mr_index i, real j) {
    d[0] = (ulong)(a[0] + b[0] + c[0] + e + f) + h + (ulong)(g + i) + (ulong)j;
}]] }

-- The kernel files, as paths below the folder.
local function files()
    local list, root = {}, source.folder
    local pipe = io.popen(("find '%s' -name '*.krn' | sort"):format(root))
    for path in pipe:lines() do list[#list + 1] = path:sub(#root + 2) end
    pipe:close()
    return list
end

-- Returns those that the suite compiles for CUDA.
local function files_for_cuda()
    local shared, list = {}, {}
    for _, file in ipairs(files()) do
        local v = variants.of(file, 'float', 32)[1]
        table.insert(v and v.cuda and list or shared, file)
    end
    for _, file in ipairs(sample(shared, math.ceil(#shared / 3))) do list[#list + 1] = file end
    return list
end

-- Calls use(title, program table) for at most `count` variants of each file; `team` lanes shuffle.
local function each(list, team, is_cuda, count, use)
    use('all scalar types', types)
    for _, file in ipairs(list) do
        for _, precision in ipairs(sample({ 'float', 'double' }, 1)) do
            for _, v in ipairs(sample(variants.of(file, precision, team), count)) do
                if is_cuda or not v.cuda then
                    local desc = { defines = v.defines, math = v.math, has_source = v.source }
                    use(v.title, v.program or v.equation and v.equation:program(file, desc)
                        or source.program(file, desc))
                end
            end
        end
    end
end

-- The same program with all warnings of clang, which PoCL is made of, but those about functions of
-- headers that nobody calls.
local function strict(d, desc)
    if not d.info.driver:find 'PoCL' then return desc end
    local copy = {}
    for key, value in pairs(desc) do copy[key] = value end
    copy.source = ('#pragma clang diagnostic warning "-Wall"\n'
        .. '#pragma clang diagnostic ignored "-Wunused-function"\n#line 1 "%s"\n'):format(desc.name)
        .. desc.source
    return copy
end

-- What f gives. A failure says where a kernel tells what it wants.
local function told(f, ...)
    local ok, result, more = pcall(f, ...)
    if ok then return result, more end
    error(tostring(result)
        .. '\nA kernel that wants defines has a row in tests/kernels/variants.lua.', 0)
end

local function has_nvrtc()
    local ok, failure = pcall(device.check, sm, { source = 'MR_KERNEL void f(int n) { }' })
    return ok or failure.status ~= 'MARE_ERROR_UNAVAILABLE'
end

-- Calls use(title, program table) for the derived variables of each scheme, and of each way to take
-- friction, in one precision or both.
local function each_derived(precisions, use)
    local list = every.deriving()
    local frictions = { linear = 'manning', nonlinear = 'quadratic', cdklm = 'linear',
        kurganov_petrova = false }
    for _, name in ipairs(tables.keys(frictions)) do
        local kind = frictions[name]
        list[#list + 1] = ocean.new { scheme = name, depth = 1,
            friction = kind and { kind = kind, coefficient = 1 } or nil }
    end
    for k, scheme in ipairs(list) do list[k] = { scheme, METRIC = k % 2, FORCING = k % 3 } end
    for _, case in ipairs(sample(list, 2)) do
        local scheme = case[1]
        for _, precision in ipairs(precisions) do
            local defines = { MARE_REAL = precision, METRIC = case.METRIC, FORCING = case.FORCING,
                CORIOLIS = 0 }
            use(('variables of %s %s %s'):format(scheme.name, scheme.scheme, precision),
                (derive.program(scheme, defines)))
        end
    end
end

local function check(program)
    local bytes, log = told(device.check, sm, program)
    assert.equal('', log)
    assert.is_true(bytes > 0)
end

local function for_target()
    each(files_for_cuda(), 32, true, 1, function(title, program)
        it('compile: ' .. title, function()
            if not has_nvrtc() then return pending 'there is no NVRTC here' end
            check(program)
        end)
    end)

    each_derived(sample({ 'float', 'double' }, 1), function(title, program)
        it('compile: ' .. title, function()
            if not has_nvrtc() then return pending 'there is no NVRTC here' end
            check(program)
        end)
    end)

    it('a group that is no number of teams is refused', function()
        if not has_nvrtc() then return pending 'there is no NVRTC here' end
        local defines = choices.defines('minmod', 1.3, {})
        defines.TEAM, defines.GROUP = 32, 16
        local ok, failure = pcall(device.check, sm,
            source.program('physics/ocean/volumes.krn', { defines = defines }))
        assert.is_false(ok)
        fails.says(tostring(failure), 'GROUP', 'TEAM', 'multiple')
    end)

    it('a bound of registers is heeded beside the size of a group', function()
        if not has_nvrtc() then return pending 'there is no NVRTC here' end
        local function size(count)
            return device.check(sm, source.program('physics/ocean/volumes.krn', {
                defines = variants.volume('float', 32, 3)[2], math = 'fast',
                options = shapes.options({ name = 'cuda:0', vendor = 'NVIDIA' }, count) }))
        end
        for _, pair in ipairs(sample({ { 48, 96 }, { 0, 96 }, { 48, 64 } }, 1)) do
            assert.not_equal(size(pair[1]), size(pair[2]))
        end
    end)
end

describe('the rows of variants.lua', function()
    it('are each of a kernel file, and each file is compiled', function()
        local found = {}
        for _, file in ipairs(files()) do
            local row = variants.row_of(file)
            if row then
                assert.is_nil(found[row], row .. ' is the end of two paths')
                found[row] = true
            end
            local compiled = #variants.of(file, 'float', 32) + #variants.of(file, 'double', 32)
            assert.is_true(compiled > 0, file .. ' has no variant')
        end
        for row in pairs(variants.rows) do assert.is_true(found[row], row .. ' is no kernel') end
    end)
end)

if not os.getenv 'MARE_TEST_DEVICE' then describe('kernels for ' .. sm, for_target) end

for _, d in ipairs(part.devices()) do
    local function build(program)
        local p = told(d.program, d, strict(d, program))
        assert.equal('', p.log)
        p:release()
    end

    describe('kernels on ' .. d.name, function()
        local shuffles = source.shuffles(d.info)
        local is_cuda = d.name:find '^cuda' ~= nil
        each(files(), shuffles and 32 or 64, is_cuda, 1, function(title, program)
            it('compile: ' .. title, function() build(program) end)
        end)
        each_derived({ 'double' }, function(title, program)
            it('compile: ' .. title, function() build(program) end)
        end)

        it('that have something unused do not', function()
            -- What comes from a cache has no warnings: this text was never compiled before.
            local program = { name = 'f.krn', source = ('// %d %.17g\n'):format(system.process(),
                system.now()) .. 'MR_KERNEL void f(int n) {\n    int unused = n;\n}\n' }
            local ok, failure = pcall(build, program)
            if not d.info.driver:find 'PoCL' and not d.name:find '^cuda' then
                return pending('this compiler does not warn of it')
            end
            assert.is_false(ok)
            fails.says(tostring(failure), 'f.krn', 'unused')
        end)
    end)
end
