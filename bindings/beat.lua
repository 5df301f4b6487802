-- beat.lua - bytes over TCP between two processes that tell each other that they live, and the end
-- of a process whose partner does not. Connections are numbers, which any thread may use.

local ffi = require 'ffi'
local bit = require 'bit'
local posix = require 'bindings.posix'

ffi.cdef [[
    struct mare_address { uint16_t family, port; uint32_t ip; char zero[8]; };
    struct mare_found { int flags, family, kind, protocol; uint32_t length;
        struct mare_address *address; char *name; struct mare_found *next; };
    int socket(int family, int kind, int protocol);
    int bind(int fd, const void *address, unsigned length);
    int listen(int fd, int backlog);
    int accept4(int fd, void *address, unsigned *length, int flags);
    int connect(int fd, const void *address, unsigned length);
    int getsockname(int fd, void *address, unsigned *length);
    int getaddrinfo(const char *node, const char *service, const void *hints, void *out);
    void freeaddrinfo(void *list);
]]

local C = posix.C
local AF_INET, SOCK_STREAM, CLOEXEC, POLLIN = 2, 1, 0x80000, 1
local MSG_DONTWAIT, MSG_NOSIGNAL, EINTR, EAGAIN = 0x40, 0x4000, 4, 11
local LOOPBACK, ANY = 0x7f000001, 0

local M = {}

local function swapped(port)
    return bit.bor(bit.lshift(bit.band(port, 255), 8), bit.rshift(port, 8))
end

local function address_of(ip, port)
    return ffi.new('struct mare_address', AF_INET, swapped(port), bit.bswap(ip))
end

-- Returns a socket that others connect to, and its port; nil where there is none. is_local: from
-- this machine only
function M.listen(is_local)
    local fd, length = C.socket(AF_INET, SOCK_STREAM + CLOEXEC, 0), ffi.new('unsigned[1]', 16)
    if fd < 0 then return nil end
    local address = address_of(is_local and LOOPBACK or ANY, 0)
    if C.bind(fd, address, 16) ~= 0 or C.listen(fd, 8) ~= 0
        or C.getsockname(fd, address, length) ~= 0 then
        C.close(fd)
        return nil
    end
    return fd, swapped(address.port)
end

-- Returns the addresses of a machine; of this one without a name.
local function addresses(machine)
    if not machine then return { LOOPBACK } end
    local out, list = ffi.new 'struct mare_found *[1]', {}
    local hints = ffi.new('struct mare_found', 0, AF_INET, SOCK_STREAM)
    if C.getaddrinfo(machine, nil, hints, out) ~= 0 then return {} end
    local found = out[0]
    while found ~= nil do
        list[#list + 1] = bit.bswap(found.address.ip)
        found = found.next
    end
    C.freeaddrinfo(out[0])
    return list
end

-- Returns a connection to a port of a machine, nil if there is none; it begins with a text.
function M.connect(machine, port, token)
    for _, ip in ipairs(addresses(machine)) do
        local fd = C.socket(AF_INET, SOCK_STREAM + CLOEXEC, 0)
        if fd >= 0 and C.connect(fd, address_of(ip, port), 16) == 0 then
            C.send(fd, token, #token, MSG_NOSIGNAL)
            return fd
        end
        if fd >= 0 then C.close(fd) end
    end
end

local watched = ffi.new 'struct mare_poll[2]'

-- Waits at most so many seconds for bytes, or for who connects, here or, if given, there. Returns
-- whether something has come.
function M.wait(seconds, fd, other)
    watched[0].fd, watched[0].wanted = fd, POLLIN
    watched[1].fd, watched[1].wanted = other or -1, POLLIN
    return C.poll(watched, 2, math.ceil(1000 * seconds)) > 0
end

local most = 64
local room = ffi.new('char[?]', most)

-- Returns what has come, at most so many bytes; '' if nothing has, nil once the other side has
-- gone.
function M.receive(fd, count)
    local n = tonumber(C.recv(fd, room, count or most, MSG_DONTWAIT))
    if n == 0 or n < 0 and ffi.errno() ~= EAGAIN and ffi.errno() ~= EINTR then return nil end
    return ffi.string(room, math.max(n, 0))
end

-- Returns the connection of one who begins with the token, behind which beats may have come
-- already; nil if none comes within so many seconds.
function M.accept(fd, token, seconds)
    while M.wait(seconds, fd) do
        local other = C.accept4(fd, nil, nil, CLOEXEC)
        if other >= 0 and M.wait(1, other) and M.receive(other, #token) == token then
            return other
        end
        if other >= 0 then C.close(other) end
    end
end

-- Sends a text, if the other side is there.
function M.send(fd, text)
    C.send(fd, text, #text, MSG_DONTWAIT + MSG_NOSIGNAL)
end

function M.close(fd) C.close(fd) end

-- Writes to standard error, also from a thread.
function M.say(message)
    io.stderr:write(message)
end

-- Ends this process at once.
function M.die()
    C._exit(1)
end

return M
