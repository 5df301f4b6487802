-- A thin layer over NetCDF-C: handles are tables, ids and status codes stay inside, and every
-- failing call raises a string that names the file, the variable and NetCDF's own reason. The
-- library is looked for when the first file is opened. Indices count from 0, as in C. NetCDF-C is
-- not thread-safe, so its calls go one at a time, whatever the thread.

local ffi = require 'ffi'
local attempt = require 'bindings.attempt'
local files = require 'bindings.files'
local host_array = require 'bindings.host_array'
local foreign = require 'bindings.foreign'
local home = require 'bindings.home'
local lock = require 'bindings.lock'
local opendap = require 'bindings.opendap'
local posix = require 'bindings.posix'

ffi.cdef [[
    int H5open(void);
    int H5dont_atexit(void);
    extern int64_t H5P_CLS_FILE_CREATE_ID_g, H5P_CLS_FILE_ACCESS_ID_g;
    int64_t H5Pcreate(int64_t class);
    int H5Pclose(int64_t list);
    int H5Pset_link_creation_order(int64_t list, unsigned flags);
    int H5Pset_attr_creation_order(int64_t list, unsigned flags);
    int H5Pset_attr_phase_change(int64_t list, unsigned most_compact, unsigned least_dense);
    int H5Pset_libver_bounds(int64_t list, int low, int high);
    int64_t H5Fcreate(const char *path, unsigned flags, int64_t create, int64_t access);
    int H5Fclose(int64_t file);
    int H5Eset_auto2(int64_t stack, void *print, void *data);
    const char *nc_inq_libvers(void);
    const char *nc_strerror(int status);
    int nc_create(const char *path, int mode, int *id);
    int nc_open(const char *path, int mode, int *id);
    int nc_get_alignment(int *threshold, int *alignment);
    int ncsetloglevel(int level);
    int nc_set_alignment(int threshold, int alignment);
    int nc_close(int id);
    int nc_abort(int id);
    int nc_sync(int id);
    int nc_redef(int id);
    int nc_enddef(int id);
    int nc_set_fill(int id, int mode, int *old);
    int nc_def_dim(int id, const char *name, size_t length, int *dim);
    int nc_def_var(int id, const char *name, int type, int rank, const int *dims, int *var);
    int nc_def_var_chunking(int id, int var, int storage, const size_t *sizes);
    int nc_set_var_chunk_cache(int id, int var, size_t size, size_t slots, float preemption);
    int nc_def_var_deflate(int id, int var, int shuffle, int deflate, int level);
    int nc_def_var_quantize(int id, int var, int mode, int digits);
    int nc_def_var_fill(int id, int var, int no_fill, const void *value);
    int nc_put_att_text(int id, int var, const char *name, size_t length, const char *text);
    int nc_put_att_double(int id, int var, const char *name, int type, size_t n,
                          const double *values);
    int nc_put_vara_text(int id, int var, const size_t *start, const size_t *count,
                         const char *text);
    int nc_put_vara_float(int id, int var, const size_t *start, const size_t *count,
                          const float *data);
    int nc_put_vara_double(int id, int var, const size_t *start, const size_t *count,
                           const double *data);
    int nc_put_vara_int(int id, int var, const size_t *start, const size_t *count, const int *data);
    int nc_put_vara_longlong(int id, int var, const size_t *start, const size_t *count,
                             const int64_t *data);
    int nc_put_vara_ulonglong(int id, int var, const size_t *start, const size_t *count,
                              const uint64_t *data);
    int nc_get_vara(int id, int var, const size_t *start, const size_t *count, void *data);
    int nc_get_att_text(int id, int var, const char *name, char *text);
    int nc_get_att_string(int id, int var, const char *name, char **texts);
    int nc_free_string(size_t n, char **texts);
    int nc_get_att_double(int id, int var, const char *name, double *values);
    int nc_inq(int id, int *dims, int *vars, int *attributes, int *unlimited);
    int nc_inq_dim(int id, int dim, char *name, size_t *length);
    int nc_inq_varid(int id, const char *name, int *var);
    int nc_inq_var(int id, int var, char *name, int *type, int *rank, int *dims, int *attributes);
    int nc_inq_attname(int id, int var, int number, char *name);
    int nc_inq_att(int id, int var, const char *name, int *type, size_t *length);
]]

