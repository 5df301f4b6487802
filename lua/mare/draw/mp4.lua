-- Films as MP4 (H.264). ffmpeg receives the frames through a pipe and appends
-- them to a file of MPEG-TS packets, which another ffmpeg may continue later.
-- At the end the packets are put into an MP4. B frames are off, so that no
-- frame refers to a later piece.

local files = require 'bindings.files'

local mp4 = {}

local Encoder = {}
Encoder.__index = Encoder

local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

local size_option = '-f rawvideo -pix_fmt bgr0 -s %dx%d -r %d -i -'
local encoding = ' -c:v libx264 -preset fast -crf 18 -bf 0 -pix_fmt yuv420p'
    .. ' -vf scale=out_color_matrix=bt709:out_range=tv -colorspace bt709 -color_primaries bt709'
    .. ' -color_trc bt709'
local packets = ' -f mpegts -mpegts_flags +initial_discontinuity -muxdelay 0 -muxpreload 0'
    .. ' -output_ts_offset %.17g - >>%s'

function mp4.check()
    if not files.program 'ffmpeg' then
        error('ffmpeg is wanted for an MP4 and is not on the PATH; Debian and Ubuntu have it in '
            .. 'ffmpeg, and films as .gif or .png need none', 0)
    end
end

-- spec: { width, height (both even), rate = frames per second }.
function mp4.encoder(spec, temporary)
    mp4.check()
    return setmetatable({ spec = spec, temporary = temporary, log = os.tmpname() }, Encoder)
end

-- Returns a shell command that also writes the exit status of ffmpeg to the
-- log, since io.popen does not return it.
local function command(self, arguments)
    return string.format('{ ffmpeg -y -nostats -loglevel error %s; echo "status $?" >&2; } 2>%s',
        arguments, quoted(self.log))
end

-- Raises an error with the last message of ffmpeg if it failed.
local function check(self)
    local text = files.read(self.log) or ''
    local status = text:match 'status (%d+)%s*$'
    if status == '0' then return end
    local reason = text:gsub('status %d+%s*$', ''):gsub('%s+$', ''):match '[^\n]*$'
    if reason == '' then
        reason = status and tonumber(status) > 128 and 'was killed by signal ' .. status - 128
            or 'failed'
    end
    error(string.format('%s: ffmpeg: %s', self.temporary.path, reason), 0)
end

local function start(self, k)
    local s = self.spec
    local line = size_option .. encoding .. packets
    self.pipe = assert(io.popen(command(self, line:format(s.width, s.height, s.rate, k / s.rate,
        quoted(self.temporary.name))), 'w'))
    self.pipe:setvbuf('full', 2 ^ 16)
end

-- Appends a frame. k: the number of frames before this one.
function Encoder:frame(pixels, stride, k)
    if not self.pipe then start(self, k) end
    local ok = true
    for row = 0, self.spec.height - 1 do
        ok = ok and self.pipe:write(files.text(pixels + row * stride, 4 * self.spec.width))
    end
    if ok then return end
    self:pause()
    error(self.temporary.path .. ': ffmpeg took no more frames', 0)
end

function Encoder:pause()
    local pipe = self.pipe
    if not pipe then return end
    self.pipe = nil
    pipe:close()
    check(self)
end

-- Returns the temporary file that holds the film.
function Encoder:finish()
    self:pause()
    local film = files.temporary(self.temporary.path)
    local line = '-f mpegts -i %s -c copy -movflags +faststart -f mp4 %s </dev/null'
    os.execute(command(self, line:format(quoted(self.temporary.name), quoted(film.name))))
    local ok, failure = pcall(check, self)
    os.remove(self.log)
    if not ok then
        film:discard()
        error(failure, 0)
    end
    self.temporary:discard()
    return film
end

function Encoder:abort()
    if self.pipe then self.pipe:close() end
    self.pipe = nil
    os.remove(self.log)
end

return mp4
