-- The pages of the three works: every table and figure has a line, with a command that is there.

local bench = require 'mare.measure.bench'
local files = require 'bindings.files'
local home = require 'bindings.home'

local pages = {
    ['2020'] = { 'Listing 1', 'Table 1:3', 'Figure 1:9' },
    ['2022'] = { 'Figure 1:8' },
    ['2023'] = { 'Table 1.1:3', 'Table 2.1:2', 'Table 3.1:2', 'Table 4.1:18', 'Figure 1.1:5',
        'Figure 2.1:13', 'Figure 3.1:2', 'Figure 4.1:10' },
}

-- The names of all that a cell has: "Figures 2.8, 2.9, Table 2.1", "Tables 4.1 to 4.3".
local function named_in(cell, into)
    local kind, last, before
    for word in cell:gmatch '[%w.]+' do
        local found = word:match '^(%u%l+)s?$'
        found = found and (found:match '^Figure' or found:match '^Table' or found:match '^Listing')
        local chapter, number = word:match '^(%d+)%.(%d+)%.?$'
        if not number then chapter, number = '', word:match '^(%d+)$' end
        if found then kind, last = found, nil
        elseif kind and number then
            number = tonumber(number)
            for k = last == 'to' and before or number, number do
                into[kind .. ' ' .. (chapter ~= '' and chapter .. '.' or '') .. k] = true
            end
            before, last = number, nil
        elseif word == 'to' then last = 'to'
        else kind = nil end
    end
end

local function rows_of(text)
    local rows = {}
    for line in text:gmatch '[^\n]+' do
        local cells = {}
        for cell in line:gmatch '| ([^|]*)' do cells[#cells + 1] = cell:match '^%s*(.-)%s*$' end
        if line:find '^| ' then rows[#rows + 1] = cells end
    end
    return rows
end

describe('the page of the work of', function()
    local benches = {}
    for _, one in ipairs(bench.list()) do benches[one.name] = true end

    for year, wanted in pairs(pages) do
        local text = files.read(home.root .. '/scenarios/WORK_' .. year .. '.md')

        it(year .. ' has a line for each table and figure', function()
            local found = {}
            for _, cells in ipairs(rows_of(text)) do named_in(cells[1], found) end
            for _, list in ipairs(wanted) do
                local kind, chapter, first, last = list:match '^(%u%l+) (%d*%.?)(%d+):?(%d*)$'
                for k = tonumber(first), tonumber(last) or tonumber(first) do
                    local name = ('%s %s%d'):format(kind, chapter, k)
                    assert.is_true(found[name], name .. ' is missing')
                end
            end
        end)

        it(year .. ' leaves no cell empty, and has commands that are there', function()
            for _, cells in ipairs(rows_of(text)) do
                for _, cell in ipairs(cells) do assert.truthy(cell:find '%S', cells[1]) end
            end
            assert.is_nil(text:find '@%u')
            for name in text:gmatch '`mare bench ([%w_]+)' do
                assert.is_true(benches[name], name)
            end
            for name in text:gmatch '`mare ([%l_]+)' do
                local is_command = name == 'bench' or name == 'doctor' or name == 'info'
                    or name == 'rerun' or name == 'blas' or name == 'plot'
                local path = home.root .. '/scenarios/' .. name .. '.lua'
                assert.truthy(is_command or files.read(path), name)
            end
        end)
    end
end)