local netcdf = {}

local NC_CLOBBER, NC_WRITE, NC_NETCDF4, NC_NOFILL = 0, 1, 0x1000, 0x100
local O_WRONLY = 1
local NC_GLOBAL, NC_EHDFERR, NC_QUANTIZE_GRANULAR_BITROUND = -1, -101, 2
local NC_CHAR, NC_INT, NC_DOUBLE, NC_STRING = 2, 4, 6, 12
local type_code = { byte = 1, char = 2, short = 3, int = 4, float = 5, double = 6, ubyte = 7,
    ushort = 8, uint = 9, int64 = 10, uint64 = 11, string = 12 }
local c_type = { 'int8_t', 'char', 'int16_t', 'int', 'float', 'double', 'uint8_t', 'uint16_t',
    'unsigned', 'int64_t', 'uint64_t' }
local max_name, max_rank = 257, 1024     -- NC_MAX_NAME and its NUL, NC_MAX_VAR_DIMS

local type_name = {}
for name, code in pairs(type_code) do type_name[code] = name end

local File = {}
File.__index = File

local C, raw         -- with and without the lock

-- Loads the library or raises an error that says what to install; names replaces the usual list.
function netcdf.load(names)
    names = names or { 'libnetcdf.so.22', 'libnetcdf.so.19', 'libnetcdf.so.18', 'libnetcdf.so' }
    -- Files are written under names of their own, and may be read meanwhile. The environment of a
    -- program that embeds Mare is its own affair.
    if not home.embedded then posix.C.setenv('HDF5_USE_FILE_LOCKING', 'FALSE', 0) end
    raw = foreign.load('NetCDF-C', names, 'libnetcdf-dev')
    C = lock.guard(raw)
    -- HDF5's clean-up at exit would close files that failed once more, and crash on them.
    pcall(function() C.H5dont_atexit() end)
    -- It prints its errors unless told not to, by each thread; a state is used by one.
    pcall(function() C.H5Eset_auto2(0, nil, nil) end)
end

local function library()
    if not C then netcdf.load() end
    return C
end

-- Its functions and those of the HDF5 below it, for hdf5.lua.
netcdf.library = library

function netcdf.version()
    return (ffi.string(library().nc_inq_libvers()):gsub('%s*%$$', ''))
end

-- HDF5 failures all look alike in NetCDF's codes. What the disk refused errno tells; any other
-- value is of a call that has nothing to do with it.
local of_disk = { [5] = true, [27] = true, [28] = true, [122] = true }     -- IO FBIG NOSPC DQUOT

local function check(status, path, what)
    if status == 0 then return end
    local number = ffi.errno()
    local reason = ffi.string(C.nc_strerror(status))
    if status == NC_EHDFERR and of_disk[number] then
        reason = reason .. ' (' .. posix.reason(number) .. ')'
    end
    error(string.format('%s: %s: %s', path, what, reason), 0)
end

function File:check(status, what)
    self.failed = self.failed or status == NC_EHDFERR
    check(status, self.path, what)
end

local function new(path, id)
    local handle = ffi.gc(ffi.new('int[1]', id), function(h) C.nc_close(h[0]) end)
    return setmetatable({ path = path, id = id, handle = handle, vars = {},
        start = ffi.new('size_t[?]', max_rank), count = ffi.new('size_t[?]', max_rank) }, File)
end

-- A zeroed array for put().
function netcdf.doubles(n)
    return ffi.new('double[?]', n)
end

local H5F_TRUNC, IN_ORDER, V18, V110, MOST = 2, 3, 1, 2, 65535

-- An empty file whose global attributes stay together in the header of its root, however many they
-- are. Left to itself HDF5 puts more than eight into a heap, and when one is changed later for
-- which that has to grow, it (1.10.8) cannot close the file any more. NetCDF-C has no say in this.
local function create_root(path)
    C.H5open()
    local create = C.H5Pcreate(raw.H5P_CLS_FILE_CREATE_ID_g)
    local access = C.H5Pcreate(raw.H5P_CLS_FILE_ACCESS_ID_g)
    C.H5Pset_link_creation_order(create, IN_ORDER)      -- what NetCDF-4 wants
    C.H5Pset_attr_creation_order(create, IN_ORDER)
    C.H5Pset_attr_phase_change(create, MOST, MOST - 1)
    C.H5Pset_libver_bounds(access, V18, V110)
    local file = C.H5Fcreate(path, H5F_TRUNC, create, access)
    C.H5Pclose(create)
    C.H5Pclose(access)
    return file >= 0 and C.H5Fclose(file) >= 0
