-- terminal.lua - what the session asks its terminal: its size, and whether it can show pictures.

local ffi = require 'ffi'
local bit = require 'bit'
local posix = require 'bindings.posix'

ffi.cdef [[
    typedef struct { uint16_t rows, columns, width, height; } mare_terminal_size;
    typedef struct {        /* the C library's on Linux */
        uint32_t input, output, control, modes;
        uint8_t line, characters[32];
        uint32_t in_speed, out_speed;
    } mare_termios;
    int ioctl(int fd, unsigned long request, ...);
    int tcgetattr(int fd, mare_termios *out);
    int tcsetattr(int fd, int when, const mare_termios *settings);
]]

local C = posix.C
local TIOCGWINSZ, TCSANOW, POLLIN = 0x5413, 0, 1
local ICANON, ECHO, VMIN, VTIME = 2, 8, 6, 5
local size = ffi.new 'mare_terminal_size'

local M = { ahead = '' }     -- ahead: typed before it was asked for, for who reads next

-- Whether standard input, output (0, 1) is a terminal.
function M.is(fd)
    return C.isatty(fd) == 1
end

-- Columns and rows of standard output, and pixels across and down or 0; 80 x 24 of what tells none.
function M.size()
    local known = C.ioctl(1, TIOCGWINSZ, size) == 0 and size.columns > 0 and size.rows > 0
    if not known then return 80, 24, 0, 0 end
    return size.columns, size.rows, size.width, size.height
end

local function read_until(pattern, milliseconds)
    local poll, data, text = ffi.new 'struct mare_poll', ffi.new 'char[256]', ''
    poll.fd, poll.wanted = 0, POLLIN
    while not text:find(pattern) and C.poll(poll, 1, milliseconds) == 1 do
        local n = tonumber(C.read(0, data, 256))
        if n <= 0 then break end
        text = text .. ffi.string(data, n)
    end
    return text
end

-- What has been typed and not read yet, or comes in so many milliseconds: in M.ahead. Returns it,
-- and whether nothing more can come.
function M.look_ahead(milliseconds)
    local poll, data = ffi.new 'struct mare_poll', ffi.new 'char[256]'
    poll.fd, poll.wanted = 0, POLLIN
    if C.poll(poll, 1, milliseconds) ~= 1 then return M.ahead, false end
    local n = math.max(0, tonumber(C.read(0, data, 256)))
    M.ahead = M.ahead .. ffi.string(data, n)
    return M.ahead, n == 0
end

-- Sends a question and returns what comes back up to `pattern`, or in so many milliseconds of
-- silence.
function M.ask(question, pattern, milliseconds)
    local before, raw = ffi.new 'mare_termios', ffi.new 'mare_termios'
    if C.tcgetattr(0, before) ~= 0 then return '' end
    ffi.copy(raw, before, ffi.sizeof(raw))
    raw.modes = bit.band(raw.modes, bit.bnot(ICANON + ECHO))
    raw.characters[VMIN], raw.characters[VTIME] = 0, 0
    C.tcsetattr(0, TCSANOW, raw)
    io.stdout:write(question)
    io.stdout:flush()
    local answer = read_until(pattern, milliseconds)
    C.tcsetattr(0, TCSANOW, before)
    return answer
end

-- Calls f while keys come one by one and are not shown. Errors of f pass on.
function M.by_keys(f, ...)
    local before, raw = ffi.new 'mare_termios', ffi.new 'mare_termios'
    if C.tcgetattr(0, before) ~= 0 then return f(...) end
    ffi.copy(raw, before, ffi.sizeof(raw))
    raw.modes = bit.band(raw.modes, bit.bnot(ICANON + ECHO))
    raw.characters[VMIN], raw.characters[VTIME] = 0, 0
    C.tcsetattr(0, TCSANOW, raw)
    local ok, reason = pcall(f, ...)
    C.tcsetattr(0, TCSANOW, before)
    if not ok then error(reason, 0) end
end

return M
