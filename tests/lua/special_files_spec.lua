-- Tests that readers take ordinary files only: a pipe, a socket, a folder or an endless device is
-- refused at once, by name, where reading it would wait for ever. Scripts may come through pipes.

local ffi = require 'ffi'
local home = require 'bindings.home'
local trial = require 'tests.scenarios.trial'

ffi.cdef [[
    int socket(int domain, int type, int protocol);
    int bind(int socket, const void *address, unsigned size);
    int mkfifo(const char *path, unsigned mode);
]]

local folder, launcher
local timeout = 'timeout ' .. trial.patience .. ' '

before_each(function()
    folder, launcher = trial.new_folder(), "'" .. home.launcher .. "'"
    os.execute(('mkdir %s/folder && ln -s /dev/full %s/endless'):format(folder, folder))
    assert.equal(0, ffi.C.mkfifo(folder .. '/pipe', 384))
    local path = folder .. '/socket'
    local address = ffi.new('struct { uint16_t family; char path[108]; }', { 1, path })
    local socket = ffi.C.socket(1, 1, 0)
    assert.equal(0, ffi.C.bind(socket, address, ffi.sizeof(address)))
    ffi.C.close(socket)
end)
after_each(function() trial.remove(folder) end)

-- What reads a file PATH, in a launcher of its own.
local readers = {
    "mare.gauges.read(PATH)", "mare.gauges.cells(PATH)",
    "mare.basin { file = PATH }", "mare.roms { file = PATH }",
    "mare.weather { file = PATH, grid = mare.grid { nx = 4, ny = 4, x = { 0, 1 }, y = { 0, 1 } } }",
    "require('bindings.netcdf').open(PATH)", "require('mare.files.dataset').open(PATH)",
    "require('mare.tune.results').read(PATH)", "require('mare.tune.sweep').read(PATH)",
    "assert(require('mare.files.checkpoint').read(PATH))",
    "assert(require('bindings.files').read(PATH))",
}

local commands = { 'info PATH', 'rerun PATH', 'plot PATH',
    'sod --nx=16 --steps=1 --quiet --restart=PATH',
    'north_sea --stations=PATH --steps=1 --quiet', 'norkyst --file=PATH --steps=1' }

local function refused(line)
    for _, name in ipairs { 'pipe', 'socket', 'endless', 'folder' } do
        local path = folder .. '/' .. name
        local status, text = trial.status_of('cd ' .. folder .. ' && ' .. timeout .. launcher
            .. ' ' .. line:gsub('PATH', path) .. ' </dev/null')
        assert.is_true(status == 1 or status == 2, line .. ': ' .. text)
        local why = name == 'folder' and 'is a folder' or 'is not an ordinary file'
        assert.truthy(text:find(why, 1, true), line .. ': ' .. text)
    end
end

describe('what is no ordinary file', function()
    it('is refused by readers', function()
        local path = folder .. '/read.lua'
        trial.spit(path, [[
            local mare, PATH = require 'mare', ...
            local reported = {}
            for _, text in ipairs { ]] .. ('%q, '):rep(#readers):format(unpack(readers)) .. [[ } do
                local read = assert(loadstring('local mare, PATH = ... ' .. text))
                local ok, failure = pcall(read, mare, PATH)
                print(ok, text, failure)
            end
            error(PATH .. ' is not an ordinary file or is a folder', 0)]])
        for _, name in ipairs { 'pipe', 'socket', 'endless', 'folder' } do
            local status, text = trial.status_of((timeout .. '%s %s %s/%s'):format(launcher,
                path, folder, name))
            assert.equal(1, status, text)
            for _, reader in ipairs(readers) do
                local line = text:match('[^\n]*' .. reader:gsub('%p', '%%%0') .. '[^\n]*')
                assert.truthy(line and line:find '^false' and (line:find 'is a folder'
                    or line:find 'is not an ordinary file'), name .. ': ' .. (line or reader))
            end
        end
    end)

    it('is refused by commands', function()
        for _, line in ipairs(commands) do refused(line) end
    end)

    it('is passed over where a file of the user may be missing', function()
        for _, name in ipairs { 'MARE_TUNED', 'MARE_HISTORY' } do
            for _, kind in ipairs { 'pipe', 'endless', 'folder' } do
                local status, text = trial.status_of(('cd %s && %s=%s %s %s sod '
                    .. '--nx=16 --steps=1 --quiet'):format(folder, name, kind, timeout, launcher))
                assert.equal(0, status, text)
            end
        end
    end)

    it('serves for scripts, and to write to', function()
        trial.spit(folder .. '/a.lua', 'print(6 * 7)')
        for _, line in ipairs { 'cat a.lua | %s -', 'cat a.lua | %s /dev/stdin', '%s - < a.lua',
            'cat a.lua > pipe & %s ./pipe', 'bash -c "%s <(cat a.lua)"' } do
            local status, text = trial.status_of(('cd %s && %s sh -c %q'):format(folder, timeout,
                line:format(launcher)))
            assert.equal('42\nstatus 0\n', text:gsub('mare: 0 removed\n', ''), line)
            assert.equal(0, status)
        end
        local status, text = trial.status_of(('cd %s && %s sod --nx=16 --steps=1 --quiet '
            .. '--json-log=/dev/null'):format(folder, launcher))
        assert.equal(0, status, text)
        status, text = trial.status_of(timeout .. launcher .. ' /dev/zero')
        assert.equal(2, status, text)
        assert.truthy(text:find('too long', 1, true), text)
    end)
end)
