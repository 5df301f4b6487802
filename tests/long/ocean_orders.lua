-- build/mare tests/long/ocean_orders.lua [FILE.json [N [SCHEME...]]]: how the error of each scheme
-- of the ocean falls in waves and currents whose course is known (validation/ocean_waves.lua), on
-- grids of N / 2, N and 2 N cells along each: 48; for finite volumes, which are more diffusive at
-- walls, 96, and along a jet, whose half width is a tenth of the side, 192. Prints the order of
-- both pairs in L1 of the elevation and its error on the finest; that of the finer pair must be 1.9
-- or more. Writes the same as JSON. On MARE_TEST_DEVICE.

local json = require 'dkjson'
local waves = require 'tests.validation.ocean_waves'

local path, given = arg[1], tonumber(arg[2])
local schemes = { unpack(arg, 3) }
if #schemes == 0 then schemes = { 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' } end

local function cells_of(scheme, title)
    if scheme == 'linear' or scheme == 'nonlinear' then return 48 end
    return title:find 'jet' and 192 or 96
end

local found, low = {}, 0
for _, title in ipairs(waves.names) do
    for _, scheme in ipairs(schemes) do
        if scheme ~= 'linear' or not waves.advects[title] then
            local n = given or cells_of(scheme, title)
            local coarse = waves.order(waves.problems[title], scheme, n / 2)
            local order, last = waves.order(waves.problems[title], scheme, n)
            found[#found + 1] = { problem = title, scheme = scheme, cells = n, coarse = coarse,
                order = order, error = last }
            if order < 1.9 then low = low + 1 end
            print(('%-50s %-17s %5.2f %5.2f  %.1e'):format(title, scheme, coarse, order, last))
        end
    end
end
print(('%d orders, %d below 1.9'):format(#found, low))
if path and path ~= '-' then
    local file = assert(io.open(path, 'w'))
    file:write(json.encode({ orders = found }, { indent = true }), '\n')
    file:close()
end
os.exit(low == 0 and 0 or 1)
