-- Every kernel file compiles in every variant without a word, on every device and, unless one is
-- named, for CUDA without a device.

local device = require 'bindings.device'
local frame = require 'mare.schemes.frame'
local part = require 'tests.kernels.part'
local renderer = require 'mare.mandelbrot.renderer'
local shapes = require 'mare.shapes'
local source = require 'mare.base.source'

local water = require 'mare.schemes.shallow_water'

local sm = 'cuda:sm_90'
local sweeps = { 'traverse/sweep_x.krn', 'traverse/sweep_y.krn', 'traverse/max_rate.krn' }
local stages = { 'traverse/stage.krn' }
local marches = {       -- of the widest accesses and the narrowest
    { W = 4, 'mc', 'hllc', 'float' }, { W = 2, 'van_leer', 'hll', 'double' },
    { W = 1, 'minmod', 'lax_friedrichs', 'float' },
}
local others = {
    'array/clock.krn', 'array/differ.krn', 'array/halo.krn', 'array/sample.krn',
    'draw/colour.krn', 'measure/copy.krn', 'measure/saxpy.krn',
    'physics/euler/derive.krn', 'physics/shallow_water/derive.krn',
}
local variants = {      -- each limiter, each flux, each width
    { W = 4, 'mc', 'hllc' }, { W = 2, 'minmod', 'hll' }, { W = 1, 'van_leer', 'lax_friedrichs' },
    { W = 8, 'superbee', 'hllc' }, { W = 4, 'none', 'hll' },
}

local shallow_water = {
    float = { 'lax_friedrichs', 'hll', 'waf', 'kurganov_petrova' },
    double = { 'force', 'muscl_hancock', 'kurganov_petrova_split', 'kurganov_petrova_rk3' },
}

-- Every scalar type that the dialect names.
local types = { name = 'types.krn', source = [[
MR_KERNEL void types(MR_GLOBAL uchar *a, MR_GLOBAL ushort *b, MR_GLOBAL uint *c, MR_GLOBAL ulong *d,
                     int32_t e, uint32_t f, int64_t g, uint64_t h, mr_index i, real j) {
    d[0] = (ulong)(a[0] + b[0] + c[0] + e + f) + h + (ulong)(g + i) + (ulong)j;
}]] }

-- The C-grid kernels: each choice of domain.h once.
local c_grid = {     -- W, METRIC, CORIOLIS, FRICTION, FORCING, VISCOSITY
    { 4, 0, 0, 0, 0, 0 }, { 2, 0, 1, 1, 1, 0 }, { 1, 0, 2, 3, 2, 1 }, { 4, 1, 1, 2, 0, 1 },
}

local function each_c_grid(precision, use)
    for k, v in ipairs(c_grid) do
        for _, name in ipairs { 'linear', 'nonlinear', 'c_grid_rate' } do
            local defines = {
                MARE_REAL = precision, GROUP = 64, W = name == 'c_grid_rate' and 1 or v[1],
                METRIC = v[2], CORIOLIS = v[3], FRICTION = v[4], FORCING = v[5],
                VISCOSITY = name == 'nonlinear' and v[6] or 0,
                NONLINEAR = name == 'nonlinear' and 1 or 0, OLD_AHEAD = k % 2,
            }
            use(('physics/ocean/%s.krn %s %d'):format(name, precision, k),
                source.program(('physics/ocean/%s.krn'):format(name), { defines = defines }))
        end
    end
end

-- The finite volumes: teams of lanes, or none.
local volumes = {   -- W, RING, METRIC, CORIOLIS, FRICTION, FORCING, VISCOSITY, LAND_CELLS, WALLS
    { 2, 5, 0, 0, 0, 0, 0, 0, 0 }, { 4, 5, 1, 2, 3, 2, 1, 1, 1 }, { 4, nil, 0, 1, 2, 1, 0, 1, 1 },
}

local function volume_defines(precision, team, k)
    local defines, v = frame.defines('minmod', 1.3, {}), volumes[k]
    for n, name in ipairs { 'W', 'RING', 'METRIC', 'CORIOLIS', 'FRICTION', 'FORCING', 'VISCOSITY',
        'LAND_CELLS', 'WALLS' } do
        defines[name] = v[n]
    end
    defines.MARE_REAL, defines.GROUP, defines.UNROLL = precision, team, 1
    defines.BALANCED, defines.TEAM = k % 2, v[2] and team
    return defines
end

local function each_volumes(precision, team, use)
    for k in ipairs(volumes) do
        local defines = volume_defines(precision, team, k)
        -- the largest is for those whose lanes shuffle: others take half a minute over it
        local names = team == 64 and k == 2 and { 'volume_rate' } or { 'volumes', 'volume_rate' }
        for _, name in ipairs(names) do
            use(('physics/ocean/%s.krn %s %d'):format(name, precision, k),
                source.program(('physics/ocean/%s.krn'):format(name), { defines = defines }))
        end
    end
end

-- What surrounds an ocean, on centres and on faces.
local function each_domain(precision, use)
    for staggered = 0, 1 do
        for _, name in ipairs { 'open', 'sponge', 'prescribe', 'derive', 'drift' } do
            use(('physics/ocean/%s.krn %s %d'):format(name, precision, staggered),
                source.program(('physics/ocean/%s.krn'):format(name), { defines = {
                    MARE_REAL = precision, STAGGERED = staggered, METRIC = staggered,
                    CORIOLIS = staggered + 1, FORCING = staggered + 1,
                } }))
        end
    end
