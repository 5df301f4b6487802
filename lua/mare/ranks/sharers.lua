-- sharers.lua - which ranks have the same GPU and take turns on it.

-- Returns a text for each GPU of several ranks. all: for each rank, the first at 1, an
-- array of what its GPUs are called, each of which is one GPU of one machine, or false
return function(all)
    local ranks_of, names, texts = {}, {}, {}
    for k, own in ipairs(all) do
        for _, name in ipairs(own) do
            if name and not ranks_of[name] then
                ranks_of[name], names[#names + 1] = {}, name
            end
            local of = ranks_of[name]
            if name and of[#of] ~= k - 1 then of[#of + 1] = k - 1 end
        end
    end
    for _, name in ipairs(names) do
        if #ranks_of[name] > 1 then
            texts[#texts + 1] = ('ranks %s share %s and take turns on it: start as many on a '
                .. 'machine as it has GPUs'):format(table.concat(ranks_of[name], ', '), name)
        end
    end
    return texts
end
