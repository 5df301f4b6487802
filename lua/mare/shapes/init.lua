-- Finds the shape of each kernel: how its work is divided into work-items,
-- groups and strips, and other choices that do not change results. The first of
-- these that fits is used: the shape that a tuning run is trying (with), the
-- shape that tuning found on this user's devices and kept (put), the shape that
-- Mare ships (shipped.lua). A kept shape holds for one kernel of one scheme,
-- one model of device, one precision and one class of sizes: numbers of cells
-- within a factor of two around a power of four.
--
-- A shape is a table: W columns per work-item, GROUP work-items per group, the
-- `rows` of a strip or the number of `resident` groups on a compute unit, and
-- other parameters of the kernel; see parameters.lua.

local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local files = require 'bindings.files'
local json = require 'mare.base.json'
local posix = require 'bindings.posix'
local parameters = require 'mare.shapes.parameters'
local shipped = require 'mare.shapes.shipped'
local tables = require 'bindings.tables'
local version = require('bindings.device').version

local shapes = {}

local trying        -- { kernel = fields } while a tuning run tries them, else nil
local kept          -- the entries of the user's file, once they have been read
local is_readable   -- whether the whole file could be read
local entry_of = setmetatable({}, { __mode = 'k' })     -- kept shape -> its entry
local passed_over = setmetatable({}, { __mode = 'k' })  -- keys: errors of kept shapes

-- ---- the user's file ----

-- Returns the path of the file: MARE_TUNED, or $XDG_DATA_HOME/mare/tuned.json.
-- Returns nil if MARE_TUNED is 'off' or there is no home directory.
function shapes.path()
    local own, data, home = os.getenv 'MARE_TUNED', os.getenv 'XDG_DATA_HOME', os.getenv 'HOME'
    if own and own ~= '' then return own ~= 'off' and own or nil end
    if data and data:sub(1, 1) == '/' then return data .. '/mare/tuned.json' end
    return home and home ~= '' and home .. '/.local/share/mare/tuned.json' or nil
end

local function is_count(value, least)
    return type(value) == 'number' and value % 1 == 0 and value >= least and value < 2 ^ 31
end

-- Returns what is wrong with the shape of a user's own kernel. Anything that
-- can be a define is allowed.
local function own_fault(shape)
    for name, value in pairs(shape) do
        if type(name) ~= 'string' or type(value) == 'table' then
            return ('%s = %s'):format(tostring(name), tostring(value))
        end
    end
end

local entry_fields = { kernel = 'string', device = 'string', size = 'number', scheme = 'string',
    precision = 'string', date = 'string', mare = 'string', time = 'number', energy = 'number' }

-- Returns what is wrong with an entry of the file, in words, or nil.
local function fault(entry)
    if type(entry) ~= 'table' then return 'is no table' end
    for name, wanted in pairs(entry_fields) do
        local value = entry[name]
        local is_needed = name == 'kernel' or name == 'device' or name == 'size'
        if type(value) ~= wanted and (is_needed or value ~= nil) then
            return ('%s = %s'):format(name, tostring(value))
        end
    end
    if not is_count(entry.size, 0) or entry.size > 64 then return 'size = ' .. entry.size end
    if type(entry.shape) ~= 'table' then return 'shape is no table' end
    if not entry.scheme then return own_fault(entry.shape) end
    return parameters.fault(entry.kernel, entry.shape)
end

