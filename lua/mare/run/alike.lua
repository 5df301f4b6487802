-- alike.lua - refuses ranks that do not make the same run: they would wait for each other for ever,
-- or put together what does not belong together.

local core = require 'bindings.device'
local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local home = require 'bindings.home'

local alike = {}

local longest = 80              -- bytes of a value that a message shows

local function shown(text)
    if not text then return 'none' end
    return #text > longest and ('%d bytes'):format(#text) or ("'%s'"):format(text)
end

-- Returns in words what of this rank is not as on rank 0, or false. own, first: of check()
local function difference(own, first)
    local mine, theirs, names = {}, {}, {}
    for _, trait in ipairs(own) do mine[trait[1]] = trait[2] end
    for _, trait in ipairs(first) do theirs[trait[1]], names[#names + 1] = trait[2], trait[1] end
    for _, trait in ipairs(own) do names[#names + 1] = trait[1] end
    for _, name in ipairs(names) do
        if mine[name] ~= theirs[name] then
            return ('%s: %s, there %s'):format(name, shown(mine[name]), shown(theirs[name]))
        end
    end
    return false
end

-- traits: { { what, its value as text }, ... }. All ranks call it.
function alike.check(traits)
    local found = difference(traits, here.broadcast(traits))
    for rank, text in ipairs(here.all(found)) do
        if text then
            errors.argument('simulation: rank %d makes another one than rank 0: %s. All ranks need '
                .. 'the same options and the same build of Mare', rank - 1, text)
        end
    end
end

-- Refuses ranks with another build, script or option than rank 0's; each may have devices of its
-- own. o: of mare.options
function alike.options(o)
    if here.size == 1 then return end
    local script = (home.options or {}).script or { name = '', text = '' }
    local traits = { { 'build', core.full_version }, { 'script', (script.name:gsub('^.*/', '')) } }
    for _, option in ipairs(o.metadata and o:metadata() or {}) do
        if option.name ~= 'device' then
            local name = 'option --' .. option.name:gsub('_', '-')
            traits[#traits + 1] = { name, tostring(option.value) }
        end
    end
    traits[#traits + 1] = { 'text of the script', script.text }
    alike.check(traits)
end

return alike
