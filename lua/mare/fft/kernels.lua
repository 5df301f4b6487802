-- Kernels of transforms: which one a description needs, its tables, and its launch. They
-- are kept with the device; their binaries are in core's cache on disk. A description has
--
--     n            points of the transform; of 'split' and 'pairs' pairs of numbers
--     points       points of the stages: n, or those of a convolution
--     radices      of the stages; radices_back: of those of a convolution's second half
--     convolution  'bluestein' or 'rader': the algorithm; nil if stages do it all
--     real_length  with 'split': 2 n
--     load, store  { kind, type, unit: 'axis' or 'inner' if the stride of that is 1, f: the
--                  script's function, index(k): its index where that is not k }; of load
--                  also length, the whole length of 'hermitian', and is_padded; is_paired:
--                  whether 'pairs' are aligned as complex numbers are
--     roots, root_bits, root_level     of a part of a longer transform: see tables.lua
--     batch        the number of the transform, where that is not one of all levels
--     is_inverse; real: 'float' or 'double'; index: the type of places in arrays
--     width        transforms that a tile has; on a GPU items: work-items of one;
--                  is_column: whether neighbouring work-items have neighbouring transforms, and
--                  is_turned: whether these are stored as rows; is_warp: whether each is done
--                  within a warp; has_few_roots: see tables.lua
--     is_cpu, tables

local bound = require 'bindings.array'
local cpu = require 'mare.fft.cpu'
local errors = require 'bindings.errors'
local expression = require 'mare.expression.launches'
local gpu = require 'mare.fft.gpu'
local source_of = require 'mare.base.source'
local straight = require 'mare.expression.straight'
local tables = require 'mare.fft.tables'
local tables_of = require 'bindings.tables'

local kernels = { compiled = 0 }

-- ---- which kernel ----

local function end_key(list, part)
    for _, name in ipairs { 'kind', 'unit', 'length', 'is_padded', 'is_paired', 'index_key' } do
        list[#list + 1] = tostring(part[name])
    end
    list[#list + 1] = part.type.name
end

-- Returns a text that differs if two descriptions differ in more than the script's functions.
local function key_of(d)
    local list = {}
    for _, name in ipairs { 'n', 'points', 'convolution', 'real_length', 'roots', 'root_level',
        'batch', 'is_column', 'is_inverse', 'real', 'index', 'width', 'is_cpu' } do
        list[#list + 1] = tostring(d[name])
    end
    end_key(list, d.load)
    end_key(list, d.store)
    return table.concat(list, ' ')
end

-- ---- compilation ----

-- Returns the text of the kernel that a description needs, and sets its tables.
function kernels.source(d)
    d.tables = tables.of(d)
    return (d.is_cpu and cpu or gpu).text(d)
end

local function compile(d, device)
    if d.real == 'double' and not device.info.has_double then
        errors.argument('fft: %s computes no doubles: convert to float', device.name)
    end
    local program = device:program(source_of.text(kernels.source(d), 'fft',
        { math = 'strict', defines = { MARE_REAL = d.real } }))
    kernels.compiled = kernels.compiled + 1
    local launch = program:kernel('transform'):launch()
    local numbers = tables.numbers(d.tables, d.is_cpu)
    local size, width = math.max(#numbers, 2), d.real == 'double' and 8 or 4
    local cell = bound.allocate(device, d.is_cpu and d.real or 'complex_' .. d.real, size * width)
    if #numbers > 0 then
        bound.upload(cell, d.real, bound.from_table('fft', numbers, d.real), #numbers)
    end
    return { launch = launch, handle = launch.handle, table = cell, width = d.width,
        group = d.is_cpu and 1 or d.width * d.items, is_cpu = d.is_cpu,
        units = device.info.compute_units }
end

local kept = setmetatable({}, expression.by_device)     -- by device, functions and key
local none = {}                                         -- instead of a function

-- Returns the kernel of a description.
function kernels.of(d, device)
    local under = tables_of.under
    local list = under(kept, device)
    list = under(list, d.load.f or none, expression.by_device)
    list = under(list, d.store.f or none, expression.by_device)
    local key = key_of(d)
    if not list[key] then list[key] = compile(d, device) end
    return list[key]
end

-- ---- launches ----

-- Returns how many tiles a work-item takes.
local function chunk_of(kernel, tiles)
    if not kernel.is_cpu then return 1 end
    return math.max(1, math.ceil(tiles / (8 * kernel.units)))
end

-- Queues a kernel. levels: numbers of transforms along the three levels; places: for in and
-- out { offset, stride of points, strides of the levels }
function kernels.run(kernel, device, from, to, levels, places, filled, scale)
    local handle, at = kernel.handle, 3
    local function add(value)
        bound.set_number(handle, at, value)
        at = at + 1
    end
    bound.set_memory(handle, 0, from)
    bound.set_memory(handle, 1, to)
    bound.set_memory(handle, 2, kernel.table)
    local tiles = math.ceil(levels[1] / kernel.width) * levels[2] * levels[3]
    local chunk = chunk_of(kernel, tiles)
    for _, value in ipairs { levels[1], levels[2], tiles, chunk, filled } do add(value) end
    for _, place in ipairs(places) do
        for k = 1, 5 do add(place[k]) end
    end
    add(scale)
    bound.set_shape(handle, math.ceil(tiles / chunk) * kernel.group, 1, kernel.group, 1)
    bound.run(handle)
    straight.let_go(kernel, device, 1)
end

return kernels
