-- table1.lua - table 1 of Holm, Brodtkorb and Saetra (2020): 50 zooms onto
-- -0.75 + 0.1i with at most 5000 iterations, by Mare and by plain C on the same
-- API, in turn in one process.
--     mare bench table1 [DEVICE...] [SIZE]        -- cuda:0 and opencl:0, as far as they are there
-- The same by PyCUDA, CuPy, Numba and PyOpenCL (table1_peers.py) stands beside, as
-- far as the Python of $MARE_PYTHON, or python3, has them; why one is not there stands
-- below. Each has its own process, begun after the rounds of the two.
-- Both run kernels/mandelbrot/escape.krn without its shortcuts, and must give
-- the same last frame. Times of the host are medians over all frames and
-- rounds, with the standard error of what Mare adds; times of the device are
-- means per frame; wall time is that of the best round. The first round, in
-- which LuaJIT compiles, does not count. The two take turns in beginning a
-- round.

local check_kind = require('mare.array.devices').check_kind
local devices = require 'bindings.device'
local errors = require 'bindings.errors'
local ffi = require 'ffi'
local home = require 'bindings.home'
local json = require 'dkjson'
local now = require('bindings.system').now
local peers = require 'tests.bench.peer'
local record = require 'tests.bench.record'
local renderer = require 'mare.mandelbrot.renderer'
local source = require 'mare.base.source'
local view = require 'mare.mandelbrot.view'

local frames, limit, most_size = 50, 5000, 16384
local serial = os.time()        -- makes each source new to every cache

-- host:begin
local function open_host(device, z)
    local self = { slots = {}, copy = device:stream {} }
    local begin = now()
    local program = device:program(z.program)
    local kernel = program:kernel 'escape'
    self.compile = now() - begin
    for k = 1, 2 do
        local slot = { began = device:event(), ready = device:event(), copying = device:event(),
            done = device:event() }
        slot.times = device:buffer { type = 'uint32', count = z.size ^ 2 }
        slot.pinned = device:host { type = 'uint32', count = z.size ^ 2 }
        slot.download = slot.times:downloader { into = slot.pinned, stream = self.copy }
        slot.launch = kernel:bind { width = z.size, height = z.size, centre_x = z.centre.x_high,
            low_x = 0, centre_y = z.centre.y_high, low_y = 0, left = 0, top = 0, step = 0,
            limit = z.limit, times = slot.times, global = { z.size, z.size },
            group = { 8, 16 } }:runner { 'left', 'top', 'step' }
        self.slots[k] = slot
    end
    return self
end

local function queue(self, z, k, slot, out)
    local frame, copy = z.frames[k], self.copy
    local left, top, step = frame.left, frame.top, frame.step
    slot.began:record()
    local begin = now()
    slot.launch(left, top, step)
    local launched = now() - begin      -- first, because Lua evaluates the target before the value
    slot.ready:record()
    z.device.stream:flush()
    copy:wait_event(slot.ready)
    slot.copying:record(copy)
    begin = now()
    slot.download()
    local downloaded = now() - begin
    slot.done:record(copy)
    copy:flush()
    out.launch[k], out.download[k] = launched, downloaded
end

local function collect(k, slot, out)
    slot.done:wait()
    out.kernel[k] = slot.began:elapsed_ms(slot.ready) / 1000
    out.copy[k] = slot.copying:elapsed_ms(slot.done) / 1000
end

local function zoom(self, z, out)
    local begin, last = now(), #z.frames
    for k = 1, last + 2 do
        local slot = self.slots[k % 2 + 1]
        if k > 2 then collect(k - 2, slot, out) end
        if k <= last then queue(self, z, k, slot, out) end
    end
    out.wall = now() - begin
    out.last = self.slots[last % 2 + 1].pinned:pointer()
end
-- host:end

-- ---- the peer in C ----

