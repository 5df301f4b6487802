-- zmq.lua - messages of several parts over sockets of ZeroMQ, for one thread at a time:
--
--     local context = zmq.context()
--     local socket = context:socket('router', { linger = 1000 })
--     socket:bind 'tcp://127.0.0.1:*'     socket:address()     socket:send { 'to', 'text' }
--     zmq.wait({ socket, 3 }, 100)        -- sockets and file descriptors; which of them are ready
--     socket:receive()                    -- the parts, or nil where nothing has come
--
-- Sending never waits: what cannot go out is dropped.

local ffi = require 'ffi'
local foreign = require 'bindings.foreign'

ffi.cdef [[
    typedef struct { uint64_t words[8]; } mare_zmq_message;
    struct mare_zmq_item { void *socket; int fd; short wanted, found; };
    void *zmq_ctx_new(void);
    int zmq_ctx_term(void *context);
    int zmq_ctx_shutdown(void *context);
    void *zmq_socket(void *context, int kind);
    int zmq_close(void *socket);
    int zmq_setsockopt(void *socket, int option, const void *value, size_t size);
    int zmq_getsockopt(void *socket, int option, void *value, size_t *size);
    int zmq_bind(void *socket, const char *address);
    int zmq_connect(void *socket, const char *address);
    int zmq_send(void *socket, const void *data, size_t size, int flags);
    int zmq_msg_init(mare_zmq_message *message);
    int zmq_msg_recv(mare_zmq_message *message, void *socket, int flags);
    int zmq_msg_more(const mare_zmq_message *message);
    size_t zmq_msg_size(const mare_zmq_message *message);
    void *zmq_msg_data(mare_zmq_message *message);
    int zmq_msg_close(mare_zmq_message *message);
    int zmq_poll(struct mare_zmq_item *items, int count, long milliseconds);
    int zmq_errno(void);
    const char *zmq_strerror(int number);
    void zmq_version(int *major, int *minor, int *patch);
]]

local zmq = {}

local kinds = { pub = 1, sub = 2, req = 3, rep = 4, dealer = 5, router = 6, xpub = 9 }
local DONTWAIT, SNDMORE, POLLIN, LAST_ENDPOINT = 1, 2, 1, 32
local EINTR, EAGAIN = 4, 11

-- Options of a socket by name, with their numbers and the types of their values.
local options = {
    identity = { 5 }, subscribe = { 6 }, unsubscribe = { 7 },
    linger = { 17, 'int' },                     -- ms that closing waits for what is to go out
    max_size = { 22, 'int64_t' },               -- bytes of a part; who sends more is cut off
    send_limit = { 23, 'int' }, receive_limit = { 24, 'int' },      -- messages that may wait
    is_verbose = { 40, 'int' },                 -- xpub: 1 tells of every subscription
    is_handed_over = { 56, 'int' },             -- router: 1 gives an identity to who has it last
    -- xpub: 1 leaves it to set('subscribe', topic) who hears what, after the message that asks
    is_manual = { 71, 'int' },
}

local library

-- Loads the library or raises an error that says what to install; names replace the usual ones.
function zmq.load(names)
    library = foreign.load('ZeroMQ', names or { 'libzmq.so.5' }, 'libzmq5')
    return library
end

local function C()
    return library or zmq.load()
end

function zmq.version()
    local parts = ffi.new 'int[3]'
    C().zmq_version(parts, parts + 1, parts + 2)
    return ('%d.%d.%d'):format(parts[0], parts[1], parts[2])
end

local function fail(what)
    error(('%s: %s'):format(what, ffi.string(library.zmq_strerror(library.zmq_errno()))), 0)
end

-- ---- contexts and sockets ----

local Context, Socket = {}, {}
Context.__index, Socket.__index = Context, Socket

-- Returns a context, which stays until close().
function zmq.context()
    local handle = C().zmq_ctx_new()
    if handle == nil then fail 'a context of ZeroMQ' end
    return setmetatable({ handle = handle, sockets = {} }, Context)
end

