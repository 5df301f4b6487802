-- bindings/folders.lua and links, against LuaFileSystem, which is another program of the same.
local folders = require 'bindings.folders'
local lfs = require 'lfs'
local posix = require 'bindings.posix'

describe('folders', function()
    local place

    before_each(function()
        place = os.tmpname()
        os.remove(place)
        assert.is_true(folders.make(place))
    end)
    after_each(function()
        for _, name in ipairs(folders.names(place)) do os.remove(place .. '/' .. name) end
        assert.is_true(folders.remove(place))
    end)

    it('have the names that LuaFileSystem sees', function()
        for _, path in ipairs { 'bindings', 'lua/mare', '/proc/self', place } do
            local expected = {}
            for name in lfs.dir(path) do
                if name ~= '.' and name ~= '..' then expected[#expected + 1] = name end
            end
            local names = folders.names(path)
            table.sort(expected)
            table.sort(names)
            assert.same(expected, names)
        end
        local long = place .. '/' .. ('x'):rep(255)
        io.open(long, 'w'):close()
        assert.same({ ('x'):rep(255) }, folders.names(place))
    end)

    it('that cannot be read have a reason', function()
        assert.same({ n = 2, nil, 'No such file or directory' },
            { n = 2, folders.list(place .. '/none') })
        assert.error_matches(function() folders.names 'tests/fails.lua' end,
            'tests/fails.lua: cannot be read: Not a directory', 1, true)
        assert.same({ false, 'File exists' }, { folders.make(place) })
        assert.same({ false, 'No such file or directory' }, { folders.remove(place .. '/none') })
        assert.same({ false, 'No such file or directory' }, { folders.enter(place .. '/none') })
    end)

    it('are entered and left', function()
        local before = folders.current()
        assert.equal(lfs.currentdir(), before)
        assert.is_true(folders.enter(place))
        local there = folders.current()
        assert.is_true(folders.enter(before))
        assert.equal(posix.target('/proc/self/cwd'), before)
        assert.is_true(posix.is_same(there, place))
    end)

    it('hold links, which lead where they say', function()
        local link = place .. '/link'
        assert(lfs.link('nowhere', link, true))
        assert.equal('nowhere', posix.target(link))
        assert.is_nil(posix.target(place))
        assert.is_nil(posix.status(link))
        assert.is_nil(posix.is_same(link, place))
        os.remove(link)
        assert(lfs.link(place, link, true))
        assert.is_true(posix.is_same(link, place))
        assert.is_false(posix.is_same(place, place .. '/..'))
    end)
end)
