-- pseudo_terminal.lua - a launcher on a terminal of its own, for tests that press keys and send
-- signals: start(words, environment, program), and on what it returns :see(pattern, seconds),
-- :send(keys), :kill(signal), :processor_seconds() and :stop(). A wait for what has to come is
-- `patience` long, which only a hang is; how long something took is told by its processor time,
-- since the machine may be busy.

local ffi = require 'ffi'
local home = require 'bindings.home'
local posix = require 'bindings.posix'
local system = require 'bindings.system'

ffi.cdef [[
    int forkpty(int *terminal, char *name, void *settings, void *size);
    int execv(const char *path, char *const *words);
    int waitpid(int process, int *status, int flags);
    long write(int fd, const void *data, size_t size);
]]

local C = posix.C
local POLLIN, NOHANG = 1, 1
local patience = 120        -- seconds
local ticks = 100           -- of /proc in a second
local numbers = { HUP = 1, INT = 2, KILL = 9, TERM = 15 }

local function processor_seconds(process)
    local file = assert(io.open(('/proc/%d/stat'):format(process)))
    local fields = file:read('*l'):match '%) %S (.*)'
    file:close()
    local user, kernel = fields:match(('%S+ '):rep(10) .. '(%d+) (%d+)')
    return (user + kernel) / ticks
end

local child = {}
child.__index = child

-- environment: words as `env` takes them. program: another one than the launcher.
local function start(words, environment, program)
    local list = { '/usr/bin/env', '--default-signal=HUP,INT', 'TERM=dumb', 'MARE_HISTORY=off' }
    for _, word in ipairs(environment or {}) do list[#list + 1] = word end
    list[#list + 1] = program or home.launcher
    for _, word in ipairs(words) do list[#list + 1] = word end
    local argv, kept = ffi.new('char *[?]', #list + 1), {}
    for k, word in ipairs(list) do
        kept[k] = ffi.new('char[?]', #word + 1, word)
        argv[k - 1] = kept[k]
    end
    local terminal = ffi.new 'int[1]'
    local process = C.forkpty(terminal, nil, nil, nil)
    if process == 0 then
        C.execv(argv[0], argv)
        C._exit(127)
    end
    assert(process > 0, 'there is no pseudo-terminal')
    return setmetatable({ process = process, fd = terminal[0], text = '' }, child)
end

-- Reads what there is, for at most so many seconds; false after the end.
function child:read(seconds)
    local poll, data = ffi.new 'struct mare_poll', ffi.new 'char[4096]'
    poll.fd, poll.wanted = self.fd, POLLIN
    if C.poll(poll, 1, math.max(0, math.ceil(1000 * seconds))) ~= 1 then return true end
    local count = tonumber(C.read(self.fd, data, 4096))
    if count <= 0 then
        self.is_closed = true
        return false
    end
    self.text = self.text .. ffi.string(data, count)
    return true
end

-- Returns the seconds until the pattern is in what came, or nil if it is not in
-- time. Drops all up to its end. Without a pattern: until the end.
function child:see(pattern, seconds)
    local started, limit = system.now(), seconds or patience
    repeat
        local _, last = self.text:find(pattern or '^\0')
        if pattern and last then
            self.text = self.text:sub(last + 1)
            return system.now() - started
        end
        local goes_on = self:read(started + limit - system.now())
        if not goes_on then return not pattern and system.now() - started or nil end
    until system.now() - started >= limit
    return nil
end

function child:send(keys) C.write(self.fd, keys, #keys) end

function child:kill(name) C.kill(self.process, numbers[name]) end

-- The processor time of all its threads so far, or until its end; not after stop().
function child:processor_seconds()
    return processor_seconds(self.process)
end

-- Ends it where it has not ended, at once or, where its terminal is closed already, if it hangs.
-- Returns its exit status, or minus the number of the signal that ended it.
function child:stop()
    local status, started = ffi.new 'int[1]', system.now()
    local limit = self.is_closed and patience or 1
    while C.waitpid(self.process, status, NOHANG) == 0 do
        if system.now() - started > limit then
            self:kill 'KILL'
            C.waitpid(self.process, status, 0)
            break
        end
        system.sleep(0.01)
    end
    C.close(self.fd)
    self.fd = -1
    local signal = status[0] % 128
    return signal == 0 and math.floor(status[0] / 256) or -signal
end

return { start = start, processor_seconds = processor_seconds }
