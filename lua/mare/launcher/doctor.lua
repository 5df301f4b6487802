-- doctor.lua - reports what Mare found on this machine, and why something is
-- missing. examine() returns data; text() and json() print it.

local affinity = require 'mare.launcher.affinity'
local energy = require 'mare.measure.energy'
local files = require 'bindings.files'
local gif = require 'bindings.gif'
local here = require 'mare.ranks.here'
local home = require 'bindings.home'
local device = require 'bindings.device'
local errors = require 'bindings.errors'
local launch = require 'bindings.mpi_launch'
local multiply = require 'mare.products.multiply'
local posix = require 'bindings.posix'
local probe = require 'mare.links.probe'
local source = require 'mare.base.source'

local M = {}

-- Returns a probe for a module that knows its version. load() returns the
-- module.
local function version_of(load)
    return function()
        local version = load().version
        return type(version) == 'function' and version() or version
    end
end

local function load_netcdf() return require 'bindings.netcdf' end
local function load_cairo() return require 'bindings.cairo' end
local function load_mpfr() return require 'bindings.mpfr' end
local function load_openblas() return require 'bindings.openblas' end
local function load_cublas() return require 'bindings.cublas' end
local function load_cusolver() return require 'bindings.cusolver' end
local function load_cufft() return require 'bindings.cufft' end
local function load_zmq() return require 'bindings.zmq' end
local function load_sodium() return require 'bindings.sodium' end
local function load_argparse() return require 'argparse' end
local function load_dkjson() return require 'dkjson' end

local function freetype()
    require('bindings.foreign').load('FreeType', { 'libfreetype.so.6' }, 'libfreetype6')
end

local function ffmpeg()
    local path = files.program 'ffmpeg'
    if not path then error('it is not on the PATH', 0) end
    return path
end

local function editor()
    require('bindings.editline').load()
end

local no_limit = 2^60       -- bytes: back ends report more than this if they have no limit

-- What Mare can use but does not require. probe() returns a version, if there
-- is one, or raises an error that says why the library or module cannot be
-- used.
local optional = {
    { name = 'NetCDF', use = 'writes --out files', probe = version_of(load_netcdf) },
    { name = 'cairo', use = 'draws --image pictures', probe = version_of(load_cairo) },
    { name = 'giflib', use = 'makes --film FILE.gif', probe = function() gif.load() end },
    { name = 'ffmpeg', use = 'makes --film FILE.mp4', probe = ffmpeg, package = 'ffmpeg' },
    { name = 'FreeType', use = 'writes in pictures', probe = freetype },
    { name = 'MPFR', use = 'gives deep zooms their reference',
      probe = version_of(load_mpfr) },
    { name = 'OpenBLAS', use = 'multiplies matrices on processors, solves and finds eigenvalues',
      probe = version_of(load_openblas), package = 'libopenblas0' },
    { name = 'cuBLAS', use = 'multiplies matrices on NVIDIA\'s GPUs',
      probe = version_of(load_cublas) },
    { name = 'cuSOLVER', use = 'solves and finds eigenvalues on NVIDIA\'s GPUs',
      probe = version_of(load_cusolver) },
    { name = 'cuFFT', use = 'transforms on NVIDIA\'s GPUs where it is asked to',
      probe = version_of(load_cufft) },
    { name = 'CLBlast', use = 'multiplies matrices by OpenCL where it is asked to',
      probe = function() require('bindings.clblast').load() end },
    { name = 'libedit', use = 'edits the lines of a session', probe = editor },
    { name = 'ZeroMQ', use = 'talks to notebooks', probe = version_of(load_zmq) },
    { name = 'libsodium', use = 'signs what it says to notebooks',
      probe = version_of(load_sodium) },
    { name = 'argparse', use = 'reads the options of scenarios',
      probe = version_of(load_argparse), package = 'lua-argparse' },
    { name = 'dkjson', use = 'writes JSON', probe = version_of(load_dkjson),
      package = 'lua-dkjson' },
    { name = 'busted', use = 'runs the specs', probe = function() require 'busted.runner' end,
      package = 'lua-busted' },
}

