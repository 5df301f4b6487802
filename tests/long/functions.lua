-- functions.lua - random functions as kernels and as plain Lua, in double: the numbers are the
-- same, or the function is refused with the line where it stands. Four in five are the same.
--     build/mare tests/long/functions.lua [CASES [FIRST]]

local try = require 'tests.functions_case'

local cases, first = tonumber(arg[1] or 300), tonumber(arg[2] or 1)
local count = { same = 0, refused = 0, wrong = 0 }
for seed = first, first + cases - 1 do
    local result, text = try(seed)
    count[result] = count[result] + 1
    if result == 'wrong' then print(('case %d: %s'):format(seed, text)) end
end
print(('%d functions: %d the same, %d refused, %d wrong'):format(cases, count.same, count.refused,
    count.wrong))
os.exit(count.wrong == 0 and count.same >= 0.8 * cases and 0 or 1)
