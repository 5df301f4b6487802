-- Tests that large files keep only a bounded part of themselves in memory while
-- they are written, if the file system lets pages go at all, and that every
-- byte is on the disk.

local ffi = require 'ffi'
local bit = require 'bit'
local files = require 'bindings.files'
local netcdf = require 'bindings.netcdf'
local output = require 'mare.files.netcdf'

ffi.cdef 'int mincore(void *address, size_t size, unsigned char *pages);'

local page, MiB = 4096, 2 ^ 20
local most = 21 * MiB       -- 16 on their way, 4 of the last piece, and the end
local n = 1024              -- a chunk is 4 MiB
local folder, path

-- Returns the bytes of a file that are in memory, and all its bytes.
local function resident(name)
    local data, size = files.map(name)
    local pages = ffi.new('unsigned char[?]', math.ceil(size / page))
    assert(ffi.C.mincore(data, size, pages) == 0)
    local count = 0
    for k = 0, math.ceil(size / page) - 1 do count = count + bit.band(pages[k], 1) end
    return count * page, size
end

local function part()
    local pipe = io.popen("ls '" .. folder .. "'/*.part")
    local name = pipe:read '*l'
    pipe:close()
    return name
end

-- Pages that are on the disk must leave the memory when they are told to.
local function needs_leaving()
    local name = folder .. '/probe'
    local file = assert(io.open(name, 'wb'))
    file:write(('x'):rep(MiB))
    file:close()
    files.sync(name)
    local fd = ffi.C.open(name, 0)
    ffi.C.posix_fadvise(fd, 0, MiB, 4)
    ffi.C.close(fd)
    if resident(name) > 0 then pending 'needs a file system whose pages leave the memory' end
end

local function field(variable, record)
    local values = ffi.new('float[?]', n * n)
    for k = 0, n * n - 1 do values[k] = bit.bxor(k * 2654435, record * 77 + variable) end
    return values
end

-- Writes 48 MiB; returns the bytes that were in memory before the end.
local function write(changes)
    local spec = {
        path = path, grid = { nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 } },
        variables = { { name = 'a', type = 'float' }, { name = 'b', type = 'float' } },
    }
    for name, value in pairs(changes) do spec[name] = value end
    local writer = output.writer(spec)
    for record = 1, 6 do
        writer:write(record, function(name) return field(name:byte(), record) end)
    end
    local bytes, size = resident(part())
    writer:close()
    return bytes, size
end

local function check_fields()
    local file = netcdf.open(path)
    for record = 1, 6 do
        for _, name in ipairs { 'a', 'b' } do
            local got = file:get(name, { record - 1, 0, 0 }, { 1, n, n })
            local wanted = field(name:byte(), record)
            assert.is_true(ffi.string(got:pointer(), 4 * n * n) == ffi.string(wanted, 4 * n * n))
        end
    end
    file:close()
end

describe('a large file', function()
    before_each(function()
        folder = os.tmpname()
        os.remove(folder)
        assert(os.execute("mkdir '" .. folder .. "'") == 0)
        path = folder .. '/file'
    end)

    after_each(function()
        os.execute("rm -r '" .. folder .. "'")
    end)

    it('leaves the memory while it is appended to, byte for byte right', function()
        needs_leaving()
        local temporary, texts = files.temporary(path), {}
        for k = 1, 10 do
            texts[k] = (tostring(k) .. ' '):rep(MiB):sub(1, 2 * MiB + 77 * k)
            for _ = 1, 2 do temporary:append(texts[k]) end
            texts[k] = texts[k] .. texts[k]
        end
        local bytes, size = resident(temporary.name)
        temporary:commit()
        assert.is_true(size > 40 * MiB)
        assert.is_true(bytes > 0 and bytes < most, bytes / MiB .. ' MiB')
        local file = io.open(path, 'rb')
        local text = file:read '*a'
        file:close()
        assert.is_true(text == table.concat(texts))
    end)

    it('of NetCDF leaves the memory with each chunk', function()
        needs_leaving()
        local bytes, size = write {}
        assert.is_true(size > 48 * MiB)
        assert.is_true(bytes > 0 and bytes < most, bytes / MiB .. ' MiB')
        check_fields()
    end)

    it('of NetCDF does so through a filter, too', function()
        needs_leaving()
        local bytes, size = write { shuffle = true }
        assert.is_true(size > 48 * MiB)
        assert.is_true(bytes > 0 and bytes < most, bytes / MiB .. ' MiB')
        check_fields()
    end)
end)