end

-- A new, empty NetCDF-4 file in define mode, over any existing one. Errors call it shown_as.
function netcdf.create(path, shown_as)
    local id = ffi.new 'int[1]'
    shown_as = shown_as or path
    library()
    if create_root(path) then
        local file = netcdf.append(path, shown_as)
        file:begin_definitions()
        return file
    end
    ffi.errno(0)
    check(C.nc_create(path, NC_CLOBBER + NC_NETCDF4, id), shown_as, 'create')
    local file = new(shown_as, id[0])
    file.writes = true
    file:check(C.nc_set_fill(file.id, NC_NOFILL, id), 'set fill mode')
    return file
end

local function open(path)
    local id = ffi.new 'int[1]'
    check(library().nc_open(path, 0, id), path, 'open')
    return new(path, id[0])
end

-- Reads all that the header says.
local function read_header(path)
    local file = open(path)
    file:attributes()
    for _, v in ipairs(file:variables()) do file:attributes(v.name) end
    file:close()
end

-- In a copy of this process: libcurl prints what goes wrong, and this process will say it.
local function read_silently(path)
    posix.C.dup2(posix.C.open('/dev/null', O_WRONLY), 2)
    read_header(path)
end

-- Opens for reading. libhdf5 may crash on a damaged header, or look into it for ever: a copy of
-- this process reads it first. path: also an address, https://..., of which a server gives parts by
-- OPeNDAP: no file is read then; see opendap.lua.
function netcdf.open(path)
    local reason = files.unreadable(path)
    if reason then error(path .. ': ' .. reason, 0) end
    library()
    local is_remote = files.is_remote(path)
    local read = is_remote and read_silently or read_header
    local fault = attempt.fault(function() read(path) end,
        is_remote and attempt.patience_with_servers or nil)
    if fault then
        error((is_remote and '%s: the server %s'
            or '%s: is damaged: NetCDF-C %s where it reads its header'):format(path, fault), 0)
    end
    return open(path)
end

-- Bytes from which on what a file holds begins with a page, and those of a page.
netcdf.align_from, netcdf.page = 65536, 4096

-- f(...) while files are opened of which that holds; the setting is the process's. Whether
-- NetCDF-C knows it, since 4.9.0, comes first.
local function aligned(f, ...)
    local threshold, alignment = ffi.new 'int[1]', ffi.new 'int[1]'
    local known = pcall(function()
        C.nc_get_alignment(threshold, alignment)
        C.nc_set_alignment(netcdf.align_from, netcdf.page)
    end)
    local status = f(...)
    -- Never set it is 0, which HDF5 does not take.
    if known then C.nc_set_alignment(math.max(1, threshold[0]), math.max(1, alignment[0])) end
    return known, status
end

-- Opens to write more into it; .aligns: large chunks that come begin with a page. Errors call it
-- shown_as.
function netcdf.append(path, shown_as)
    local id = ffi.new 'int[1]'
    local aligns, status = aligned(library().nc_open, path, NC_WRITE, id)
    check(status, shown_as, 'open again')
    local file = new(shown_as, id[0])
    file.aligns, file.writes = aligns, true
    file:check(C.nc_set_fill(file.id, NC_NOFILL, id), 'set fill mode')
    return file
end

local function detach(file)
    local id = file.id
    if not id then error(file.path .. ': is closed', 0) end
    ffi.gc(file.handle, nil)
    file.id = nil
    return id
end

-- What can fail is written first: where HDF5 cannot close a file, NetCDF-C 4.9.0 lists what is
-- open in it, and crashes on that.
function File:close()
    ffi.errno(0)
    if self.writes then self:sync() end
    self:check(C.nc_close(detach(self)), 'close')
end

