-- python.lua - Python's package with 10^6 exchanges of each kind, and the kernel for notebooks with
-- 10^4 messages of strangers, and all notebooks. The suite does 2 %, 5 % and one of them.
--     build/mare tests/long/python.lua

local folder = require('bindings.home').launcher:match '^(.*)/'

for _, script in ipairs { 'tests/python/run', 'tests/notebook/run' } do
    local status = os.execute(("MARE_TESTS=long %s '%s'"):format(script, folder))
    if status ~= 0 then
        print(script .. ' failed')
        os.exit(1)
    end
end
