-- A thread with a Lua state of its own, for what would stop the caller: compressing, writing. The
-- two states share no Lua value. They talk in texts, in order, through a pair of sockets, and may
-- hand each other addresses of memory and of Mare's handles, which any thread may use.
--
--     local w = worker.start 'mare.run.service'   -- module: function(channel), to run there
--     w:send 'text'; w:receive(); w:poll()           -- poll: nil where nothing has come yet
--     w:stop()                                       -- its receive() returns nil; waits for it
--
-- An error in the thread ends it, and receive() and poll() raise it here. The thread takes no
-- signals: those are for the state that has the handlers.

local ffi = require 'ffi'
local callback = require 'bindings.callback'
local home = require 'bindings.home'
local posix = require 'bindings.posix'
require 'bindings.lock'
require 'bindings.pairs'

ffi.cdef [[
    typedef struct lua_State lua_State;
    int pthread_create(unsigned long *id, const void *attributes, void *run, void *argument);
    int pthread_join(unsigned long id, void **result);
    int pthread_sigmask(int how, const void *set, void *old);
    int sigfillset(void *set);
    int socketpair(int domain, int type, int protocol, int *fds);
    int shutdown(int fd, int how);
]]

local C = posix.C
local AF_UNIX, SOCK_STREAM_CLOEXEC, SHUT_RDWR, SIG_SETMASK = 1, 0x80001, 2, 2
local MSG_PEEK, MSG_DONTWAIT, MSG_NOSIGNAL, EINTR, EAGAIN = 2, 0x40, 0x4000, 4, 11
local POLLIN, POLLOUT = 1, 4
local failure_mark = '\27'       -- in front of the last text of a thread that failed

-- Lua's C API. An engine hides it from the symbols of the process and tells the addresses.
local lua = {}
for name, type in pairs {
    luaL_newstate = 'lua_State *(*)(void)',
    luaL_openlibs = 'void (*)(lua_State *)',
    luaL_loadstring = 'int (*)(lua_State *, const char *)',
    lua_pushlstring = 'void (*)(lua_State *, const char *, size_t)',
    lua_pcall = 'int (*)(lua_State *, int, int, int)',
    lua_tolstring = 'const char *(*)(lua_State *, int, size_t *)',
    lua_tonumber = 'double (*)(lua_State *, int)',
    lua_close = 'void (*)(lua_State *)',
} do
    if home.lua then
        lua[name] = ffi.cast(type, ffi.cast('intptr_t', home.lua[name]))
    else
        ffi.cdef(type:gsub('%(%*%)', name, 1) .. ';')
        lua[name] = C[name]
    end
end

local M = {}

-- ---- a channel: texts with their lengths in front, over a socket ----

local Channel = {}
Channel.__index = Channel

-- Goes on with the text that comes, by one call. Returns it where it is whole, false when the other
-- side has gone, else nil.
local function step(self, flags)
    local to = self.body or ffi.cast('char *', self.length)
    local size = self.body and self.size or 8
    local n = tonumber(C.recv(self.fd, to + self.got, size - self.got, flags))
    if n < 0 and (ffi.errno() == EINTR or ffi.errno() == EAGAIN) then return nil end
    if n <= 0 then return false end
    self.got = self.got + n
    if self.got < size then return nil end
    self.got = 0
    if self.body then
        local text = ffi.string(self.body, self.size)
        self.body = nil
        return text
    end
    self.size = tonumber(self.length[0])
    if self.size == 0 then return '' end
    self.body = ffi.new('char[?]', self.size)
end

