-- boundary.lua - the kinds of boundaries that every scheme knows, by name. Schemes may have open
-- sides beside them.
--
--   rule       KIND_* of base/constants.lua: what the ghost cells hold
--   says       the same in words, for help
--   is_wall    nothing crosses the side, and what lies beyond it is mirrored
--   source     how a source acts on the ghost cells: as on what they stand for (1), as on its
--              mirror image (-1), or not (0)

local constants = require 'mare.base.constants'

local boundary = {}

boundary.kinds = {
    fixed = { rule = constants.KIND_KEEP, source = 0,
        says = 'the ghost cells keep the initial state' },
    periodic = { rule = constants.KIND_COPY, source = 1,
        says = 'what leaves here comes in at the opposite side, which must be periodic too' },
    reflective = { rule = constants.KIND_MIRROR, source = -1, is_wall = true,
        says = 'a wall: the velocity across it changes its sign, all else is mirrored' },
    outflow = { rule = constants.KIND_REPEAT, source = 1,
        says = 'the ghost cells repeat the last cell, so that waves leave, nearly' },
}

-- The kind of a side as a script gives it, or nil of an open side, { kind =, ... }.
function boundary.of(given) return boundary.kinds[given] end

function boundary.is_wall(given)
    local kind = boundary.of(given)
    return kind ~= nil and kind.is_wall == true
end

-- Planes whose component goes across a side, as the bits of a number.
function boundary.mask(planes)
    local mask = 0
    for _, plane in ipairs(planes) do mask = mask + 2 ^ plane end
    return mask
end

return boundary