-- Returns the elements of a JSON list as an array of { text = as it stands
-- there, entry = decoded }, or nil if the text is not a complete list.
local function elements(text)
    local found, at = {}, text:match '^%s*%[()'
    if text:find '^%s*$' or text:find '^%s*%[%s*%]%s*$' then return found end
    while at do
        local entry, after, problem = json.decode(text, at)
        if problem then return nil end
        found[#found + 1] = { text = text:sub(at, after - 1):match '^%s*(.*)$', entry = entry }
        local mark, next = text:match('^%s*([,%]])()', after)
        if mark == ']' then return text:find('^%s*$', next) and found end
        at = next
    end
end

-- Returns the elements of the file; those that are wrong have a `reason`. There
-- are none if there is no file. Returns nil and the reason if the file cannot
-- be read.
local function read_elements(path)
    local text, reason = files.read(path)
    if not text and reason:find 'No such file or directory$' then return {} end
    if not text then return nil, ('%s cannot be read (%s)'):format(path, reason:sub(#path + 3)) end
    local found = elements(text)
    if not found then return nil, path .. ' is no list of tuned shapes' end
    for _, one in ipairs(found) do one.reason = fault(one.entry) end
    return found
end

-- Reads the entries; warns about wrong ones and leaves them out.
local function read()
    local path, good = shapes.path(), {}
    local found, problem = read_elements(path)
    if not found then events.warn('%s and is not used', problem) end
    for k, one in ipairs(found or {}) do
        if one.reason then
            events.warn('%s: entry %d is not used: %s', path, k, one.reason)
        else
            good[#good + 1] = one.entry
        end
    end
    return good, found ~= nil
end

-- Returns what the user has kept, an array of { kernel, scheme, device,
-- precision, size, shape, time (ms), energy (J), date, mare }, and whether the
-- whole file could be read.
function shapes.kept()
    if not kept and shapes.path() then kept, is_readable = read() end
    return kept or {}, is_readable
end

-- Makes the next call of kept() read the file again.
function shapes.forget()
    kept = nil
end

-- Writes the list. Existing entries keep their text, character for character.
local function write(path, list)
    local lines, good = {}, {}
    for k, one in ipairs(list) do
        lines[k] = one.text or json.encode(one.entry)
        if not one.reason then good[#good + 1] = one.entry end
    end
    local temporary = files.temporary(path)
    temporary:append('[\n' .. table.concat(lines, ',\n') .. '\n]\n')
    temporary:commit()
    kept, is_readable = good, true
end

-- Returns the elements of the file; raises an error if the file cannot be read,
-- since writing a new one would lose its contents.
local function elements_to_keep(path)
    local found, problem = read_elements(path)
    if not found then errors.raise('MARE_ERROR_IO', '%s: it is left as it is (mare tune '
            .. 'clear moves it aside; or set MARE_TUNED)', problem) end
    return found
end

local function writable_path()
    local path = shapes.path()
    if not path then errors.argument 'tuned shapes have no place: MARE_TUNED is off' end
    files.make_folders(path)
    return path
end

-- Replaces the elements of the file by change(elements), unless that is nil.
-- The file is locked meanwhile.
local function update(change)
    local path = writable_path()
    files.locked(path, function()
        local list = change(elements_to_keep(path))
        if list then write(path, list) end
    end)
end

-- Raises an error if put() could not keep anything.
function shapes.check()
    local path = writable_path()
    files.check(path)
    elements_to_keep(path)
end

local identity = { 'kernel', 'scheme', 'device', 'precision', 'size' }

local function is_same(a, b)
    for _, field in ipairs(identity) do
        if a[field] ~= b[field] then return false end
    end
    return true
end

-- Returns the elements that goes(entry) does not select, and how many it does.
-- Elements that could not be read are always kept.
local function without(list, goes)
    local rest = {}
    for _, one in ipairs(list) do
        if one.reason or not goes(one.entry) then rest[#rest + 1] = one end
    end
    return rest, #list - #rest
end

-- Keeps an entry; it replaces the entry for the same case.
function shapes.put(entry)
    entry.date, entry.mare = os.date '!%Y-%m-%dT%H:%M:%SZ', version
    update(function(list)
        local rest = without(list, function(other) return is_same(entry, other) end)
        rest[#rest + 1] = { entry = entry }
        return rest
    end)
end

local function say_left(list)
    local count = 0
    for _, one in ipairs(list) do count = count + (one.reason and 1 or 0) end
    if count > 0 then
        events.note('%s: %d that this version does not understand stay', shapes.path(), count)
    end
end

-- Moves a file that holds no list aside, so that there is none; returns whether
-- it did.
local function set_aside(path)
    local text = files.read(path)
    if not text or elements(text) then return false end
    local aside = path .. '.damaged'
    local ok, reason = os.rename(path, aside)
    if not ok then errors.raise('MARE_ERROR_IO', '%s cannot be moved aside: %s', path, reason) end
    events.note('%s is no list of tuned shapes: it is %s now', path, aside)
    return true
end

-- Removes the entries of a kernel, or all of them, and returns how many. All of
-- a file that cannot be read is the file.
function shapes.clear(kernel)
    local path, count = shapes.path(), 0
    if not (path and posix.status(path)) then return 0 end
    if not kernel and files.locked(path, set_aside, path) then return 0 end
    update(function(list)
        local rest
        rest, count = without(list, function(entry) return not kernel or entry.kernel == kernel end)
        if not kernel then say_left(rest) end
        return count > 0 and rest or nil
    end)
    return count
end

-- ---- use ----

-- Formats a shape, for example as 'W = 4, rows = 8'.
local function describe(shape)
    local fields = {}
    for name, value in pairs(shape) do fields[#fields + 1] = name .. ' = ' .. tostring(value) end
    table.sort(fields)
    return table.concat(fields, ', ')
end

-- Adds the shipped shapes in the tree `known`; `words` are the keys on the way
-- to it.
local function add_shipped(lines, words, known)
    if known.W then
        lines[#lines + 1] = words .. '  shipped: ' .. describe(known)
        return
    end
    for _, name in ipairs { 'gpu', 'cpu', 'float', 'double' } do
        if known[name] then add_shipped(lines, words .. ' ' .. name, known[name]) end
    end
    for _, shape in ipairs(known) do add_shipped(lines, words, shape) end
end

local function line_of(entry)
    return ('%-10s %-24s %-6s %7s  %s  %s'):format(entry.kernel, entry.scheme or '-',
        entry.precision or '-', ('%d^2'):format(2 ^ entry.size), (entry.date or ''):sub(1, 10),
        entry.device)
end

local function none_kept()
    local path, _, is_all = shapes.path(), shapes.kept()
    if not path then return 'none kept: MARE_TUNED is off' end
    return is_all and 'none kept in ' .. path or 'none known'
end

-- Returns the entries as lines of a table. For one kernel, returns its entries
-- with their shapes, and the shipped shapes.
function shapes.lines(kernel)
    local lines = {}
    for _, entry in ipairs(shapes.kept()) do
        if not kernel then lines[#lines + 1] = line_of(entry) end
        if kernel == entry.kernel then
            local time = entry.time and (': %.4g ms'):format(entry.time) or ''
            lines[#lines + 1] = line_of(entry) .. '\n    ' .. describe(entry.shape) .. time
        end
    end
    if shipped[kernel] then add_shipped(lines, kernel, shipped[kernel]) end
    if kernel and not lines[1] then
        errors.usage("tune: no shapes of '%s' (shipped: %s; kept: 'mare tune ls')", kernel,
            tables.names(shipped))
    end
    return lines[1] and lines or { none_kept() }
end

-- Returns the size class of a number of cells: log2 of the edge of a square,
-- rounded.
function shapes.size(cells)
    return math.floor(0.5 * math.log(cells) / math.log(2) + 0.5)
end

local function find_kept(kernel, scheme, device, precision, size)
    for _, entry in ipairs(shapes.kept()) do
        if entry.kernel == kernel and entry.scheme == scheme and entry.precision == precision
            and entry.device == device.info.model and entry.size == size and not entry.is_unfit then
            return entry
        end
    end
end

-- Returns a shape with some fields replaced. `rows` and `resident` exclude each
-- other, and a W that is given rules out the shape's `even` width.
local function merged(shape, fields)
    if not fields then return shape end
    local out = tables.merged(shape, fields)
    if fields.resident and not fields.rows then out.rows = nil end
    if fields.rows and not fields.resident then out.resident = nil end
    if fields.W then out.even = nil end
    return out
end

-- Returns the name of a scheme in an entry.
function shapes.scheme_name(scheme)
    return scheme.name .. ' ' .. scheme.scheme
end

-- Returns the shape for a part with so many columns and fields; see shipped.lua.
local function for_part(list, columns, fields)
    if not list[1] then return list end
    for _, shape in ipairs(list) do
        if columns >= shape.columns and fields <= (shape.fields or fields) then return shape end
    end
end

local function find_shipped(kernel, scheme, device, precision, part)
    local known = shipped[kernel]
    local found = known[device.info.kind] or known.gpu
    return for_part(found[precision] or found, part.nx, #scheme.fields)
end

-- Returns the shape with these fields, or nil and what is wrong with it.
local function fitted(kernel, device, shape, fields)
    local whole = merged(shape, fields)
    local reason = parameters.fault(kernel, fields, device.info)
        or parameters.misfit(kernel, whole, device.info)
    return not reason and whole, reason
end

-- Marks a kept shape as unfit and warns; from now on the shipped one is used.
local function pass_over(entry, reason)
    entry.is_unfit = true
    events.warn('%s: what is kept of %s for %s (%s) is not used: %s', shapes.path(), entry.kernel,
        entry.device, describe(entry.shape), reason)
end

-- Returns the shape of a kernel for a part: { nx =, cells = the mean of all
-- parts }. A shape that is being tried and does not fit raises an error; a kept
-- shape that does not fit is passed over with a warning.
function shapes.find(kernel, scheme, device, precision, part)
    local usual = find_shipped(kernel, scheme, device, precision, part)
    if trying then
        if not trying[kernel] then return usual end
        local whole, reason = fitted(kernel, device, usual, trying[kernel])
        if reason then errors.argument('%s: %s', kernel, reason) end
        return whole
    end
    local entry = find_kept(kernel, shapes.scheme_name(scheme), device, precision,
        shapes.size(part.cells))
    if not entry then return usual end
    local whole, reason = fitted(kernel, device, usual, entry.shape)
    if not whole then
        pass_over(entry, reason)
        return usual
    end
    entry_of[whole] = entry
    return whole
end

local may_be_the_shape = { MARE_ERROR_BUILD = true, MARE_ERROR_DEVICE = true }

-- Returns the first line of a compiler's message that reports an error.
local function first_error(message)
    for line in message:gmatch '[^\n]+' do
        if line:find 'error' then return line end
    end
    return message:match '[^\n]*'
end

-- NVRTC saves registers for more groups than the shape has resident, or takes
-- too many for that: 127 instead of 158 for one step of water_hll, 3 % slower
-- on an H200, and 178 for that of the nonlinear ocean, of whose six groups
-- one would wait. So it is told, where that leaves 170 registers and more.
local function groups_option(info, shape)
    local threads = shape.resident and shape.resident * shape.GROUP
    if not threads or threads > 384 or not info.name:find '^cuda' then return nil end
    return ('--define-macro=MR_GROUPS_PER_UNIT=%d'):format(shape.resident)
end

local function add_options(device, shape, program)
    program.options = shapes.options(device.info, shape.max_registers)
        or groups_option(device.info, shape)
end

-- Begins to compile what program() will be asked for.
function shapes.prepare(device, shape, program)
    add_options(device, shape, program)
    device:prepare(program)
end

-- Compiles a program with a shape. program: as of source.program. A kept
-- shape may no longer compile, for example with a newer driver; then it is
-- passed over with a warning and settle() starts again.
function shapes.program(device, shape, program)
    add_options(device, shape, program)
    local ok, result = pcall(device.program, device, program)
    if ok then return result end
    if entry_of[shape] and may_be_the_shape[result.status] then
        pass_over(entry_of[shape], first_error(result.message))
        passed_over[result] = true
    end
    error(result, 0)
end

-- Calls f(...), which finds shapes and compiles kernels, and calls it again
-- after each kept shape that had to be passed over. Other errors are raised.
function shapes.settle(f, ...)
    while true do
        local ok, result = pcall(f, ...)
        if ok then return result end
        if not passed_over[result] then error(result, 0) end
    end
end

-- Returns whether a tuning run is trying shapes of that kernel at the moment.
function shapes.is_tried(kernel)
    return trying ~= nil and trying[kernel] ~= nil
end

-- Calls f(...) while the kernels have these fields, { kernel = { W = 4, ... }
-- }, and everything else has its shipped shape. Errors of f are raised.
function shapes.with(fields, f, ...)
    local before = trying
    trying = fields
    local ok, result = pcall(f, ...)
    trying = before
    if not ok then error(result, 0) end
    return result
end

-- Returns the compiler option that limits registers per work-item to `count`
-- (nil: no limit), as fields of device:program.
function shapes.options(info, count)
    if not count or count == 0 then return nil end
    if info.name:find '^cuda' then
        return ('--maxrregcount=%d --define-macro=MR_REGISTERS=%d'):format(count, count)
    end
    if info.vendor:find 'NVIDIA' then
        return ('-cl-nv-maxrregcount=%d -D MR_REGISTERS=%d'):format(count, count)
    end
    errors.argument('max_registers = %s: %s has no such limit', tostring(count), info.model)
end

return shapes
