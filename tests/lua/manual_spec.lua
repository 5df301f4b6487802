-- Tests that the reference manual has every public name, including those that
-- the libraries export, and is well-formed.

local manual = require 'mare.launcher.manual'
local reference = require 'mare.session.reference'

local folder = os.tmpname()
os.remove(folder)
assert(require('lfs').mkdir(folder))

local function text_of(name)
    local file = assert(io.open(folder .. '/' .. name))
    local text = file:read '*a'
    file:close()
    return text
end

describe('the manual', function()
    setup(function() manual.write(folder) end)
    teardown(function()
        for _, name in ipairs { 'mare.html', 'mare.3', 'mare_engine.3', 'mare_lua.3' } do
            os.remove(folder .. '/' .. name)
        end
        os.remove(folder)
    end)

    it('has every symbol of the libraries', function()
        local pages = { libmare = text_of 'mare.3', libmare_engine = text_of 'mare_engine.3' }
        local html, missing, count = text_of 'mare.html', {}, 0
        for line in io.lines 'tests/embed/symbols.txt' do
            local library, name = line:match '^(%S+) (%S+)$'
            local found = html:find('<h3 id="' .. name .. '">', 1, true)
                and pages[library]:find('.SS ' .. name .. '\n', 1, true)
            if not found then missing[#missing + 1] = name end
            count = count + 1
        end
        assert.same({}, missing)
        assert.is_true(count > 100)
    end)

    it('has every entry of the reference once', function()
        local html, missing = text_of 'mare.html', {}
        for _, entry in ipairs(reference.all()) do
            local id = '<h3 id="' .. entry.name:gsub('[&<>"]', '') .. '">'
            local at = html:find(id, 1, true)
            if not at or html:find(id, at + 1, true) then missing[#missing + 1] = entry.name end
        end
        assert.same({}, missing)
    end)

    it('of the launcher has its commands and variables', function()
        local file = assert(io.open 'bindings/package/mare.1')
        local page = file:read '*a':gsub('\\', '')
        file:close()
        local pipe = io.popen(("'%s' --help"):format(require('bindings.home').launcher))
        local usage, missing = pipe:read '*a', {}
        pipe:close()
        for _, pattern in ipairs { '\n +mare (%-?%-?%l+)', 'MARE_[%u_]+' } do
            for word in usage:gmatch(pattern) do
                missing[word] = not page:find(word, 1, true) or nil
            end
        end
        assert.same({}, missing)
        assert.truthy(page:find 'rerun' and usage:find 'rerun')
    end)

    it('leaves no markup in a text', function()
        local text = text_of 'mare_engine.3'
        for line in text:gmatch '[^\n]+' do
            assert.truthy(not line:find "^[.']" or line:find '^%.[TS]H ' or line:find '^%.SS '
                or line:find '^%.[nf][if]$' or line:find '^%.PP$', line)
        end
        assert.falsy(text_of 'mare.html':find '<[^!/%l]')
    end)
end)
