-- init.lua - the module table: every part of Mare that a script uses by name, loaded when it is
-- first used. A part with new() is called like a function: mare.grid { nx = 8, ... }.

local parts = {
    device = 'bindings.device',
    euler = 'mare.schemes.euler',
    grid = 'mare.grid',
    image = 'mare.output.image',
    options = 'mare.options',
    profile = 'mare.profile',
    random = 'mare.random',
    riemann = 'mare.exact.riemann',
    run = 'mare.run',
    simulation = 'mare.simulation',
    source = 'mare.source',
}

local function construct(part, desc)
    return part.new(desc)
end

return setmetatable({ version = require('bindings.device').version }, {
    __index = function(mare, name)
        local path = parts[name]
        if not path then return nil end
        local part = require(path)
        if part.new and not getmetatable(part) then setmetatable(part, { __call = construct }) end
        rawset(mare, name, part)
        return part
    end,
})
