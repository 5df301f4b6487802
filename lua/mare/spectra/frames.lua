-- Pictures and frames of films as arrays of bytes, grey: ffmpeg reads them, from whatever file or
-- camera it knows, in the size that is wanted.

local creation = require 'mare.ndarray.creation'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local memory = require 'bindings.memory'
local shapes = require 'mare.expression.shapes'
local types = require 'mare.expression.types'

local frames = {}

local Frames = {}
Frames.__index = Frames

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local line = '{ ffmpeg -nostdin -nostats -loglevel error %s -i %s -vf scale=%d:%d -pix_fmt gray'
    .. ' -f rawvideo -; echo "status $?" >&2; } 2>%s'

local largest = 32768       -- pixels along a side

local function pixels(name, n)
    errors.wanted('frames: ' .. name, 'number', n)
    if not (n >= 1 and n <= largest and n % 1 == 0) then
        errors.argument('frames: %s = %g, must be a whole number of pixels from 1 to %d', name, n,
            largest)
    end
end

-- Opens a file, or a camera (/dev/video0). given: { path, width, height }
function frames.open(given)
    errors.fields('frames', given, { path = 'string', width = 'number', height = 'number' })
    pixels('width', given.width)
    pixels('height', given.height)
    local path = errors.wanted('frames: path', 'string', given.path)
    local is_camera = path:find '^/dev/video' ~= nil
    if not is_camera then
        local file, reason = files.ordinary(path)
        if not file then errors.raise('MARE_ERROR_IO', reason) end
        file:close()
    end
    if not files.program 'ffmpeg' then
        errors.raise('MARE_ERROR_UNAVAILABLE', 'ffmpeg is wanted to read ' .. path .. ' and is not '
            .. 'on the PATH; Debian and Ubuntu have it in ffmpeg')
    end
    local log = os.tmpname()
    local source = path:find '^%-' and './' .. path or path
    local pipe = assert(io.popen(line:format(is_camera and '-f v4l2' or '', quoted(source),
        given.width, given.height, quoted(log)), 'r'))
    return setmetatable({ path = path, width = given.width, height = given.height, pipe = pipe,
        log = log, count = 0, is_camera = is_camera }, Frames)
end

-- Raises an error with the last message of ffmpeg if it failed.
local function check(self)
    local text = files.read(self.log) or ''
    os.remove(self.log)
    if text:find 'status 0%s*$' and self.count > 0 then return end
    local reason = text:gsub('status %d+%s*$', ''):gsub('%s+$', ''):match '[^\n]*$'
    errors.raise('MARE_ERROR_IO', ('%s: ffmpeg: %s'):format(self.path,
        reason ~= '' and reason or 'there is no picture in it'))
end

-- Returns the next frame as an array of height x width bytes on a device; nil behind the last.
function Frames:next(device)
    if not self.pipe then return nil end
    local size = self.width * self.height
    local text = self.pipe:read(size)
    if not text or #text < size then
        self.pipe:close()
        self.pipe = nil
        return check(self)
    end
    self.count = self.count + 1
    local data = memory.array('uint8', size)
    memory.put(data, text)
    return creation.uploaded(device, types.uint8, data, shapes.line(size)):reshape(self.height,
        self.width):eval()
end

-- Stops reading.
function Frames:close()
    if not self.pipe then return end
    self.pipe:close()
    self.pipe = nil
    os.remove(self.log)
end

return frames
