-- watch.lua - builds kernels from a file or a text, rebuilds them when the file
-- or one of its includes changes, runs and times them.
--
--     w = mare.watch 'scale.krn'                  -- or a text; a second argument: { device =,
--                                                 -- defines =, math =, language = }
--     w:run('scale', { n = n, x = x, global = n })
--     w:time('scale', { n = n, x = x, global = n })   -- milliseconds, T_eff, registers
--
-- A compile error is raised with the compiler's message and its caret; the next
-- call compiles again.

local bandwidth = require 'mare.measure.bandwidth'
local buffers = require 'bindings.buffer'
local device = require 'bindings.device'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local inspect = require 'mare.session.inspect'
local source = require 'mare.base.source'
local system = require 'bindings.system'
local tables = require 'bindings.tables'

local watch = {}

local Watched = {}
Watched.__index = Watched

local enough = 0.05         -- seconds that a measurement takes, about
local max_runs = 1000

-- ---- the text ----

local function read(path)
    local text, reason = files.read(path)
    return text or errors.argument('watch: %s', reason)
end

-- Returns the text of a file and of its includes in the same folder, to detect
-- changes.
local function everything(path, seen)
    if seen[path] then return '' end
    seen[path] = true
    local text = files.read(path)
    if not text then return '' end
    local folder, texts = path:match '^(.*/)' or '', { text }
    for name in text:gmatch '#%s*include%s*"([^"]+)"' do
        texts[#texts + 1] = everything(name:find '^/' and name or folder .. name, seen)
    end
    return table.concat(texts, '\0')
end

local fields = { device = 'any', defines = 'table', math = 'string', language = 'string',
    options = 'string', name = 'string' }

-- Returns a watched program. x: the name of a file, or the text of kernels.
-- desc.device: a name or an open device, default MARE_DEVICE or 'auto'; the
-- other fields are those of device:program.
function watch.new(x, desc)
    errors.fields('watch', desc or {}, fields)
    if type(x) ~= 'string' then
        errors.argument('watch: a file name or a text is wanted, not %s', type(x))
    end
    local given = tables.merged(desc)
    local where = given.device
    given.device = nil
    local is_text = x:find '[\n(]' ~= nil
    local self = setmetatable({ path = not is_text and (files.resolve(x) or x) or nil,
        shown = not is_text and x or nil,
        source = is_text and x or nil,
        desc = given, builds = 0, kernels = {},
        device = type(where) == 'table' and where or device.open(where) }, Watched)
    self:refresh()
    return self
end

local function build(self, text)
    local desc = tables.merged({ source = text,
        name = self.path and self.shown or self.desc.name or 'text' }, self.desc, {
        include_paths = { (self.path or ''):match '^(.*)/' or '.', source.folder } })
    self.program, self.kernels = self.device:program(desc), {}
    self.builds = self.builds + 1
end

-- Rebuilds the program if the text has changed since the last time; returns
-- whether it has.
function Watched:refresh()
    local all = self.path and everything(self.path, {}) or self.source
    if all == self.built then return false end
    local first, started = self.built == nil, system.now()
    build(self, self.path and read(self.path) or self.source)
    self.built = all
    if not first then
        io.write(('%s: built anew in %.0f ms\n'):format(self.shown,
            1e3 * (system.now() - started)))
    end
    return true
end

-- ---- running ----

-- Returns a kernel of the present text.
function Watched:kernel(name)
    self:refresh()
    self.kernels[name] = self.kernels[name] or self.program:kernel(name)
    return self.kernels[name]
end

local function bind(self, name, arguments)
    if type(arguments) == 'table' and arguments.global == nil then
        errors.argument("kernel '%s': global is missing, the number of work-items", name)
    end
    return self:kernel(name):bind(arguments)
end

-- Runs a kernel once and waits for it. arguments: by name as for kernel:bind,
-- with global and group.
function Watched:run(name, arguments)
    local launch = bind(self, name, arguments)
    launch:run()
    self.device:wait()
    launch:release()
end

-- Returns the least bytes that a run moves: once what it only reads, twice all
-- else.
local function bytes_of(kernel, arguments)
    local total = 0
    for _, arg in ipairs(kernel.args) do
        local value = arguments[arg.name]
        if arg.is_buffer and buffers.is(value) then
            total = total + (arg.is_const and 1 or 2) * value.size
        end
    end
    return total
end

-- Returns the milliseconds of one run, the best of three measurements.
local function measure(d, launch)
    local start, stop, best, runs = d:event(), d:event(), math.huge, 1
    launch:run()
    for _ = 1, 3 do
        repeat
            start:record()
            for _ = 1, runs do launch:run() end
            stop:record()
            local ms = start:elapsed_ms(stop)
            local is_enough = ms >= 1e3 * enough or runs >= max_runs
            if is_enough then best = math.min(best, ms / runs) end
            if not is_enough then runs = math.min(max_runs, 4 * runs) end
        until is_enough
    end
    start:release()
    stop:release()
    return best
end

local Timing = {}
Timing.__index = Timing

-- T_eff counts the bytes of each buffer once if the kernel only reads it, else
-- twice; arguments.bytes replaces this estimate.
function Timing:__tostring()
    local share = self.copy_rate and 100 * self.rate / self.copy_rate
    share = not share and '' or share > 105 and ', more than copies reach: it fits a cache'
        or (' = %.0f %% of the copy bandwidth'):format(share)
    return ('%s on %s: %.4g ms, %.4g MB, T_eff %.4g GB/s%s\n%s'):format(self.name, self.device,
        self.ms, self.bytes / 1e6, self.rate / 1e9, share, inspect.resources(self.info))
end

-- Runs a kernel repeatedly, rebuilt if its text has changed. Returns { ms,
-- bytes, rate (bytes/s), copy_rate, info, ... }, which prints as a table.
function Watched:time(name, arguments)
    local kernel = self:kernel(name)
    local launch = kernel:bind(arguments)
    local ms = measure(self.device, launch)
    launch:release()
    local bytes = arguments.bytes or bytes_of(kernel, arguments)
    self.copy_rate = self.copy_rate or bandwidth.measure(self.device)
    return setmetatable({ name = name, device = self.device.name, ms = ms, bytes = bytes,
        rate = bytes / (1e-3 * ms), copy_rate = self.copy_rate, info = kernel.info }, Timing)
end

-- Completion in a session: the names of the kernels, which these methods take.
function Watched:__words(method)
    if method ~= 'run' and method ~= 'time' and method ~= 'kernel' then return nil end
    local names, text = {}, self.path and everything(self.path, {}) or self.source
    for name in text:gmatch 'void%s+([%w_]+)%s*%(' do names[#names + 1] = name end
    return names
end

function Watched:__tostring()
    return ('%s on %s, built %d time%s'):format(self.shown or 'kernels of a text', self.device.name,
        self.builds, self.builds == 1 and '' or 's')
end

return watch
