-- How long a NetCDF file of the classic formats must be by its header (NetCDF-C's file format
-- specification). The library reads what is missing of such a file as zeros; of NetCDF-4 it
-- refuses a file that is not whole by itself.

local files = require 'bindings.files'

local classic = {}

local sizes = { 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8 }       -- bytes, by the type's number
local streaming = 2 ^ 32 - 1        -- records are not counted

local Header = {}
Header.__index = Header

local function padded(n) return math.ceil(n / 4) * 4 end

-- A number of so many bytes, the highest first; raises at the end of the file.
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

-- f() for each entry of a list, after its name.
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

-- Adds { bytes = of its values, begin, is_record } of a variable.
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

-- Bytes, infinitely many if the header itself is cut off; nil of other formats.
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

-- In words, that a file is shorter than its header says; nil where it is not, or of another kind.
function classic.cut_off(path)
    local length, size = classic.length(path), files.size(path)
    if length and size < length then
        return string.format('is cut off: it has %d bytes, its header says %.0f', size, length)
    end
end

return classic