-- Says that the disk has failed behind NetCDF-C's back: abort() leaves the file to itself.
function File:fail()
    self.failed = true
end

-- Gives up a file. After a failed write, of which the last may be due only now, it stays open
-- inside HDF5, which may crash closing one.
function File:abort()
    if not self.id then return end
    if self.writes and not self.failed then self.failed = not pcall(self.sync, self) end
    local id = detach(self)
    if not self.failed then C.nc_abort(id) end
end

function File:sync()
    ffi.errno(0)
    self:check(C.nc_sync(self.id), 'sync')
end

-- Attributes may be changed until end_definitions().
function File:begin_definitions()
    self:check(C.nc_redef(self.id), 'begin definitions')
end

function File:end_definitions()
    ffi.errno(0)
    self:check(C.nc_enddef(self.id), 'end definitions')
end

-- length nil: unlimited
function File:define_dimension(name, length)
    local dim = ffi.new 'int[1]'
    self:check(C.nc_def_dim(self.id, name, length or 0, dim), 'define dimension ' .. name)
    return dim[0]
end

local function compress(file, var, what, options)
    local level, digits = options.deflate or 0, options.quantize
    if digits then
        local ok, status = pcall(function()
            return C.nc_def_var_quantize(file.id, var, NC_QUANTIZE_GRANULAR_BITROUND, digits)
        end)
        if not ok then error(what .. ': quantize needs NetCDF-C 4.9 or later', 0) end
        file:check(status, what .. ': quantize')
    end
    if level > 0 or options.shuffle then
        local shuffle, deflate = options.shuffle == false and 0 or 1, level > 0 and 1 or 0
        local status = C.nc_def_var_deflate(file.id, var, shuffle, deflate, level)
        file:check(status, what .. ': deflate')
    end
end

-- dims: ids in C order; options: chunks = { cells per chunk, ... }, deflate = level, shuffle =
-- whether bytes are sorted before (nil: when they are deflated), quantize = significant digits
function File:define_variable(name, type, dims, options)
    local what, rank, var = 'define variable ' .. name, #dims, ffi.new 'int[1]'
    local code = type_code[type]
    if not code then error(string.format('%s: %s: no type %s', self.path, what, type), 0) end
    self:check(C.nc_def_var(self.id, name, code, rank, ffi.new('int[?]', rank, dims), var), what)
    options = options or {}
    if options.chunks then
        local sizes = ffi.new('size_t[?]', rank, options.chunks)
        self:check(C.nc_def_var_chunking(self.id, var[0], 0, sizes), what .. ': chunks')
    end
    compress(self, var[0], what, options)
    return var[0]
end

local function var_id(file, name)
    local id = file.vars[name]
    if not id then
        local out = ffi.new 'int[1]'
        file:check(C.nc_inq_varid(file.id, name, out), 'variable ' .. name)
        id = out[0]
        file.vars[name] = id
    end
    return id
end

-- From here on whole chunks of a variable that nothing compresses go into the file from where they
-- lie, not through a copy of HDF5's; after end_definitions().
function File:write_through(name)
    self:check(C.nc_set_var_chunk_cache(self.id, var_id(self, name), 0, 0, 0),
        'variable ' .. name .. ': chunk cache')
end

-- The value of a variable that stands for a missing one, its _FillValue; before
-- end_definitions(). Nothing is filled in with it.
function File:define_missing(name, value)
    local data = ffi.new(c_type[type_code[self:variable(name).type]] .. '[1]', value)
    local status = C.nc_def_var_fill(self.id, var_id(self, name), 0, data)
    self:check(status, 'variable ' .. name .. ': _FillValue')
end

local function is_int(values)
    for i = 1, #values do
        local v = values[i]
        if v % 1 ~= 0 or v < -2 ^ 31 or v >= 2 ^ 31 then return false end
    end
    return true
end