-- Returns the text that Mare passes to the vendor's compiler, in one piece.
local function whole_text(backend, program)
    local text = source.read('prelude/' .. backend .. '.h') .. program.source
    repeat
        local count
        text, count = text:gsub('#include (%S+)', function(name)
            local file = (program.defines[name] or name):gsub('"', '')
            return source.read(file)
        end)
    until count == 0
    local defines = ('#define MARE_REAL float\n#define SHORTCUTS 0\n/* %d */\n'):format(serial)
    return defines .. text
end

local columns = { 'launch', 'download', 'kernel', 'copy' }

-- Returns arrays for the times of frames 1 to count. They exist in advance for
-- both sides, because LuaJIT leaves compiled code whenever a table grows.
local function new_times(count)
    local out = {}
    for _, name in ipairs(columns) do out[name] = ffi.new('double[?]', count + 1) end
    return out
end

local function run_peer(library, index, z, program)
    local t = ffi.new 'struct table1'
    local text, views = whole_text(z.backend, program), ffi.new('float[?]', 3 * frames)
    for k, frame in ipairs(z.frames) do
        views[3 * k - 3], views[3 * k - 2], views[3 * k - 1] = frame.left, frame.top, frame.step
    end
    local out, last = new_times(frames), ffi.new('unsigned[?]', z.size ^ 2)
    for _, name in ipairs(columns) do t[name] = out[name] + 1 end
    t.source, t.size, t.limit, t.frames, t.views, t.last = text, z.size, limit, frames, views, last
    t.centre_x, t.centre_y = z.centre.x_high, z.centre.y_high
    local failed = library.table1_run(index, t)
    if failed ~= nil then error('the peer: ' .. ffi.string(failed), 0) end
    out.compile, out.wall, out.last = t.compile, t.wall, ffi.string(last, 4 * z.size ^ 2)
    return out
end

