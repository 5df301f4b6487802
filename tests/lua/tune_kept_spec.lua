-- Tests the user's file of tuned shapes, with `mare tune` and keep = true.

local fails = require 'tests.fails'
local ffi = require 'ffi'
local home = require 'bindings.home'
local shapes = require 'mare.shapes'
local trial = require 'tests.scenarios.trial'

ffi.cdef 'int setenv(const char *name, const char *value, int overwrite);'

local mine = '{"kernel":"mine","device":"d","size":5,"shape":{"Z":0}, "time":1.5}'
local newer = '{"kernel":"linear","scheme":"ocean linear","device":"d","size":5,'
    .. '"shape":{"W":4,"NEWFIELD":3},"since":null,"x":0.12345678901234567}'

describe('the file of tuned shapes', function()
    local folder, path

    setup(function()
        folder = trial.new_folder()
        path = folder .. '/tuned.json'
        ffi.C.setenv('MARE_TUNED', path, 1)
    end)

    teardown(function()
        trial.remove(folder)
        ffi.C.setenv('MARE_TUNED', 'off', 1)
        shapes.forget()
    end)

    before_each(function()
        os.remove(path)
        shapes.forget()
    end)

    local function mare_tune(words)
        return trial.status_of(("'%s' tune %s 2>&1"):format(home.launcher, words))
    end

    local function put()
        return pcall(shapes.put, { kernel = 'new', device = 'd', size = 5, shape = { W = 1 } })
    end

    for what, text in pairs { ['notes'] = 'my notes\n', ['an object'] = '{"a":1}',
        ['a list that was cut off'] = '[' .. mine .. '\n', ['two lists'] = '[' .. mine .. '][]',
        ['a list with a hole'] = '[' .. mine .. ',,' .. mine .. ']',
        ['20000 brackets'] = ('['):rep(20000), ['and their ends'] = ('['):rep(20000)
            .. (']'):rep(20000) } do
        it('is left as it is where it holds ' .. what, function()
            trial.spit(path, text)
            for _, words in ipairs { 'clear mine', 'clear nope' } do
                local status, said = mare_tune(words)
                assert.equal(1, status)
                assert.truthy(said:find(path .. ' is no list of tuned shapes: it is left as it is',
                    1, true), said)
            end
            local ok, failure = put()
            assert.is_false(ok)
            fails.says(tostring(failure), 'left')
            assert.is_false((pcall(shapes.check)))
            assert.equal(text, trial.slurp(path))
            local status, said = mare_tune 'ls'
            assert.equal(0, status)
            assert.truthy(said:find('warning: ' .. path .. ' is no list of tuned shapes and is not '
                .. 'used', 1, true), said)
            assert.falsy(said:find('none kept', 1, true))
            status, said = mare_tune 'clear'
            assert.equal(0, status)
            fails.says(said, path, 'is no list', path .. '.damaged')
            assert.equal(text, trial.slurp(path .. '.damaged'))
            assert.is_nil(trial.slurp(path))
            status, said = mare_tune 'ls'
            assert.equal(0, status)
            assert.falsy(said:find('warning', 1, true))
        end)
    end

    it('keeps what this version does not understand, letter for letter', function()
        trial.spit(path, ('[%s, %s,\n3, null, {"size":5}]'):format(newer, mine))
        assert.is_true((put()))
        local text = trial.slurp(path)
        assert.truthy(text:find(('[\n%s,\n%s,\n3,\nnull,\n{"size":5},\n{'):format(newer, mine), 1,
            true), text)
        local status, said = mare_tune 'clear'
        assert.equal(0, status)
        assert.truthy(said:find('2 removed', 1, true), said)
        assert.truthy(said:find(path .. ': 4 that this version does not understand stay', 1, true))
        assert.equal(('[\n%s,\n3,\nnull,\n{"size":5}\n]\n'):format(newer), trial.slurp(path))
    end)

    it('is not written where nothing goes', function()
        local text = ('[ %s,%s ]'):format(newer, mine)
        trial.spit(path, text)
        assert.truthy(select(2, mare_tune 'clear nope'):find '^0 removed')
        assert.truthy(select(2, mare_tune 'clear linear'):find '^0 removed')
        assert.equal(text, trial.slurp(path))
    end)

    it('may be empty', function()
        trial.spit(path, '\n')
        assert.truthy(select(2, mare_tune 'ls'):find('none kept in ' .. path, 1, true))
        assert.is_true((put()))
        assert.equal(1, #shapes.kept())
    end)

    it('is told where it cannot be read', function()
        ffi.C.setenv('MARE_TUNED', folder, 1)
        local status, said = mare_tune 'ls'
        local cleared, words = mare_tune 'clear'
        ffi.C.setenv('MARE_TUNED', path, 1)
        assert.equal(0, status)
        assert.truthy(said:find('warning: ' .. folder .. ' cannot be read (is a folder, a file is '
            .. 'needed) and is not used', 1, true), said)
        assert.equal(1, cleared)
        fails.says(words, 'cannot be', 'read', 'folder')
    end)

    it('is told where it may not be read', function()
        trial.spit(path, '[' .. mine .. ']')
        os.execute(("chmod 000 '%s'"):format(path))
        local file = io.open(path)
        if file then
            file:close()
            return pending 'this user may read everything'
        end
        assert.truthy(select(2, mare_tune 'ls'):find(' cannot be read (Permission denied)', 1,
            true))
    end)
end)
