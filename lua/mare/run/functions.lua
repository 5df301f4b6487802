-- The functions of a script that a run computes with: what they are is part of what its files hold,
-- and of what a run must share with the one that it goes on from.

local errors = require 'bindings.errors'
local record = require 'mare.translate.record'
local tables = require 'bindings.tables'

local functions = {}

local lists = { 'at', 'every', 'every_steps' }      -- of calls.lua

-- Returns { { name in words, function }, ... } of a description as for run.new, with boundaries of
-- exchange.boundaries.
local function all(desc, with_sides)
    local list, own = {}, desc.scheme.functions or {}
    for _, name in ipairs(tables.keys(own)) do list[#list + 1] = { name, own[name] } end
    for _, field in ipairs(lists) do
        for k, call in ipairs(desc[field] or {}) do
            local change = type(call) == 'table' and call.change
            if type(change) == 'function' then
                list[#list + 1] = { ('%s %d'):format(field, k), change }
            end
        end
    end
    for side, kind in pairs(with_sides and desc.boundaries or {}) do
        if type(kind) == 'table' and kind.kind == 'function' then
            list[#list + 1] = { 'boundary ' .. side, kind.state }
        end
    end
    return list
end

-- Returns what they are, as texts by their names; nil if there are none. Those of sides are told
-- with the boundaries.
function functions.texts(desc)
    local texts = {}
    for _, one in ipairs(all(desc)) do texts[one[1]] = record.text(one[2]) end
    return next(texts) and texts
end

-- Returns the same as attributes of files, and the initial state's, if its text can be found.
function functions.attributes(desc)
    local list = {}
    for name, text in pairs(functions.texts(desc) or {}) do
        list['function_' .. name:gsub(' ', '_')] = text
    end
    local ok, text = pcall(record.text, desc.initial)
    list.function_initial = ok and text or nil
    return list
end

-- Refuses to go on with functions that depend on what no file holds. who: the checkpoint
function functions.check(desc, who)
    for _, one in ipairs(all(desc, true)) do
        local outside = record.of(one[2]).closes_over
        if outside then
            errors.usage('%s: %s closes over %s, whose value no file holds: a run with it cannot '
                .. 'go on', who, one[1], outside)
        end
    end
end

return functions