-- Runs until LuaJIT has compiled all that the zoom uses.
local function warm_up(z)
    local few = { device = z.device, size = 8, limit = 16, centre = z.centre, frames = {},
        program = renderer.program('float', false) }
    for k = 1, 1000 do few.frames[k] = z.frames[1] end
    zoom(open_host(z.device, few), few, new_times(#few.frames))
end

local function run_mare(z, program)
    program.source = program.source .. ('/* %d */\n'):format(serial)
    z.program = program
    local self, out = open_host(z.device, z), new_times(frames)
    zoom(self, z, out)
    out.compile, out.last = self.compile, ffi.string(out.last, 4 * z.size ^ 2)
    return out
end

-- ---- the peers in Python ----

local in_python = { cuda = { 'pycuda', 'cupy', 'numba' }, opencl = { 'pyopencl' } }

-- What NVRTC and the drivers of OpenCL get from Mare for strict maths.
local options = {
    cuda = { '--fmad=false', '--ftz=false', '--prec-div=true', '--prec-sqrt=true' },
    opencl = { '-cl-std=CL1.2', '-cl-fp32-correctly-rounded-divide-sqrt' },
}

local function job_of(z, rounds, last)
    local job = { index = tonumber(z.device.name:match '%d+$'), model = z.device.info.model,
        options = options[z.backend], size = z.size, limit = limit, rounds = rounds,
        serial = serial, views = {}, centre = { z.centre.x_high, z.centre.y_high }, last = last,
        source = whole_text(z.backend, renderer.program('float', false)) }
    for k, frame in ipairs(z.frames) do job.views[k] = { frame.left, frame.top, frame.step } end
    return job
end

-- Returns what table1_peers.py prints of a library, or nil and why it prints nothing.
local function run_python(name, job)
    local path, errors_path = os.tmpname(), os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write(json.encode(job))
    file:close()
    local pipe = io.popen(("'%s' '%s/tests/bench/table1_peers.py' %s %s 2>%s"):format(
        os.getenv 'MARE_PYTHON' or 'python3', home.root, name, path, errors_path))
    local found = json.decode(pipe:read '*a')
    pipe:close()
    local reason
    for line in io.lines(errors_path) do reason = line:find '%S' and line or reason end
    os.remove(path)
    os.remove(errors_path)
    return found, not found and (reason or 'it printed nothing')
end

local function times_of(round)
    local out = { compile = round.compile, wall = round.wall }
    for _, name in ipairs(columns) do
        out[name] = new_times(frames)[name]
        for k, seconds in ipairs(round[name]) do out[name][k] = seconds end
    end
    return out
end

-- ---- the table ----

-- Returns the number of lines between the marks that are neither empty nor
-- comments; nil if the source is missing.
local function lines_of(path)
    local file = io.open(home.root .. '/tests/bench/' .. path)
    local text = file and file:read('*a'):match 'host:begin[^\n]*\n(.-)\n[^\n]*host:end'
    if file then file:close() end
    if not text then return nil end
    local count = 0
    for line in text:gsub('/%*.-%*/', ''):gmatch '[^\n]+' do
        if line:find '%S' and not line:find '^%s*%-%-' then count = count + 1 end
    end
    return count
end

local function mean(values)
    local sum = 0
    for k = 1, frames do sum = sum + values[k] end
    return sum / frames
end

local function summary(rounds, lines)
    local all = { launch = {}, download = {}, kernel = {}, copy = {}, compile = {}, wall = {} }
    for k = 2, #rounds do
        for _, name in ipairs { 'launch', 'download' } do
            for j = 1, frames do table.insert(all[name], rounds[k][name][j]) end
        end
        for _, name in ipairs { 'kernel', 'copy' } do
            table.insert(all[name], mean(rounds[k][name]))
        end
        table.insert(all.compile, rounds[k].compile)
        table.insert(all.wall, rounds[k].wall)
    end
    all.errors = {}
    for _, name in ipairs { 'launch', 'download', 'kernel', 'copy', 'compile' } do
        local values = all[name]
        all[name] = record.median(values)
        all.errors[name] = peers.uncertainty(values)
    end
    all.wall, all.lines = math.min(unpack(all.wall)), lines
    return all
end

local function compare(device, size)
    local backend, index = device.name:match '^(%a+):(%d+)$'
    local gpu = device.info.kind == 'gpu'
    local z = { device = device, backend = backend, size = size or (gpu and 2048 or 64),
        limit = limit }
    z.frames, z.centre = view.frames { centre = '-0.75+0.1i', width = 3, zoom = 0.95 ^ -49,
        frames = frames, columns = z.size, rows = z.size, precision = 'float' }
    local found, library = pcall(peers.library, device)
    if not found then print(device.name .. ': no peer in C: ' .. tostring(library)) end
    local mine, theirs = {}, {}
    warm_up(z)
    local function run_theirs(k)
        if not found then return end
        theirs[k] = run_peer(library, tonumber(index), z, renderer.program('float', false))
    end
    z.rounds = gpu and 12 or 3
    for k = 1, z.rounds do
        serial = serial + 1
        if k % 2 == 1 then run_theirs(k) end
        mine[k] = run_mare(z, renderer.program('float', false))
        if k % 2 == 0 then run_theirs(k) end
        if found and mine[k].last ~= theirs[k].last then
            error(device.name .. ': the last frames differ', 0)
        end
        z.last, mine[k].last, (theirs[k] or {}).last = mine[k].last, nil, nil
        collectgarbage()
    end
    return z, summary(mine, lines_of 'table1.lua'),
        found and summary(theirs, lines_of('table1_' .. backend .. '.c')) or nil
end

-- Returns the summary of a library of Python, or nil and the reason. Numba's kernel stores
-- whole numbers of iterations.
local function compare_python(name, z)
    local path = os.tmpname()
    local found, reason = run_python(name, job_of(z, z.rounds, path))
    local file = io.open(path, 'rb')
    local theirs = file and file:read '*a'
    if file then file:close() end
    os.remove(path)
    if not found then return nil, reason end
    local rounds = {}
    for k, round in ipairs(found.rounds) do rounds[k] = times_of(round) end
    local all = summary(rounds, found.lines)
    all.version = found.version
    if name ~= 'numba' and theirs ~= z.last then return nil, 'its last frame is another' end
    return all
end

local function find_python(z)
    local found, list = {}, {}
    for _, name in ipairs(in_python[z.backend] or {}) do
        local all, reason = compare_python(name, z)
        if all then found[#found + 1], all.name = all, name end
        list[#list + 1] = ('%s: %s'):format(name, all and all.version or 'not here: ' .. reason)
    end
    return found, list
end

local rows = {
    { 'lines of host code', 'lines', 1, '' }, { 'compilation', 'compile', 1e3, 'ms' },
    { 'kernel launch overhead', 'launch', 1e6, 'us' },
    { 'download overhead', 'download', 1e6, 'us' }, { 'kernel time', 'kernel', 1e3, 'ms' },
    { 'download time', 'copy', 1e3, 'ms' }, { 'wall time', 'wall', 1e3, 'ms' },
}

-- Returns the words of a row, and puts its values into those of the record.
local function make_row(row, values, mine, theirs, in_python_found)
    local title, name, scale, unit = unpack(row)
    local own, other = mine[name] and mine[name] * scale, theirs and theirs[name]
    other = other and other * scale
    local key = unit == '' and name or name .. '_' .. unit
    values['mare_' .. key], values['c_' .. key] = own, other
    local more = own and other and ('%+7.1f %%'):format(100 * (own / other - 1)) or ''
    if other and unit == 'us' then
        local error_us = scale * math.sqrt(mine.errors[name] ^ 2 + theirs.errors[name] ^ 2)
        values[name .. '_error_us'] = error_us
        more = more .. (' +- %.1f'):format(100 * error_us / other)
    end
    local text = ('%-28s %12s %12s %-16s'):format(unit == '' and title or title .. ', ' .. unit,
        other and ('%.4g'):format(other) or '-', own and ('%.4g'):format(own) or '-', more)
    for _, all in ipairs(in_python_found) do
        values[all.name .. '_' .. key] = all[name] * scale
        text = text .. (' %9.4g'):format(all[name] * scale)
    end
    return (text:gsub(' +$', ''))
end

local function show(z, mine, theirs)
    local device, found, list = z.device, find_python(z)
    print(('%s, %s, %d frames of %d^2'):format(device.name, device.info.model, frames, z.size))
    local head = ('%-28s %12s %12s %-16s'):format('', 'C', 'Mare', '')
    for _, all in ipairs(found) do head = head .. (' %9s'):format(all.name) end
    print((head:gsub(' +$', '')))
    local values = { benchmark = 'table1', size = z.size, frames = frames, limit = limit,
        python = table.concat(list, '; ') }
    for k, row in ipairs(rows) do
        local text = make_row(row, values, mine, theirs, found)
        if k < #rows then print(text) else record.write(device, values, text) end
    end
    for _, line in ipairs(list) do print('  ' .. line) end
end

local function size_of(word)
    local size = tonumber(word)
    if size < 1 or size > most_size then
        errors.usage('table1: SIZE = %s (allowed: 1 to %d)', word, most_size)
    end
    return size
end

local function open(name, is_wanted)
    local ok, device = pcall(devices.open, name)
    if ok then return device end
    local text = ('%s: not here: %s'):format(name, device.message or tostring(device))
    if is_wanted then error(text, 0) end
    print(text)
end

local wanted, opened, size = {}, {}, nil
for _, word in ipairs(arg) do
    if word:find '^%-?%d+$' then size = size_of(word) else wanted[#wanted + 1] = word end
end
for _, name in ipairs(wanted[1] and wanted or { 'cuda:0', 'opencl:0' }) do
    opened[#opened + 1] = open(name, wanted[1])
end
for _, device in ipairs(opened) do check_kind(device, 'table1') end
for _, device in ipairs(opened) do show(compare(device, size)) end
