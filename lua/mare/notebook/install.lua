-- install.lua - tells Jupyter of the kernel: a folder with kernel.json where Jupyter
-- looks for kernels, which are its user's, or those of one environment of Python.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local home = require 'bindings.home'
local json = require 'mare.notebook.encoding'
local read = require 'bindings.read'
local sodium = require 'bindings.sodium'
local system = require 'bindings.system'
local tables = require 'bindings.tables'
local zmq = require 'bindings.zmq'

local install = {}

-- Returns the folder of the kernels of a prefix such as /usr; without one, of this user.
function install.folder(prefix)
    if prefix then return prefix .. '/share/jupyter/kernels' end
    local jupyter_data = system.setting 'JUPYTER_DATA_DIR'
    if jupyter_data then return jupyter_data .. '/kernels' end
    local share = system.setting 'XDG_DATA_HOME'
    return (share or (os.getenv 'HOME' or '.') .. '/.local/share') .. '/jupyter/kernels'
end

-- Returns what kernel.json holds.
function install.description(launcher)
    return { argv = { launcher, 'jupyter', 'run', '{connection_file}' },
        display_name = 'Mare (Lua)', language = 'lua', interrupt_mode = 'message',
        metadata = json.object(), env = json.object() }
end

-- Writes kernel.json and returns its path.
function install.write(prefix)
    if not home.launcher then errors.argument 'jupyter install: no program mare runs this' end
    local path = install.folder(prefix) .. '/mare/kernel.json'
    files.make_folders(path)
    local file = files.temporary(path)
    file:append(json.encode(install.description(home.launcher), { indent = true }) .. '\n')
    file:commit()
    return path
end

-- Returns the lines that `mare jupyter` prints: what the kernel takes, and where it is.
function install.lines()
    local lines = {}
    for _, library in ipairs { { 'ZeroMQ', zmq }, { 'libsodium', sodium } } do
        local ok, found = pcall(library[2].version)
        lines[#lines + 1] = ('%-9s %s: %s'):format(library[1], ok and 'yes' or 'no',
            errors.text(found))
    end
    local path = install.folder() .. '/mare/kernel.json'
    local is_there = read(path) ~= nil
    lines[#lines + 1] = ('kernel    %s: %s'):format(is_there and 'yes' or 'no', is_there and path
        or '`mare jupyter install` makes ' .. path)
    return lines
end

-- ---- the connection file ----

local ports = { 'shell_port', 'control_port', 'iopub_port', 'stdin_port', 'hb_port' }
local usual = { ip = '127.0.0.1', transport = 'tcp', key = '', signature_scheme = 'hmac-sha256' }
local allowed = { transport = { tcp = true, ipc = true },
    signature_scheme = { ['hmac-sha256'] = true } }

local function refuse(path, ...)
    errors.argument('jupyter run: %s: %s', path, (...):format(select(2, ...)))
end

local function check_ports(path, found)
    for _, name in ipairs(ports) do
        local port = found[name]
        if not (type(port) == 'number' and port >= 1 and port <= 65535 and port % 1 == 0) then
            refuse(path, '%s = %s (allowed: 1 to 65535)', name, tostring(port))
        end
    end
end

-- Returns the fields of a connection file, which Jupyter writes; raises what is wrong with it.
function install.connection(path)
    local text, reason = read(path)
    if not text then errors.argument('jupyter run: %s', reason) end
    local found, _, problem = json.decode(text)
    if type(found) ~= 'table' then refuse(path, '%s', problem or 'no connection file') end
    check_ports(path, found)
    for name, value in pairs(usual) do
        local given = found[name] or value
        if type(given) ~= 'string' or allowed[name] and not allowed[name][given] then
            refuse(path, "%s = '%s' (allowed: %s)", name, tostring(given),
                allowed[name] and tables.names(allowed[name]) or 'a text')
        end
        found[name] = given
    end
    return found
end

return install
