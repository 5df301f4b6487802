-- fails.lua - what a call is refused with: its status and the words that matter, which are the
-- place, the value and what is allowed. The sentence around them is free to change.
--     fails(function() sim.cfl = 2 end, 'MARE_ERROR_ARGUMENT', 'cfl', '2', 'from 0.001 to 1')
-- A status of nil is any. Gives the message.

local assert = require 'luassert'

local fails = {}

-- That a text has all these words, each as it stands.
function fails.says(text, ...)
    for _, word in ipairs { ... } do
        assert.truthy(text:find(word, 1, true), ('lacks "%s": %s'):format(word, text))
    end
    return text
end

function fails.call(f, status, ...)
    local ok, failure = pcall(f)
    assert.is_false(ok, 'nothing is refused')
    if status then
        assert.equal(status, type(failure) == 'table' and failure.status, tostring(failure))
    end
    return fails.says(tostring(failure), ...)
end

return setmetatable(fails, { __call = function(_, ...) return fails.call(...) end })