local function examine_optional(entry)
    local ok, result = pcall(entry.probe)
    if ok then return { name = entry.name, use = entry.use, available = true, version = result } end
    local reason = tostring(result):match '^[^\n]*':gsub(':$', '')
    if entry.package then reason = reason .. '; the Debian package is ' .. entry.package end
    return { name = entry.name, use = entry.use, available = false, reason = reason }
end

local function examine_cache()
    local size, count = 0, 0
    for _, entry in ipairs(device.cache.entries()) do size, count = size + entry.size, count + 1 end
    local path = device.cache.path()
    local status = posix.status(path)
    return { path = path, entries = count, bytes = size,
        is_no_folder = status and not status.is_folder or nil }
end
-- Says how kernels/traverse/ steps the state on this device, or returns nil if
-- the device runs no kernels.
local function step_on(info)
    if not info.runs_kernels then return nil end
    if info.kind ~= 'gpu' then return 'two passes, rows as vectors' end
    return 'one pass, marching or where cells are few in tiles, neighbours by '
        .. (source.shuffles(info) and 'shuffles' or 'local memory')
end

-- Notes in `reads` of GPUs of CUDA, where there are several, which others' memory they read in
-- place.
local function examine_peers(list)
    local opened = {}
    for _, d in ipairs(list) do
        if d.name:find '^cuda' and not d.error then
            local ok, one = pcall(device.open, d.name)
            if ok then opened[#opened + 1] = { info = d, device = one } end
        end
    end
    for _, one in ipairs(#opened > 1 and opened or {}) do
        one.info.reads = {}
        for _, other in ipairs(opened) do
            if one ~= other and probe.reads(one.device, other.device) then
                table.insert(one.info.reads, other.info.name)
            end
        end
    end
    for _, one in ipairs(opened) do one.device:release() end
end

local function examine_devices()
    local list = device.list()
    for _, d in ipairs(list) do
        d.step = not d.error and step_on(d) or nil
        d.products = d.step and multiply.expected(d) or nil
        if d.step then d.energy, d.no_energy = energy.source_of(d) end
    end
    if here.size == 1 then examine_peers(list) end
    return list
end

-- Returns the ways between each two ranks, on the devices that they would take, of links.pairs, and
-- where each rank is, of affinity.own. All ranks call it.
function M.take_part()
    local ok, found = pcall(require('mare.array.devices').open)
    local opened = ok and found[1] or nil
    return require('mare.links').pairs(opened, not ok and errors.text(found) or nil),
        here.all(affinity.own(opened))
end

-- How this process was started. Under a launcher rank 0 speaks for all.
local function examine_ranks()
    if not launch.find() then return { size = 1 } end
    local ranks = require 'mare.ranks'
    local found = ranks.start()
    found.size, found.local_size, found.host = ranks.size, ranks.local_size, ranks.host
    found.pairs, found.places = M.take_part()
    return found
end

local function attempt(f)
    local ok, result = pcall(f)
    return ok and result or { error = tostring(result) }
end

function M.examine()
    local libraries = {}
    for i, entry in ipairs(optional) do libraries[i] = examine_optional(entry) end
    return {
        mare = { version = device.version, commit = device.commit, root = home.root,
                 library = home.library, lua = jit.version,
                 system = jit.os .. ' ' .. jit.arch },
        backends = attempt(device.backends),
        devices = attempt(examine_devices),
        libraries = libraries,
        cache = attempt(examine_cache),
        ranks = attempt(examine_ranks),
    }
end

-- Returns the data as JSON. A value without a limit is left out, instead of a
-- number above 2^60.
function M.json()
    local found = M.examine()
    for _, d in ipairs(found.devices) do
        if d.max_buffer and d.max_buffer >= no_limit then d.max_buffer = nil end
    end
    return require('dkjson').encode(found, { indent = true })
end

-- ---- as text ----

local function amount(bytes)
    if bytes == 0 then return 'unknown' end
    if bytes >= no_limit then return 'without limit' end
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

local by_whom = { openblas = 'OpenBLAS', cublas = 'cuBLAS', own = 'a kernel of Mare' }

local function device_text(d)
    if d.error then return ('  %-9s does not open: %s'):format(d.name, d.error) end
    local lines = {
        ('  %-9s %s (%s, %s)'):format(d.name, d.model, d.kind, d.driver),
        ('            memory %s, largest buffer %s, %d compute units, %s'):format(amount(d.memory),
            amount(d.max_buffer), d.compute_units, d.has_double and 'double' or 'no double'),
        ('            group at most %d (%s), local memory %s, %s'):format(d.max_group_size,
            table.concat(d.max_group, ' x '), amount(d.local_memory), d.arch),
    }
    if not d.step then
        lines[4] = '            takes no steps: it runs no kernel'
    else
        lines[4] = '            a step goes over the state in ' .. d.step
        lines[5] = '            matrices are multiplied by ' .. by_whom[d.products]
        lines[6] = '            ' .. (d.energy and 'energy: ' .. d.energy
            or 'energy cannot be measured: ' .. d.no_energy)
        lines[7] = d.reads and ('            reads memory of other devices in place: %s'):format(
            d.reads[1] and table.concat(d.reads, ', ') or 'none')
    end
    return table.concat(lines, '\n')
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
    if c.is_no_folder then return ('  %s is no folder: nothing is kept'):format(c.path) end
    if c.entries == 0 then return ('  %s: empty'):format(c.path) end
    return ('  %s: %d, %s'):format(c.path, c.entries, amount(c.bytes))
end

local no_launcher = [[
  started alone: one process. mpirun -n 4 mare NAME divides a simulation among four ranks. For
  more ranks than cores, and as root, Open MPI wants --oversubscribe and --allow-run-as-root]]

local most_pairs = 8        -- named for each way

-- Returns a line for each way between ranks, with the pairs that take it.
local function ways_text(pairs_of_ranks)
    local texts, list, by_text = require('mare.links').texts, {}, {}
    for _, pair in ipairs(pairs_of_ranks) do
        local text = texts[pair.way] .. (pair.reason and ' (' .. pair.reason .. ')' or '')
        if not by_text[text] then
            by_text[text] = { text = text }
            list[#list + 1] = by_text[text]
        end
        table.insert(by_text[text], ('%d-%d'):format(pair[1], pair[2]))
    end
    local lines = {}
    for k, of in ipairs(list) do
        local rest = #of - most_pairs
        lines[k] = ('\n  cells go from rank to rank %s: %s%s'):format(of.text,
            table.concat(of, ', ', 1, math.min(#of, most_pairs)),
            rest > 0 and (' and %d more'):format(rest) or '')
    end
    return table.concat(lines)
end

local function ranks_text(r)
    if r.error then return '  ' .. r.error end
    if not r.launcher then return no_launcher end
    return ('  %d rank%s, %d of them on %s, started by %s\n  %s (%s), the ABI of %s'
        .. '%s\n%s'):format(r.size, r.size == 1 and '' or 's', r.local_size, r.host, r.launcher,
        r.version, r.library, r.abi, ways_text(r.pairs),
        table.concat(affinity.lines(r.places), '\n'))
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
        ('Mare %s, commit %s (%s, %s)'):format(mare.version, mare.commit, mare.lua, mare.system),
        '  root      ' .. mare.root, '  library   ' .. mare.library,
    }
    section(lines, 'Back ends', found.backends, backend_text)
    section(lines, 'Devices', found.devices, device_text)
    section(lines, 'Libraries', found.libraries, library_text)
    lines[#lines + 1] = 'Ranks'
    lines[#lines + 1] = ranks_text(found.ranks)
    lines[#lines + 1] = 'Compiled programs'
    lines[#lines + 1] = cache_text(found.cache)
    return table.concat(lines, '\n')
end

return M
