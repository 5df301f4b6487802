-- One random function as a kernel and as plain Lua: try(seed) returns 'same', 'refused' or
-- 'wrong', and what was found.

local mare = require 'mare'
local random_functions = require 'tests.random_functions'

local count = 64
local device, arrays

local function open()
    device = mare.device.open(os.getenv 'MARE_TEST_DEVICE' or 'auto')
    local function array(type, f)
        local b, values = device:buffer { type = type, count = count }, {}
        for k = 1, count do values[k] = f(k) end
        b:upload(values)
        return b
    end
    arrays = {
        array('double', function(k) return math.sin(k) * 10 end),
        array('double', function(k) return k / 8 - 3 end),
        array('double', function(k) return 1 / k end),
        array('int32', function(k) return k % 7 end),
    }
end

local function describe(text, result)
    return ('element %s of %s: kernel %.17g, Lua %.17g\n%s'):format(tostring(result.element),
        tostring(result.argument), result.kernel or 0, result.lua or 0, text)
end

return function(seed)
    if not device then open() end
    local text, is_refused = random_functions(seed)
    local f = assert(loadstring(text))()
    local ok, result = pcall(function()
        return mare.kernel(f):check(count, 1.5, unpack(arrays))
    end)
    if ok and result.different == 0 then return is_refused and 'wrong' or 'same', text end
    if ok then return 'wrong', describe(text, result) end
    local has_line = tostring(result):find ':%d+: '
    if has_line and is_refused then return 'refused' end
    return 'wrong', tostring(result) .. '\n' .. text
end
