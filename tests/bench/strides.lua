-- strides.lua - how fast elements that lie apart are read and written: figure 2.10 of
-- Fritzenwallner (2023). A kernel adds 1 to 4 MiB of elements, each `stride` from the last.
--     mare bench strides [DEVICE] [IMAGE.png]

local check_kind = require('mare.array.devices').check_kind
local image = require 'mare.draw.image'
local record = require 'tests.bench.record'
local words = require 'tests.bench.words'

-- Element and how many of them one work-item has beside each other.
local kinds = { { 'char', 'int8', 1 }, { 'int16', 'int16', 1 }, { 'float', 'float', 1 },
    { 'double', 'double', 1 }, { '2 doubles', 'double', 2 }, { '4 doubles', 'double', 4 },
    { '8 doubles', 'double', 8 } }
local c_types = { int8 = 'signed char', int16 = 'short', float = 'float', double = 'double' }
local bytes = record.few(2 ^ 22, 2 ^ 12)
local strides = record.few({ 1, 2, 4, 8, 16, 32, 64 }, { 1, 4 })

local text = [[
MR_KERNEL void stride(MR_GLOBAL %s *a, int s, int count) {
    mr_index i = mr_gid_x();
    if (i < count)
        for (int k = 0; k < %d; ++k) a[i * s * %d + k] += 1;
}
]]

local function measure(device, kind)
    local name, type, packed = unpack(kind)
    local size = { int8 = 1, int16 = 2, float = 4, double = 8 }
    local count = bytes / size[type] / packed
    local a = device:buffer { type = type, label = name,
        count = count * packed * strides[#strides] }
    a:fill(0)
    local kernel = device:program { name = 'stride.krn', source = text:format(c_types[type], packed,
        packed) }:kernel 'stride'
    local curve = { x = {}, y = {}, label = name }
    for k, s in ipairs(strides) do
        local launch = kernel:bind { a = a, s = s, count = count, global = count }
        local seconds, fast, slow = record.time(device, function() launch:run() end, 0.05, 5)
        curve.x[k], curve.y[k] = s, 2 * bytes / seconds / 1e9
        record.write(device, { benchmark = 'strides', element = name, stride = s, bytes = 2 * bytes,
            seconds = seconds, fastest = fast, slowest = slow, rate = 2 * bytes / seconds },
            ('%-9s %-10s stride %3d %9.4g GB/s'):format(device.name, name, s, curve.y[k]))
    end
    return curve
end

local device = words.device(arg[1])
check_kind(device, 'strides')
local picture = words.picture('strides: IMAGE', arg[2])
local curves = {}
for _, kind in ipairs(record.few(kinds, { kinds[1] })) do
    if kind[2] ~= 'double' or device.info.has_double then
        curves[#curves + 1] = measure(device, kind)
    end
end
if picture then
    image.lines { path = picture, width = 1000, height = 700, xlog = true, ylog = true,
        xticks = strides,
        title = device.info.model .. ': elements that lie apart', xlabel = 'stride, elements',
        ylabel = 'GB/s read and written', series = curves }
    print('wrote ' .. picture)
end
