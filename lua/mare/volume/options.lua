-- The options of a run in three dimensions: those of every run that it has, and its own.

local options = require 'mare.base.options'

local taken = { 't-end', 'steps', 'cfl', 'dt', 'precision', 'maths', 'device', 'out', 'every',
    'variables', 'series', 'series-every', 'series-steps', 'gauges', 'checkpoint',
    'checkpoint-every', 'keep', 'restart', 'wall-limit', 'image', 'range', 'film', 'frames',
    'film-width', 'rank-timeout', 'quiet' }

local own = {
    { name = 'nx', default = 128, range = { 4, 2^20 }, setup = true, help = 'cells along x' },
    { name = 'ny', default = 128, range = { 4, 2^20 }, setup = true, help = 'cells along y' },
    { name = 'nz', default = 128, range = { 4, 2^20 }, setup = true, help = 'cells along z' },
    { name = 'slabs', type = 'integer', range = { 1, 1024 }, setup = true, keeps_bits = true,
        help = 'parts along z; without it one for each device, or rank' },
    { name = 'slice', default = 'z', choices = { 'x', 'y', 'z' }, keeps_bits = true,
        help = 'axis across which --image and --film show a slice' },
    { name = 'slice-at', type = 'number', keeps_bits = true,
        help = 'place of the slice on that axis; default: the middle' },
}

local list = { title = 'In three dimensions' }
for _, option in ipairs(own) do list[#list + 1] = option end
for _, name in ipairs(taken) do
    for _, option in ipairs(options.simulation) do
        if option.name == name then list[#list + 1] = option end
    end
end

return list
