-- fft.lua - errors of transforms of every length, beside NumPy in double.
--     build/mare tests/long/fft.lua [FIRST [LAST [STEP [LONG]]]]
-- lengths FIRST (1) to LAST (4096) by STEP (1), and LONG (200) random ones to 2^20

local ffi = require 'ffi'
local factors = require 'mare.stages.factors'
local mare = require 'mare'
local random = require 'mare.base.random'
local trial = require 'tests.scenarios.trial'

local first, last, step = tonumber(arg[1] or 1), tonumber(arg[2] or 4096), tonumber(arg[3] or 1)
local long = tonumber(arg[4] or 200)

-- What a length is, and the error allowed of such ones.
local function kind_of(n)
    if factors.is_smooth(n) then return 'smooth', 0.75 end
    if factors.is_prime(n) and factors.is_smooth(n - 1) then return 'rader', 1.3 end
    return 'bluestein', 1.6
end

local function bytes(x)
    local copy = ffi.new('complex float[?]', x.count)
    x:buffer():download { into = copy }
    return ffi.string(copy, 8 * x.count)
end

local folder = trial.new_folder()
local data, list = assert(io.open(folder .. '/data', 'wb')), {}

local function add(n)
    local x = mare.complex(mare.rand({ n }, { seed = n }) - 0.5,
        mare.rand({ n }, { seed = n + 2 ^ 21 }) - 0.5):eval()
    data:write(bytes(x), bytes(mare.fft.fft(x)))
    list[#list + 1] = ('%d %s %.2f\n'):format(n, kind_of(n))
end

for n = first, last, step do add(n) end
for k = 1, long do add(4097 + math.floor(random.uniform(5, k) * (2 ^ 20 - 4096))) end
data:close()
trial.spit(folder .. '/list', table.concat(list))
local python = trial.python 'numpy' or error 'needs Python with numpy'
local status, output = trial.status_of(('%s tests/long/fft.py %s/data %s/list'):format(python,
    folder, folder))
trial.remove(folder)
io.write(output)
os.exit(status)
