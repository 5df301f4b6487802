-- Data that a server gives by OPeNDAP are read as files are (dap.py serves some).

local attempt = require 'bindings.attempt'
local dataset = require 'mare.files.dataset'
local fails = require 'tests.fails'
local files = require 'bindings.files'
local home = require 'bindings.home'
local info = require 'mare.launcher.info'
local netcdf = require 'bindings.netcdf'

describe('an address of OPeNDAP', function()
    local pipe = io.popen(("python3 '%s/tests/lua/dap.py' 2>/dev/null & "):format(home.root))
    local port, process, silent = (pipe:read '*l' or ''):match '(%d+) (%d+) (%d+)'
    local address = ('http://127.0.0.1:%s/t'):format(port or '1')

    teardown(function()
        if process then os.execute('kill ' .. process) end
        pipe:close()
    end)

    it('is read as a file is', function()
        if not port then return pending 'there is no Python' end
        local file = netcdf.open(address)
        assert.same({ 2, 3 }, { file:dimensions().y, file:dimensions().x })
        assert.equal('m', file:attributes('eta').units)
        local data = file:get('eta', { 0, 0 }, { 2, 3 })
        assert.same({ 1, 6 }, { data[0], data[5] })
        file:close()
        assert.same({ 'eta' }, dataset.open(address).names)
        fails.says(table.concat(info.lines(address), '\n'), 'x 3, y 2', 'eta', '1 to 6 m')
    end)

    it('is not waited for where it takes the call and does not answer', function()
        if not port then return pending 'there is no Python' end
        local never = ('http://127.0.0.1:%s/t'):format(silent)
        local usual = attempt.patience_with_servers
        attempt.patience_with_servers = 1
        finally(function() attempt.patience_with_servers = usual end)
        fails(function() netcdf.open(never) end, nil, never, 'not answer within 1 s')
    end)

    local function read_eta(name)
        local file = netcdf.open((address:gsub('t$', name)))
        return file:get('eta', { 0, 0 }, { 2, 3 })
    end

    it('is not read as zeros where its data end too early', function()
        if not port then return pending 'there is no Python' end
        fails(function() read_eta 'cut' end, nil, 'cut', 'variable eta', 'too short')
    end)

    it('is not waited for where it stops in the midst of its data', function()
        if not port then return pending 'there is no Python' end
        local usual = attempt.patience_with_servers
        attempt.patience_with_servers = 1
        finally(function() attempt.patience_with_servers = usual end)
        fails(function() read_eta 'stall' end, nil, 'variable eta', 'not answer within 1 s')
    end)

    it('is told in full where it answers with nothing', function()
        if not port then return pending 'there is no Python' end
        local wrong = address:gsub('t$', 'none')
        assert.is_nil(files.unreadable(wrong))
        assert.is_true(files.is_remote(wrong) and files.is_remote 'https://a/b.nc'
            and not files.is_remote 'http.nc')
        fails(function() netcdf.open(wrong) end, nil, wrong)
        fails(function() dataset.open(wrong) end, nil, wrong, 'server of OPeNDAP')
    end)
end)
