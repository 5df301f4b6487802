-- init.lua - the module table: every part of Mare that a script uses by name, loaded when it is first used.

local parts = {
    device = 'bindings.device',
    options = 'mare.options',
}

return setmetatable({ version = require('bindings.device').version }, {
    __index = function(mare, name)
        local path = parts[name]
        if not path then return nil end
        local part = require(path)
        rawset(mare, name, part)
        return part
    end,
})
