-- Which wave a number of a transform of real numbers along all axes belongs to: for functions that
-- plans of it store with.

local m = require 'mare.dialect.maths'

local waves = {}

-- Returns by axis the places in the transform of an array of this shape, whose last axis is halved.
-- first: the place along the first axis; number: that of the transform along it
function waves.places(shape, first, number)
    local places = { first }
    for k = shape.rank, 2, -1 do
        local size = k == shape.rank and math.floor(shape[k] / 2) + 1 or shape[k]
        places[k] = m.remainder(number, size)
        number = m.int32((number - places[k]) / size)
    end
    return places
end

-- Returns the wave number at a place along an axis of n points: from -n / 2 to n / 2.
function waves.number(place, n)
    return m.where(m.gt(2 * place, n), place - n, place)
end

return waves
