-- Computes from its header how long a file in a classic NetCDF format must be
-- (NetCDF-C's file format specification). The library reads the missing end of
-- a truncated file as zeros; truncated NetCDF-4 files it refuses by itself.

local files = require 'bindings.files'

local classic = {}

local sizes = { 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8 }       -- bytes of each type
local streaming = 2 ^ 32 - 1        -- the number of records is not known

local Header = {}
Header.__index = Header

local function padded(n) return math.ceil(n / 4) * 4 end

-- Reads a big-endian integer; raises an error at the end of the file.
function Header:integer(bytes)
    local text, value = self.file:read(bytes), 0
    if not text or #text < bytes then error('end of file', 0) end
    for k = 1, bytes do value = 256 * value + text:byte(k) end
    return value
end

function Header:count() return self:integer(self.version == 5 and 8 or 4) end

function Header:skip(bytes)
    if bytes > 0 and #(self.file:read(padded(bytes)) or '') < padded(bytes) then
        error('end of file', 0)
    end
end

-- Calls f() for each entry of a list, after the entry's name.
function Header:each(f)
    self:integer(4)
    for _ = 1, self:count() do
        self:skip(self:count())
        f()
    end
end

function Header:attributes()
    self:each(function()
        local size = sizes[self:integer(4)]
        self:skip(size * self:count())
    end)
end

-- Reads the header of a variable and appends { bytes, begin, is_record }.
local function add_variable(self, lengths, list)
    local v = { bytes = 1 }
    for _ = 1, self:count() do
        local length = lengths[self:count() + 1]
        if length == 0 then v.is_record = true else v.bytes = v.bytes * length end
    end
    self:attributes()
    v.bytes = v.bytes * sizes[self:integer(4)]
    self:count()
    v.begin = self:integer(self.version == 1 and 4 or 8)
    list[#list + 1] = v
end

local function last_byte(variables, records)
    local last, stride, of_records = 0, 0, 0
    for _, v in ipairs(variables) do
        if v.is_record then stride, of_records = stride + padded(v.bytes), of_records + 1 end
    end
    for _, v in ipairs(variables) do
        if of_records == 1 and v.is_record then stride = v.bytes end
        local before = v.is_record and (records - 1) * stride or 0
        if not v.is_record or records > 0 then
            last = math.max(last, v.begin + before + v.bytes)
        end
    end
    return last
end

local function parse(self)
    local records, lengths, variables = self:count(), {}, {}
    self:each(function() lengths[#lengths + 1] = self:count() end)
    self:attributes()
    self:each(function() add_variable(self, lengths, variables) end)
    return last_byte(variables, records == streaming and 0 or records)
end

-- Returns the length in bytes, infinity if the header itself is truncated, or
-- nil if the file has another format.
function classic.length(path)
    local file = io.open(path, 'rb')
    local magic = file and file:read(4) or ''
    local self = setmetatable({ file = file, version = magic:byte(4) }, Header)
    local is_classic = magic:sub(1, 3) == 'CDF'
        and (self.version == 1 or self.version == 2 or self.version == 5)
    local ok, length = false, nil
    if is_classic then ok, length = pcall(parse, self) end
    if file then file:close() end
    return is_classic and (ok and length or math.huge) or nil
end

-- Says in words that a file is shorter than its header demands. Returns nil if
-- the file is complete or has another format.
function classic.cut_off(path)
    local length, size = classic.length(path), files.size(path)
    if length and size < length then
        return string.format('is cut off: it has %d bytes, its header says %.0f', size, length)
    end
end

return classic