-- target nil: of the whole file. Text, or one or several numbers; whole numbers are stored as int.
function File:put_attribute(target, name, value)
    local var = target and var_id(self, target) or NC_GLOBAL
    local what = 'attribute ' .. (target and target .. ':' or '') .. name
    if type(value) == 'string' then
        self:check(C.nc_put_att_text(self.id, var, name, #value, value), what)
        return
    end
    local values = type(value) == 'table' and value or { value }
    local data = ffi.new('double[?]', #values, values)
    local stored = is_int(values) and NC_INT or NC_DOUBLE
    self:check(C.nc_put_att_double(self.id, var, name, stored, #values, data), what)
end

-- Element type of a cdata array or pointer, and how many elements an array has.
local function element(data)
    if type(data) ~= 'cdata' then return type(data) end
    local name = tostring(ffi.typeof(data)):match '^ctype<(.*)>$'
    local type = name:gsub('^const ', ''):match '^[%w_]+'
    return type, name:find('[', 1, true) and ffi.sizeof(data) / ffi.sizeof(type)
end

local function region(file, start, count)
    local n = 1
    for i = 1, #count do
        file.start[i - 1], file.count[i - 1] = start[i], count[i]
        n = n * count[i]
    end
    return n
end

-- Whether data are n values of this very type, as far as can be told.
function netcdf.holds(data, type, n)
    local found, have = element(data)
    return found == type and (not have or have >= n)
end

-- data: cdata of float, double, int or whole numbers of 64 bits, or a host_array, row-major;
-- converted where the variable's type differs
function File:put(variable, start, count, data)
    local is_array = host_array.is(data)
    local have_all = is_array and data.count
    if is_array then data = data:pointer() end
    local var, n = var_id(self, variable), region(self, start, count)
    local type, have = element(data)
    have = have_all or have
    if have and have < n then
        error(string.format('%s: variable %s: %.0f values given, %.0f needed', self.path, variable,
            have, n), 0)
    end
    ffi.errno(0)
    local status
    if type == 'float' then
        status = C.nc_put_vara_float(self.id, var, self.start, self.count, data)
    elseif type == 'double' then
        status = C.nc_put_vara_double(self.id, var, self.start, self.count, data)
    elseif type == 'int' then
        status = C.nc_put_vara_int(self.id, var, self.start, self.count, data)
    elseif type == 'int64_t' then
        status = C.nc_put_vara_longlong(self.id, var, self.start, self.count, data)
    elseif type == 'uint64_t' then
        status = C.nc_put_vara_ulonglong(self.id, var, self.start, self.count, data)
    else
        error(string.format('%s: variable %s: data of type %s, must be float, double or int',
            self.path, variable, tostring(type)), 0)
    end
    self:check(status, 'write variable ' .. variable)
end

-- Into a variable of type char: a text of as many bytes as there is room for.
function File:put_text(variable, start, count, text)
    local var, n = var_id(self, variable), region(self, start, count)
    if #text ~= n then
        error(string.format('%s: variable %s: %d bytes given, %.0f needed', self.path, variable,
            #text, n), 0)
    end
    ffi.errno(0)
    local status = C.nc_put_vara_text(self.id, var, self.start, self.count, text)
    self:check(status, 'write variable ' .. variable)
end

-- From which level on NetCDF-C prints, 1 being errors; returns that before. Others than 4.9.3 and
-- later print them anyway, and have no such function.
local function print_from(level)
    local known, before = pcall(function() return C.ncsetloglevel(level) end)
    return known and before
end

-- The region into data, from a server.
local function fetch(self, variable, data)
    local name = 'read variable ' .. variable
    local function read(memory)
        local again = open(self.path)
        local var = var_id(again, variable)
        again:check(C.nc_get_vara(again.id, var, self.start, self.count, memory), name)
        again:close()
    end
    local function read_aloud(memory)
        local usual = print_from(1)
        local ok, reason = pcall(read, memory)
        if usual then print_from(usual) end
        if not ok then error(reason, 0) end
    end
    opendap.fetch({ name = self.path .. ': ' .. name, bytes = ffi.sizeof(data), read = read_aloud },
        data)
end

local function get(self, variable, start, count)
    local var, shape = var_id(self, variable), self:variable(variable).shape
    count, start = count or shape, start or {}
    for i = 1, #shape do start[i] = start[i] or 0 end
    local n = region(self, start, count)
    local type = c_type[type_code[self:variable(variable).type]]
    local data = ffi.new(type .. '[?]', n)
    if files.is_remote(self.path) then
        fetch(self, variable, data)
    else
        local status = C.nc_get_vara(self.id, var, self.start, self.count, data)
        self:check(status, 'read variable ' .. variable)
    end
    return data, n, count, type
end

-- Returns an array of the variable's own type that nobody reads past its end (host_array.lua), its
-- number of elements, and its shape. start and count default to the whole variable.
function File:get(variable, start, count)
    local data, n, shape, type = get(self, variable, start, count)
    local label = self.path .. ': ' .. variable
    return host_array.wrap(data, n, self:variable(variable).type, type, label), n, shape
end

-- A part of a variable of type char as a text, without the zeros or blanks that fill it up.
function File:text(variable, start, count)
    local data, n = get(self, variable, start, count)
    return (ffi.string(data, n):gsub('[%z ]+$', ''))
end

local function dimension(file, dim)
    local name, length = ffi.new('char[?]', max_name), ffi.new 'size_t[1]'
    file:check(C.nc_inq_dim(file.id, dim, name, length), 'dimension')
    return ffi.string(name), tonumber(length[0])
end

local function variable(file, var)
    local name, dims = ffi.new('char[?]', max_name), ffi.new('int[?]', max_rank)
    local type, rank, attributes = ffi.new 'int[1]', ffi.new 'int[1]', ffi.new 'int[1]'
    file:check(C.nc_inq_var(file.id, var, name, type, rank, dims, attributes), 'variable')
    local out = { name = ffi.string(name), type = type_name[type[0]], dimensions = {}, shape = {},
        attribute_count = attributes[0] }
    for i = 1, rank[0] do out.dimensions[i], out.shape[i] = dimension(file, dims[i - 1]) end
    return out
end

local function counts(file)
    local dims, vars, attributes = ffi.new 'int[1]', ffi.new 'int[1]', ffi.new 'int[1]'
    file:check(C.nc_inq(file.id, dims, vars, attributes, nil), 'inquire')
    return dims[0], vars[0], attributes[0]
end

-- { name =, type =, dimensions = { names }, shape = { lengths } }
function File:variable(name)
    return variable(self, var_id(self, name))
end

-- All of them, in the order in which they were defined.
function File:variables()
    local _, n = counts(self)
    local out = {}
    for i = 1, n do out[i] = variable(self, i - 1) end
    return out
end

function File:dimensions()
    local out = {}
    for i = 1, (counts(self)) do
        local name, length = dimension(self, i - 1)
        out[name] = length
    end
    return out
end

local function text_attribute(file, var, name, type, length)
    if type == NC_CHAR then
        local text = ffi.new('char[?]', length + 1)
        file:check(C.nc_get_att_text(file.id, var, name, text), 'attribute ' .. name)
        return ffi.string(text, length)
    end
    local texts, out = ffi.new('char *[?]', length), {}
    file:check(C.nc_get_att_string(file.id, var, name, texts), 'attribute ' .. name)
    for i = 1, length do out[i] = texts[i - 1] ~= nil and ffi.string(texts[i - 1]) or '' end
    C.nc_free_string(length, texts)
    return length == 1 and out[1] or out
end

local function attribute(file, var, name)
    local type, length = ffi.new 'int[1]', ffi.new 'size_t[1]'
    file:check(C.nc_inq_att(file.id, var, name, type, length), 'attribute ' .. name)
    local n = tonumber(length[0])
    if type[0] == NC_CHAR or type[0] == NC_STRING then
        return text_attribute(file, var, name, type[0], n)
    end
    local values, out = ffi.new('double[?]', n), {}
    file:check(C.nc_get_att_double(file.id, var, name, values), 'attribute ' .. name)
    for i = 1, n do out[i] = values[i - 1] end
    return n == 1 and out[1] or out
end

-- Name -> text, number or array, and the names in their order. name nil: of the whole file.
function File:attributes(name)
    local var = name and var_id(self, name) or NC_GLOBAL
    local n = name and self:variable(name).attribute_count or select(3, counts(self))
    local values, names, buffer = {}, {}, ffi.new('char[?]', max_name)
    for i = 1, n do
        self:check(C.nc_inq_attname(self.id, var, i - 1, buffer), 'attribute')
        names[i] = ffi.string(buffer)
        values[names[i]] = attribute(self, var, names[i])
    end
    return values, names
end

return netcdf
