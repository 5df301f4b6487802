-- The table of transforms: rates of Mare beside those of others, whose records name a peer.

local record = require 'tests.bench.record'

-- Prints the records of a benchmark from files. value: the name of what is compared; unit, by: its
-- unit and what it is divided by; is_time: whether less is better
return function(paths, given)
    local names, values, peers = {}, {}, {}
    for _, path in ipairs(paths) do
        for _, r in ipairs(record.read(path, { benchmark = given.benchmark })) do
            local own, peer = values[r.transform], r.peer or 'mare'
            if not own then
                own = {}
                values[r.transform], names[#names + 1] = own, r.transform
            end
            own[peer] = r[given.value] and r[given.value] / given.by
            if peer ~= 'mare' and not peers[peer] then
                peers[peer], peers[#peers + 1] = true, peer
            end
        end
    end
    print(('| transform, %s | Mare | %s | ratio |'):format(given.unit,
        table.concat(peers, ' | ratio | ')))
    print('|---' .. ('|---'):rep(1 + 2 * #peers) .. '|')
    local function shown(format, value) return value and format:format(value) or '' end
    for _, name in ipairs(names) do
        local own = values[name]
        local cells = { name, shown('%.4g', own.mare) }
        for _, peer in ipairs(peers) do
            local ratio = own.mare and own[peer] and own.mare / own[peer]
            if ratio and given.is_time then ratio = 1 / ratio end
            cells[#cells + 1], cells[#cells + 2] = shown('%.4g', own[peer]), shown('%.2f', ratio)
        end
        print('| ' .. table.concat(cells, ' | ') .. ' |')
    end
end
