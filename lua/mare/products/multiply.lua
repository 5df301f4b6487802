-- Multiplies matrices: on a CPU by OpenBLAS, on NVIDIA's GPUs by cuBLAS, where these are there, on
-- null devices by Lua, else by the kernel in multiply.krn; on a GPU a matrix and a vector by those
-- in vector.krn, which read memory at its full rate. CLBlast multiplies where it is asked to.

local bound = require 'bindings.array'
local clblast = require 'bindings.clblast'
local cublas = require 'bindings.cublas'
local errors = require 'bindings.errors'
local host = require 'mare.ordering.host'
local in_place = require 'bindings.in_place'
local kernels = require 'mare.ordering.kernels'
local memory = require 'mare.expression.memory'
local openblas = require 'bindings.openblas'

local multiply = {}

local libraries = { openblas = openblas, cublas = cublas, clblast = clblast }

-- The names of what may multiply.
multiply.names = { 'clblast', 'cublas', 'openblas', 'own' }

-- Returns the library that would multiply on a device of which only `info` is known, or nil.
local function wanted(info)
    if info.name:find '^cuda:' then return 'cublas' end
    return info.runs_kernels and info.kind == 'cpu' and 'openblas' or nil
end

-- Returns what multiplies matrices of a type on a device: 'openblas', 'cublas', 'own' or 'host'.
function multiply.library(device, type)
    if device.is_null then return 'host' end
    local name = wanted(device.info)
    local is_found = name and libraries[name].has_type(type.name)
        and libraries[name].is_there(device)
    return is_found and name or 'own'
end

-- Returns the same of floats for a device that is not open, from its info.
function multiply.expected(info)
    local name = wanted(info)
    return name and pcall(libraries[name].version) and name or 'own'
end

-- Raises an error if a library that a script names cannot be asked. what: the beginning of it
function multiply.check(name, device, what)
    if not libraries[name] then return end
    local is_there, reason = libraries[name].is_there(device)
    if not is_there then
        errors.raise('MARE_ERROR_UNAVAILABLE', ("%s: library '%s' on %s: %s"):format(what, name,
            device.name, reason))
    end
end

-- Whether it multiplies elements of a type.
function multiply.takes(name, type)
    if libraries[name] then return libraries[name].has_type(type.name) end
    return not type.complex
end

-- ---- the kernel ----

function multiply.defines(device, type)
    return kernels.defines(device, type, kernels.computed(type),
        { IS_REAL = type.kind == 2 and 1 or 0 })
end

-- Returns how many tiles of out there are: a group computes one, or a work-item on a CPU.
local function tiles_of(device, count, rows, columns)
    local is_group = kernels.by_groups(device)
    return count * math.ceil(rows / (is_group and 128 or 4))
        * math.ceil(columns / (is_group and 128 or 64))
end

-- finish: { text, memories, numbers, places } of an epilogue, or nil
local function by_kernel(out, a, b, size, finish)
    local device, type = out.device, out.type
    local kernel = kernels.of(device, 'products/multiply.krn', 'multiply',
        type.name .. (finish and finish.text or ''),
        function()
            local defines = multiply.defines(device, type)
            defines.MR_GROUPS_PER_UNIT = type.size < 8 and 2 or 1
            return defines
        end, finish and finish.text)
    local x, group = kernels.blocks(device,
        tiles_of(device, size.count, size.rows, size.columns))
    kernels.run(kernel, device, { out, a.version, b.version },
        { size.count, size.rows, size.columns, size.depth, a.offset, a.batch, a.row, a.column,
            b.offset, b.batch, b.row, b.column }, x, group, finish)
end

-- ---- a matrix and a vector, by groups ----

local per_row, teams, slice = 32, 8, 256    -- the same numbers as in vector.krn

-- a: { version, offset, batch, row, k }: memory, first element and strides of a matrix of
-- size.rows x size.depth; x: the same for a vector of size.depth, without row
local function by_vector_kernel(out, a, x, size)
    local device, type = out.device, out.type
    local function kernel(entry)
        return kernels.of(device, 'products/vector.krn', entry, type.name,
            function() return multiply.defines(device, type) end)
    end
    local memories = { out, a.version, x.version }
    local numbers = { size.count, size.rows, size.depth, a.offset, a.batch, a.row, a.k, x.offset,
        x.batch, x.k }
    if math.abs(a.k) <= math.abs(a.row) then
        return kernels.run(kernel 'by_rows', device, memories, numbers,
            kernels.blocks(device, size.count * math.ceil(size.rows / teams)))
    end
    local computed, slices = kernels.computed(type), math.max(1, math.ceil(size.depth / slice))
    local partial = memory.new(device, computed, size.count * slices * size.rows)
    local height = per_row * (computed.size >= 8 and 2 or 4)
    memories[1] = partial
    table.insert(numbers, 4, slices)
    kernels.run(kernel 'by_columns', device, memories, numbers,
        kernels.blocks(device, size.count * slices * math.ceil(size.rows / height)))
    kernels.run(kernel 'add_slices', device, { out, partial }, { size.count, size.rows, slices },
        kernels.shape(device, out.count))
end

