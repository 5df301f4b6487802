-- Tests that every format of --out keeps what files/README.md says of one, and how it is chosen.

local ffi = require 'ffi'
local fails = require 'tests.fails'
local files = require 'bindings.files'
local formats = require 'mare.files.formats'
local lfs = require 'lfs'
local netcdf = require 'mare.files.netcdf'
local structure = require 'mare.base.structure'

local folder, values

before_each(function()
    folder, values = os.tmpname(), ffi.new('float[6]', { 1, 2, 3, 4, 5, 6 })
    os.remove(folder)
    assert(lfs.mkdir(folder))
end)

after_each(function()
    for name in lfs.dir(folder) do os.remove(folder .. '/' .. name) end
    lfs.rmdir(folder)
end)

local function entries()
    local names = {}
    for name in lfs.dir(folder) do
        if not name:find '^%.' then names[#names + 1] = name end
    end
    return names
end

local function spec_of(ending)
    return { path = folder .. '/out.' .. ending, command = 'mare test', owner = 'run-mark',
        grid = { nx = 3, ny = 2, x = { 0, 3 }, y = { 0, 2 } },
        variables = { { name = 'rho', type = 'float' } }, attributes = { run_id = 'run' } }
end

local function get() return values end

for _, ending in ipairs(formats.endings()) do
    describe('the format .' .. ending, function()
        local module = formats.of('a.' .. ending)

        it('goes on from a position that holds what it wants', function()
            local spec = spec_of(ending)
            local first = module.writer(spec)
            first:write(0, get)
            local position = first:seal()
            first:keep()
            first:write(1, get)
            first:abort()
            assert.is_nil(structure.fault(position, { path = structure.text,
                temporary = structure.text, size = structure.whole, shape = structure.text }))
            assert.is_nil(module.fault(position))
            assert.is_string(module.fault {})
            assert.equal(spec.path, position.path)
            local second = module.resume(spec, position)
            second:write(1, get)
            second:close()
            assert.is_true(files.size(spec.path) >= position.size)
            spec.variables[1].name = 'p'
            fails(function() module.resume(spec, position) end, nil, spec.path)
        end)

        it('leaves nothing of a run that failed', function()
            local out = module.writer(spec_of(ending))
            out:write(0, get)
            out:abort()
            assert.same({}, entries())
        end)
    end)
end

it('a file of another ending is NetCDF', function()
    assert.equal(netcdf, formats.of 'out.dat')
    assert.equal(netcdf, formats.of 'out')
    assert.equal(netcdf, formats.of 'out.NC')
end)
