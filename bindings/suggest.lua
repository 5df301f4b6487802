-- suggest.lua - which known name somebody may have meant.

-- The least number of letters to change, leave out, put in or swap.
local function distance(a, b)
    local before, row = {}, {}
    for j = 0, #b do row[j] = j end
    for i = 1, #a do
        local last = row
        row = { [0] = i }
        for j = 1, #b do
            local same = a:byte(i) == b:byte(j)
            row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
            local is_swapped = i > 1 and j > 1 and a:byte(i) == b:byte(j - 1)
                and a:byte(i - 1) == b:byte(j)
            if is_swapped then row[j] = math.min(row[j], before[j - 2] + 1) end
        end
        before = last
    end
    return row[#b]
end

local longest = 40      -- letters of a name that is looked at

-- Returns the nearest of the names if it is near enough to be meant, or nil.
local function nearest(name, names)
    if type(name) ~= 'string' or #name > longest then return nil end
    local wanted = name:lower():gsub('-', '_')
    local best, least = nil, math.floor(#name / 3) + 1
    for _, known in ipairs(names) do
        local far = distance(wanted, (known:lower():gsub('-', '_')))
        if far < least then best, least = known, far end
    end
    return best
end

-- Whether the name has these letters in this order, and begins with the first: 'vr' of 'version'.
local function is_short_for(letters, name)
    local at = 0
    for k = 1, #letters do
        at = name:find(letters:sub(k, k), at + 1, true)
        if not at or k == 1 and at > 1 then return false end
    end
    return true
end

-- Returns the only one of the names that the letters, two or more, may be short for, or nil.
local function unabbreviated(name, names)
    if type(name) ~= 'string' or #name > longest then return nil end
    local letters, found = name:lower():gsub('[%-_]', ''), nil
    for _, known in ipairs(#letters > 1 and names or {}) do
        if is_short_for(letters, (known:lower():gsub('[%-_]', ''))) then
            if found then return nil end
            found = known
        end
    end
    return found
end

-- suggest(name, names, prefix): returns " (did you mean 'gamma'?)" or ''. prefix:
-- what stands before each of the names, as '--'.
return function(name, names, prefix)
    local meant = nearest(name, names) or unabbreviated(name, names)
    return meant and (" (did you mean '%s'?)"):format((prefix or '') .. meant) or ''
end