-- Multiplies by these kernels if one of the factors is a vector; else returns false.
local function by_vector(out, a, b, size)
    if not kernels.by_groups(out.device) or size.columns ~= 1 and size.rows ~= 1 then
        return false
    end
    local function matrix(x, row, k)
        return { version = x.version, offset = x.offset, batch = x.batch, row = row, k = k }
    end
    local one, other = matrix(a, a.row, a.column), matrix(b, b.column, b.row)
    if size.columns == 1 then
        by_vector_kernel(out, one, other, size)
    else
        by_vector_kernel(out, other, one, { count = size.count, rows = size.columns,
            depth = size.depth })
    end
    return true
end

-- ---- libraries ----

local most = 2 ^ 31 - 1     -- what an int of theirs holds

-- Returns a factor as libraries have it: { buffer, offset, batch, step: elements from one line to
-- the next, is_t: whether these are columns, count: elements from its first to its last }; nil if
-- neither axis has neighbours in memory.
local function stored(x, rows, columns)
    local is_t = x.column ~= 1 and columns > 1
    local step = is_t and x.column or x.row
    local across, unit = is_t and rows or columns, is_t and x.row or x.column
    if across > 1 and unit ~= 1 or step < 0 then return nil end
    local down = is_t and columns or rows
    if down == 1 then step = across end
    if step < across or step > most or x.batch < 0 then return nil end
    return { version = x.version, offset = x.offset, batch = x.batch, step = math.max(step, 1),
        is_t = is_t, count = (down - 1) * step + across }
end

-- OpenBLAS computes on the host, where the memory of a processor is.
local function by_openblas(out, a, b, size)
    local name, all, last = out.type.name, size.rows * size.columns, size.count - 1
    local function part(x)
        return { cell = x.version.cell, type = name, offset = x.offset,
            count = last * x.batch + x.count }
    end
    in_place.with(out.device, { part(a), part(b), { cell = out.cell, type = name, offset = 0,
        count = size.count * all, is_written = true } }, function(x, y, made)
        for z = 0, last do
            openblas.multiply(name, size.rows, size.columns, size.depth, x + z * a.batch, a.step,
                a.is_t, y + z * b.batch, b.step, b.is_t, made + z * all)
        end
    end)
end

-- Multiplies by the library if the factors lie as it wants them; else returns false. Vectors on a
-- GPU are left to Mare's kernels.
local function by_library(out, a, b, size, library, is_tf32)
    local device = out.device
    local is_vector = size.rows == 1 or size.columns == 1
    local p = size.depth > 0 and libraries[library] and stored(a, size.rows, size.depth)
    local q = p and stored(b, size.depth, size.columns)
    if not q or library ~= 'openblas' and is_vector and kernels.by_groups(device) then
        return false
    end
    if library == 'openblas' then
        if bound.is_recording(device) then return false end     -- a plan holds no work of the host
        by_openblas(out, p, q, size)
        return true
    end
    if math.max(size.count, size.rows, size.columns, size.depth) > most then return false end
    if bound.is_recording(device) then
        for _, version in ipairs { out, a.version, b.version } do memory.stay(version) end
    end
    p.buffer, q.buffer = bound.buffer(a.version.cell), bound.buffer(b.version.cell)
    libraries[library].multiply(device, out.type.name, size, p, q, bound.buffer(out.cell), is_tf32)
    return true
end

-- ---- null devices ----

local function by_lua(out, a, b, size)
    local x, y, write = host.reader(a.version), host.reader(b.version), host.writer(out)
    local round = bound.on_host['to_' .. kernels.computed(out.type).name]
    local narrow = bound.on_host['to_' .. out.type.name]
    local times = out.type.kind < 2 and bound.on_host.product
        or function(p, q) return p * q end
    local n = 0
    for z = 0, size.count - 1 do
        for i = 0, size.rows - 1 do
            for j = 0, size.columns - 1 do
                local sum = round(0)
                for k = 0, size.depth - 1 do
                    sum = round(sum + times(x(a.offset + z * a.batch + i * a.row + k * a.column),
                        y(b.offset + z * b.batch + k * b.row + j * b.column)))
                end
                write(n, narrow(sum))
                n = n + 1
            end
        end
    end
end

-- Returns a version for the product.
function multiply.room(a, size)
    return memory.new(a.version.device, a.version.type, size.count * size.rows * size.columns)
end

-- Computes the products of `size.count` matrices of size.rows x size.depth and size.depth x
-- size.columns, one after the other, into a version. a, b: { version, offset, batch, row, column }:
-- memory of one type, first element and strides; library: see library(); is_tf32: whether cuBLAS
-- may round floats to TF32; finish: of an epilogue, see multiply.takes_epilogue. Returns false
-- where complex numbers lie otherwise than the library wants them, a factor is a vector on a GPU,
-- or a plan is recorded that the library has no part in: no kernel multiplies those.
function multiply.into(out, a, b, size, library, is_tf32, finish)
    local device = out.device
    if finish then
        by_kernel(out, a, b, size, finish)
    elseif out.count > 0 and not by_library(out, a, b, size, library, is_tf32) then
        if device.is_null then
            by_lua(out, a, b, size)
        elseif out.type.complex then
            return false
        elseif not by_vector(out, a, b, size) then
            by_kernel(out, a, b, size)
        end
    end
    return true
end

-- Whether it is Mare's kernel of matrices that would multiply, which takes an epilogue.
function multiply.takes_epilogue(device, size, library)
    local is_vector = size.rows == 1 or size.columns == 1
    return not libraries[library] and not device.is_null and size.depth > 0
        and not (is_vector and kernels.by_groups(device))
end

return multiply