function Socket:set(name, value)
    local number, type_name = options[name][1], options[name][2]
    local data, size = value, #tostring(value)
    if type_name then
        data = ffi.new(type_name .. '[1]', value)
        size = ffi.sizeof(data)
    end
    if library.zmq_setsockopt(self.handle, number, data, size) ~= 0 then fail(name) end
end

-- kind: a key of `kinds`; settings: options by name, those of `options`.
function Context:socket(kind, settings)
    local handle = library.zmq_socket(self.handle, kinds[kind])
    if handle == nil then fail('a socket of ZeroMQ, ' .. kind) end
    local socket = setmetatable({ handle = handle, kind = kind }, Socket)
    table.insert(self.sockets, socket)
    for name, value in pairs(settings or {}) do socket:set(name, value) end
    return socket
end

-- Closes all, after what is under way has gone out or the linger of its socket is over.
function Context:close()
    for _, socket in ipairs(self.sockets) do library.zmq_close(socket.handle) end
    self.sockets = {}
    repeat
        local status = library.zmq_ctx_term(self.handle)
    until status == 0 or library.zmq_errno() ~= EINTR
end

function Socket:bind(address)
    if library.zmq_bind(self.handle, address) ~= 0 then fail(address) end
end

function Socket:connect(address)
    if library.zmq_connect(self.handle, address) ~= 0 then fail(address) end
end

-- Returns the address that the last bind has found.
function Socket:address()
    local text, size = ffi.new 'char[512]', ffi.new('size_t[1]', 512)
    if library.zmq_getsockopt(self.handle, LAST_ENDPOINT, text, size) ~= 0 then fail 'address' end
    return ffi.string(text)
end

-- ---- messages ----

-- Returns whether the message goes out.
function Socket:send(parts)
    for k, part in ipairs(parts) do
        local flags = DONTWAIT + (k < #parts and SNDMORE or 0)
        local sent
        repeat
            sent = library.zmq_send(self.handle, part, #part, flags)
        until sent >= 0 or library.zmq_errno() ~= EINTR
        if sent < 0 then return false end
    end
    return true
end

-- A part as a text; nil where none has come, '' of one longer than `most` bytes, with its length.
local function receive_part(self, message, most)
    local size
    repeat
        size = library.zmq_msg_recv(message, self.handle, DONTWAIT)
        if size < 0 and library.zmq_errno() == EAGAIN then return nil end
        if size < 0 and library.zmq_errno() ~= EINTR then fail 'receiving' end
    until size >= 0
    size = tonumber(library.zmq_msg_size(message))
    if size > most then return '', size end
    return ffi.string(library.zmq_msg_data(message), size)
end

-- Returns the parts of a message that has come; nil if none has. Of one with more than `most` bytes
-- (default: any) or 1000 parts only the reason is returned, after nil.
function Socket:receive(most)
    local message, parts, bytes, left, has_more = ffi.new 'mare_zmq_message', {}, 0,
        most or math.huge, true
    while has_more do
        library.zmq_msg_init(message)
        local part, size = receive_part(self, message, left)
        has_more = part and library.zmq_msg_more(message) ~= 0
        library.zmq_msg_close(message)
        if not part then return nil end
        bytes = bytes + (size or #part)
        left = math.max(0, left - (size or #part))
        if #parts <= 1000 then parts[#parts + 1] = part end
    end
    if bytes > (most or math.huge) then return nil, ('%.0f bytes'):format(bytes) end
    if #parts > 1000 then return nil, 'more than 1000 parts' end
    return parts
end

-- Waits until one of these is ready, sockets or file descriptors, at most so many milliseconds (-1:
-- any). Returns the set of those that have.
function zmq.wait(list, milliseconds)
    local items = ffi.new('struct mare_zmq_item[?]', #list)
    for k, one in ipairs(list) do
        local item, is_socket = items[k - 1], type(one) == 'table'
        if is_socket then item.socket = one.handle else item.fd = one end
        item.wanted = POLLIN
    end
    library.zmq_poll(items, #list, milliseconds)
    local found = {}
    for k, one in ipairs(list) do found[one] = items[k - 1].found ~= 0 or nil end
    return found
end

return zmq