end

local function march(defines, team)
    defines.GROUP, defines.TEAM, defines.DEPTH, defines.GRAVITY = 64, team, 4, 1
    return source.program('traverse/march.krn', { defines = defines, math = 'fast' })
end

local function tile(defines)
    defines.GROUP, defines.TEAM, defines.GRAVITY = 256, 32, 1      -- fewer own no row
    return source.program('traverse/tile.krn', { defines = defines, math = 'fast' })
end

local function resident(defines)
    defines.GROUP, defines.TEAM, defines.POSTS, defines.ROWS = 384, 32, 3, 4
    defines.GRADUAL, defines.GRAVITY = 0, 0
    return source.program('traverse/resident.krn', { defines = defines, math = 'fast' })
end

local function waf_defines()
    local defines = { MARE_REAL = 'float', W = 2 }
    for define, value in pairs(water.new { scheme = 'waf' }.defines) do defines[define] = value end
    return defines
end

-- Calls use(title, program table) for all of them; `team` lanes shuffle.
local function each(team, use)
    use('all scalar types', types)
    for _, v in ipairs(marches) do
        local function defines() return part.defines(v[3], { W = v.W }, v[2], v[1]) end
        use(('traverse/march.krn %s W %d'):format(v[3], v.W), march(defines(), team))
        if v.W < 4 then use(('traverse/tile.krn %s W %d'):format(v[3], v.W), tile(defines())) end
    end
    use('traverse/march.krn waf', march(waf_defines(), team))
    use('traverse/tile.krn waf', tile(waf_defines()))
    use('mandelbrot/shade.krn', source.program 'mandelbrot/shade.krn')
    for _, mode in ipairs { 'float', 'double', 'double-double', 'perturbation' } do
        use('mandelbrot in ' .. mode, renderer.program(mode, mode ~= 'double'))
    end
    for _, precision in ipairs { 'float', 'double' } do
        for _, file in ipairs(others) do
            local defines = { W = 4, GROUP = 64, MARE_REAL = precision }
            use(file .. ' ' .. precision, source.program(file, { defines = defines }))
        end
        for _, file in ipairs(sweeps) do
            for _, v in ipairs(variants) do
                local defines = part.defines(precision, { W = v.W, GROUP = 64 }, v[2], v[1])
                local title = ('%s %s W %d %s %s'):format(file, precision, v.W, v[1], v[2])
                use(title, source.program(file, { defines = defines }))
            end
        end
        each_c_grid(precision, use)
        each_volumes(precision, team, use)
        each_domain(precision, use)
        for _, name in ipairs(shallow_water[precision]) do
            local scheme = water.new { scheme = name }
            for _, file in ipairs(scheme.stages and stages or sweeps) do
                local defines = { MARE_REAL = precision, W = 4, GROUP = 64 }
                for define, value in pairs(scheme.defines) do defines[define] = value end
                local title = ('%s %s %s'):format(file, precision, name)
                use(title, source.program(file, { defines = defines }))
            end
        end
    end
end

local function has_nvrtc()
    local ok, failure = pcall(device.check, sm, { source = 'MR_KERNEL void f(int n) { }' })
    return ok or failure.status ~= 'MARE_ERROR_UNAVAILABLE'
end

local function for_target()
    each(32, function(title, program)
        it('compile: ' .. title, function()
            if not has_nvrtc() then return pending 'there is no NVRTC here' end
            assert.is_true(device.check(sm, program) > 0)
        end)
    end)

    for _, flux in ipairs { 'hll', 'hllc' } do      -- CUDA's alone
        it('compile: traverse/resident.krn ' .. flux, function()
            if not has_nvrtc() then return pending 'there is no NVRTC here' end
            local defines = part.defines('float', { W = 2 }, flux, 'minmod')
            assert.is_true(device.check(sm, resident(defines)) > 0)
        end)
    end

    it('a group that is no number of teams is refused', function()
        if not has_nvrtc() then return pending 'there is no NVRTC here' end
        local defines = frame.defines('minmod', 1.3, {})
        defines.TEAM, defines.GROUP = 32, 16
        local ok, failure = pcall(device.check, sm,
            source.program('physics/ocean/volumes.krn', { defines = defines }))
        assert.is_false(ok)
        assert.truthy(tostring(failure):find('GROUP is not a multiple of TEAM', 1, true))
    end)

    it('a bound of registers is heeded beside the size of a group', function()
        if not has_nvrtc() then return pending 'there is no NVRTC here' end
        local function size(count)
            return device.check(sm, source.program('physics/ocean/volumes.krn', {
                defines = volume_defines('float', 32, 1), math = 'fast',
                options = shapes.options({ name = 'cuda:0', vendor = 'NVIDIA' }, count) }))
        end
        assert.not_equal(size(64), size(48))
        assert.not_equal(size(0), size(96))
    end)
end

if not os.getenv 'MARE_TEST_DEVICE' then describe('kernels for ' .. sm, for_target) end

for _, d in ipairs(part.devices()) do
    describe('kernels on ' .. d.name, function()
        each(d.info.vendor:find 'NVIDIA' and 32 or 64, function(title, program)
            it('compile: ' .. title, function()
                local p = d:program(program)
                assert.equal('', p.log)
                p:release()
            end)
        end)
    end)
end
