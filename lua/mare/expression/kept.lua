-- Texts that take long to write, such as sources of kernels, in the cache of programs: this process
-- or a later one reads them there. A text follows from its key and from the modules that write it.

local cache = require('bindings.device').cache
local files = require 'bindings.files'
local folders = require 'bindings.folders'
local home = require 'bindings.home'
local zlib = require 'bindings.zlib'

local kept = {}

-- Returns the CRC-32 and the size of all files of rooms of lua/mare/; nil if there are none.
local function digest(rooms)
    local crc, size = 0, 0
    for _, room in ipairs(rooms) do
        local folder = ('%s/lua/mare/%s/'):format(home.root, room)
        local names = folders.list(folder) or {}
        table.sort(names)
        for _, name in ipairs(names) do
            local text = files.read(folder .. name)
            if text then crc, size = zlib.crc32(crc, text, #text), size + #text end
        end
    end
    return size > 0 and ('%08x %d '):format(crc, size) or nil
end

-- Returns { find(key): the text under a key, or nil; keep(key, text) } for texts that modules of
-- these rooms write. name: what the list of the cache shows
function kept.of(name, rooms)
    local own = {}
    local function sources()
        if own.sources == nil then
            local ok, found = pcall(digest, rooms)
            own.sources = ok and found or false
        end
        return own.sources
    end
    return {
        find = function(key) return sources() and cache.find(own.sources .. key) or nil end,
        keep = function(key, text)
            if sources() then cache.keep(own.sources .. key, name, text) end
        end,
    }
end

return kept
