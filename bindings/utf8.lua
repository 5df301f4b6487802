-- utf8.lua - texts as sequences of characters: which bytes are none, where a
-- character begins, how many there are.

local utf8 = {}

local replacement = '\239\191\189'      -- U+FFFD

-- The least and the greatest second byte after a first byte where these are not
-- 128 and 191: what is longer than it need be, half a pair of UTF-16, or beyond
-- U+10FFFF is no character.
local least, greatest = { [224] = 160, [240] = 144 }, { [237] = 159, [244] = 143 }

local function length_by(first)
    if first < 128 then return 1 end
    if first >= 194 and first <= 223 then return 2 end
    if first >= 224 and first <= 239 then return 3 end
    return first >= 240 and first <= 244 and 4 or nil
end

-- Returns how many bytes the character at a position has, or nil if there is none; and
-- whether the text ends in the midst of one.
local function character(text, at)
    local first = text:byte(at)
    local length = length_by(first)
    for k = 1, (length or 1) - 1 do
        local byte = text:byte(at + k)
        if not byte then return nil, true end
        local low, high = 128, 191
        if k == 1 then low, high = least[first] or low, greatest[first] or high end
        if byte < low or byte > high then return nil, false end
    end
    return length, false
end

-- Returns where the first byte stands that belongs to no character, from `at` (default
-- 1) on, and whether a character begins there that the text does not end; nil if there is none.
function utf8.fault(text, at)
    at = text:find('[\128-\255]', at or 1)
    while at do
        local length, is_cut = character(text, at)
        if not length then return at, is_cut end
        at = text:find('[\128-\255]', at + length)
    end
end

-- Returns the text with U+FFFD in place of bytes that belong to no character. With
-- `goes_on`, what may be the begin of a character at the end is returned apart.
function utf8.cleaned(text, goes_on)
    local out, from = {}, 1
    local at, is_cut = utf8.fault(text)
    while at and not (is_cut and goes_on) do
        out[#out + 1] = text:sub(from, at - 1) .. replacement
        from = at + 1
        at, is_cut = utf8.fault(text, from)
    end
    if not at then return table.concat(out) .. text:sub(from), '' end
    return table.concat(out) .. text:sub(from, at - 1), text:sub(at)
end

-- Returns the number of characters of a text without faults.
function utf8.length(text)
    local _, count = text:gsub('[^\128-\191]', '')
    return count
end

-- Returns how many bytes the first `count` characters have, of a text without faults.
function utf8.bytes(text, count)
    local at = 1
    for _ = 1, count do
        local first = text:byte(at)
        if not first then return #text end
        at = at + length_by(first)
    end
    return at - 1
end

return utf8