-- Sends so many bytes. While the other side takes none, what it says is kept: it may wait itself
-- until somebody takes that. False when it has gone.
local function push(self, data, size)
    local done, wait = 0, ffi.new('struct mare_poll[1]', { { fd = self.fd } })
    while done < size do
        local n = tonumber(C.send(self.fd, data + done, size - done, MSG_NOSIGNAL + MSG_DONTWAIT))
        if n > 0 then
            done = done + n
        elseif ffi.errno() == EAGAIN then
            wait[0].wanted = POLLOUT + (self.is_over and 0 or POLLIN)
            C.poll(wait, 1, -1)
            if bit.band(wait[0].found, POLLIN) ~= 0 then
                local text = step(self, MSG_DONTWAIT)
                self.come[#self.come + 1] = text or nil
                self.is_over = text == false
            end
        elseif n == 0 or ffi.errno() ~= EINTR then
            return false
        end
    end
    return true
end

-- False when the other side has gone.
function Channel:send(text)
    self.sent[0] = #text
    return push(self, ffi.cast('const char *', self.sent), 8)
        and push(self, ffi.cast('const char *', text), #text)
end

-- Waits; nil when the other side has gone.
function Channel:receive()
    if self.come[1] then return table.remove(self.come, 1) end
    local text
    repeat text = step(self, 0) until text ~= nil
    return text or nil
end

-- Whether receive() would return at once.
function Channel:ready()
    return self.come[1] ~= nil or C.recv(self.fd, self.length, 1, MSG_PEEK + MSG_DONTWAIT) >= 0
end

local function channel(fd)
    return setmetatable({ fd = fd, length = ffi.new 'int64_t[1]', sent = ffi.new 'int64_t[1]',
        come = {}, got = 0 }, Channel)
end

-- ---- the thread ----

-- Runs there: makes the entry point of the thread and returns its address.
local boot = [[
    local text = ...
    local settings = assert(loadstring(text))()
    package.path, package.cpath = settings.path, settings.cpath
    package.loaded['bindings.home'] = settings.home
    return require('bindings.worker').entry(settings.module, settings.fd)
]]

local entries = {}      -- keeps the callback of this state

function M.entry(module, fd)
    local run = require(module)
    local there = channel(fd)
    local function serve()
        local ok, failure = xpcall(run, function(failure)
            return type(failure) == 'string' and failure or tostring(failure)
        end, there)
        if not ok then there:send(failure_mark .. failure) end
        C.shutdown(fd, SHUT_RDWR)
        return nil
    end
    entries[1] = callback('void *(*)(void *)', serve)
    return M.address(entries[1])
end

local function settings(module, fd)
    local known = {}
    for _, key in ipairs { 'root', 'library', 'header', 'version', 'commit', 'launcher' } do
        if home[key] then known[#known + 1] = string.format('%s = %q', key, home[key]) end
    end
    if home.lua then
        local addresses = {}
        for name, address in pairs(home.lua) do
            addresses[#addresses + 1] = string.format('%s = %.0f', name, address)
        end
        known[#known + 1] = 'lua = { ' .. table.concat(addresses, ', ') .. ' }'
    end
    return string.format([[return { module = %q, fd = %d, path = %q, cpath = %q, home = { %s,
        lock = %.0f, embedded = %s, interrupted = function() return false end } }]], module, fd,
        package.path, package.cpath, table.concat(known, ', '), home.lock, home.embedded == true)
end

local function new_state(module, fd)
    local L, text = lua.luaL_newstate(), settings(module, fd)
    if L == nil then error('out of memory for a thread', 0) end
    lua.luaL_openlibs(L)
    local failed = lua.luaL_loadstring(L, boot) ~= 0
    if not failed then
        lua.lua_pushlstring(L, text, #text)
        failed = lua.lua_pcall(L, 1, 1, 0) ~= 0
    end
    if not failed then return L, lua.lua_tonumber(L, -1) end
    local message = ffi.string(lua.lua_tolstring(L, -1, nil))
    lua.lua_close(L)
    error(message, 0)
end

local Worker = {}
Worker.__index = Worker

local function spawn(address)
    local id, all, old = ffi.new 'unsigned long[1]', ffi.new 'char[128]', ffi.new 'char[128]'
    C.sigfillset(all)
    C.pthread_sigmask(SIG_SETMASK, all, old)
    local status = C.pthread_create(id, nil, M.pointer('void', address), nil)
    C.pthread_sigmask(SIG_SETMASK, old, nil)
    if status ~= 0 then error('no thread: ' .. posix.reason(status), 0) end
    return id[0]
end

-- Ends the thread; once.
local function finish(state)
    C.shutdown(state.fds[0], SHUT_RDWR)
    if state.id then C.pthread_join(state.id, nil) end
    if state.L then lua.lua_close(state.L) end
    C.close(state.fds[0])
    C.close(state.fds[1])
end

function M.start(module)
    local fds = ffi.new 'int[2]'
    if C.socketpair(AF_UNIX, SOCK_STREAM_CLOEXEC, 0, fds) ~= 0 then
        error('no socket: ' .. posix.reason(), 0)
    end
    local state = { fds = fds }
    local ok, failure = pcall(function()
        local address
        state.L, address = new_state(module, fds[1])
        state.id = spawn(address)
    end)
    if not ok then
        finish(state)
        error(failure, 0)
    end
    local guard = ffi.gc(ffi.new 'char[1]', function() finish(state) end)
    return setmetatable({ channel = channel(fds[0]), state = state, guard = guard }, Worker)
end

function Worker:send(text)
    return self.channel:send(text)
end

-- The next text, waiting for it; nil when the thread has ended. Raises its failure.
function Worker:receive()
    local text = self.channel:receive()
    if text and text:sub(1, 1) == failure_mark then error(text:sub(2), 0) end
    return text
end

function Worker:poll()
    return self.channel:ready() and self:receive() or nil
end

-- Whatever is under way there is finished first.
function Worker:stop()
    if not self.guard then return end
    ffi.gc(self.guard, nil)
    self.guard = nil
    finish(self.state)
    self.channel.fd = -1        -- its number may be another file's from now on
end

-- ---- memory across states, as numbers ----

function M.address(pointer)
    return tonumber(ffi.cast('intptr_t', pointer))
end

function M.pointer(type, address)
    return ffi.cast(type .. ' *', ffi.cast('intptr_t', address))
end

return M
