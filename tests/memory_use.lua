-- memory_use.lua - memory_use.measure() returns where the memory of this process is after a
-- collection, in MiB by name: `rss`, what the process has, as the sum of `heap`, `anonymous`,
-- `files` and `stack`, kinds of mappings; `lua`, Lua's heap; `in_use`, what malloc() has given
-- away, and `free`, what it keeps. memory_use.row() is these as a line under memory_use.head.

local ffi = require 'ffi'

ffi.cdef [[
    struct mare_heap { size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks,
        fordblks, keepcost; };
    struct mare_heap mallinfo2(void);
    int malloc_trim(size_t kept);
]]

local memory_use = {}

local columns = { 'rss', 'lua', 'in_use', 'free', 'heap', 'anonymous', 'files' }
memory_use.head = (' %8s'):rep(#columns):format(unpack(columns)) .. '   (MiB)'

function memory_use.measure()
    collectgarbage()
    collectgarbage()
    local sums, kind = { lua = collectgarbage 'count' / 1024 }, nil
    for line in io.lines '/proc/self/smaps' do
        local path = line:match '^%x+%-%x+ %S+ %x+ %S+ %d+ *(.*)'
        if path then
            kind = path == '' and 'anonymous' or path == '[heap]' and 'heap'
                or path:find '^%[' and 'stack' or 'files'
        end
        local size = tonumber(line:match '^Rss: *(%d+)')
        if size then
            sums[kind] = (sums[kind] or 0) + size / 1024
            sums.rss = (sums.rss or 0) + size / 1024
        end
    end
    local heap = ffi.C.mallinfo2()
    sums.in_use = tonumber(heap.uordblks + heap.hblkhd) / 2 ^ 20
    sums.free = tonumber(heap.fordblks) / 2 ^ 20
    return sums
end

-- Gives what malloc() keeps back to the system, as far as it can.
function memory_use.trim()
    collectgarbage()
    collectgarbage()
    ffi.C.malloc_trim(0)
end

function memory_use.row(sums)
    local cells = {}
    for k, name in ipairs(columns) do cells[k] = ('%9.1f'):format(sums[name] or 0) end
    return table.concat(cells)
end

-- How much more the last third of several measurements has of something than the second, in mean.
function memory_use.growth(samples, name)
    local count = math.floor(#samples / 3)
    local function mean(third)
        local sum = 0
        for k = 1, count do sum = sum + samples[(third - 1) * count + k][name] end
        return sum / count
    end
    return mean(3) - mean(2)
end

return memory_use
