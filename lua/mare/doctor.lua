-- doctor.lua - what Mare found on this machine and why something is missing. examine() gives data,
-- text() and json() show it.

local host = require 'mare.host'
local device = require 'bindings.device'

local M = {}

-- Lua modules and, through the bindings that load them, libraries that Mare can use but starts
-- without.
local optional = {
    { name = 'NetCDF', module = 'bindings.netcdf', package = 'libnetcdf-dev',
      use = 'writes --out files' },
    { name = 'cairo', module = 'bindings.cairo', package = 'libcairo2',
      use = 'draws --image pictures' },
    { name = 'argparse', module = 'argparse', package = 'lua-argparse',
      use = 'reads the options of scenarios' },
    { name = 'dkjson', module = 'dkjson', package = 'lua-dkjson', use = 'writes JSON' },
    { name = 'busted', module = 'busted.runner', package = 'lua-busted', use = 'runs the specs' },
    { name = 'lfs', module = 'lfs', package = 'lua-filesystem', use = 'finds the specs' },
}

local function examine_optional(entry)
    local ok, result = pcall(require, entry.module)
    local found = { name = entry.name, available = ok, use = entry.use }
    if ok and type(result) == 'table' then
        local version = result.version or result._VERSION
        if type(version) == 'function' then version = version() end
        found.version = type(version) ~= 'table' and version and tostring(version) or nil
    elseif not ok then
        local reason = tostring(result):match '^[^\n]*'
        if reason:find 'not found:?$' then
            reason = reason .. '; Debian package ' .. entry.package
        end
        found.reason = reason
    end
    return found
end

local function examine_cache()
    local size, count = 0, 0
    for _, entry in ipairs(device.cache.entries()) do size, count = size + entry.size, count + 1 end
    return { path = device.cache.path(), entries = count, bytes = size }
end

local function attempt(f)
    local ok, result = pcall(f)
    return ok and result or { error = tostring(result) }
end

function M.examine()
    local libraries = {}
    for i, entry in ipairs(optional) do
        libraries[i] = attempt(function() return examine_optional(entry) end)
    end
    return {
        mare = { version = device.version, root = host.root, library = host.library,
                 lua = jit.version,
                 system = jit.os .. ' ' .. jit.arch },
        backends = attempt(device.backends),
        devices = attempt(device.list),
        libraries = libraries,
        cache = attempt(examine_cache),
    }
end

function M.json()
    return require('dkjson').encode(M.examine(), { indent = true })
end

-- ---- as text ----

local function amount(bytes)
    if bytes == 0 then return 'unknown' end
    if bytes >= 2^60 then return 'without limit' end
    if bytes >= 2^30 then return ('%.1f GiB'):format(bytes / 2^30) end
    if bytes >= 2^20 then return ('%.1f MiB'):format(bytes / 2^20) end
    return ('%.0f KiB'):format(bytes / 2^10)
end

local function backend_text(b)
    if not b.available then return ('  %-9s no: %s'):format(b.name, b.reason) end
    local plural = b.device_count == 1 and '' or 's'
    return ('  %-9s yes: %d device%s; %s'):format(b.name, b.device_count, plural, b.version)
        .. (b.library ~= '' and (' (%s)'):format(b.library) or '')
end

local function device_text(d)
    if d.error then return ('  %-9s does not open: %s'):format(d.name, d.error) end
    return table.concat({
        ('  %-9s %s (%s, %s)'):format(d.name, d.model, d.kind, d.driver),
        ('            memory %s, largest buffer %s, %d compute units, %s'):format(amount(d.memory),
            amount(d.max_buffer), d.compute_units, d.has_double and 'double' or 'no double'),
        ('            group at most %d (%s), local memory %s, %s'):format(d.max_group_size,
            table.concat(d.max_group, ' x '), amount(d.local_memory), d.arch),
    }, '\n')
end

local function library_text(l)
    if l.available then
        return ('  %-9s yes%s'):format(l.name, l.version and ': ' .. l.version or '')
    end
    return ('  %-9s no (%s): %s'):format(l.name, l.use, l.reason)
end

local function cache_text(c)
    if c.error then return '  ' .. c.error end
    if c.path == '' then return '  switched off (MARE_CACHE)' end
    return ('  %s: %d, %s'):format(c.path, c.entries, amount(c.bytes))
end

local function section(lines, title, items, show)
    lines[#lines + 1] = title
    for _, item in ipairs(items) do lines[#lines + 1] = show(item) end
    if items.error then lines[#lines + 1] = '  ' .. items.error end
end

function M.text()
    local found = M.examine()
    local mare = found.mare
    local lines = {
        ('Mare %s (%s, %s)'):format(mare.version, mare.lua, mare.system),
        '  root      ' .. mare.root, '  library   ' .. mare.library,
    }
    section(lines, 'Back ends', found.backends, backend_text)
    section(lines, 'Devices', found.devices, device_text)
    section(lines, 'Libraries', found.libraries, library_text)
    lines[#lines + 1] = 'Compiled programs'
    lines[#lines + 1] = cache_text(found.cache)
    return table.concat(lines, '\n')
end

return M
