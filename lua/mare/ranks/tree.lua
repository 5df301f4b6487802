-- tree.lua - the binomial tree along which what one rank has reaches all others.

local tree = {}

-- Returns the rank from which `rank` receives, nil for the root, and those to which
-- it then sends, in this order. size: the number of ranks
function tree.of(rank, size, root)
    local relative, distance, children = (rank - root) % size, 1, {}
    while distance < size and relative % (2 * distance) == 0 do distance = 2 * distance end
    local parent = relative > 0 and (rank - distance) % size or nil
    distance = distance / 2
    while distance >= 1 do
        if relative + distance < size then
            children[#children + 1] = (rank + distance) % size
        end
        distance = distance / 2
    end
    return parent, children
end

return tree
