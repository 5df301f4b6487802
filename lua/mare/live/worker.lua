-- worker.lua - mare.worker: a thread with a Lua state of its own, for what would hold a script up,
-- such as writing, compressing or asking another program:
--
--     local w = mare.worker(function(channel)
--         for n in channel.receive, channel do channel:send { n = n, square = n * n } end
--     end)
--     w:send(7)
--     print(w:receive().square)       -- waits; w:poll() is nil where nothing has come yet
--     w:stop()
--
-- The states share no Lua value: what they say is copied, and is a number, a text, true, false, or
-- a table of these. The function may call `require`, also of 'mare', but uses no local from outside
-- of it. An error in the thread ends it, and receive() and poll() raise it. receive() in the thread
-- is nil when w:stop() has been called, which waits for the thread; receive() of w is nil when the
-- thread has ended. channel:ready() tells whether receive() would return at once.

local errors = require 'bindings.errors'
local literal = require 'mare.base.literal'
local thread = require 'bindings.worker'

local worker = {}

local Worker = {}
Worker.__index = Worker

-- Returns the function as a text for another state.
local function dumped(f)
    local ok, text = pcall(string.dump, f)
    if not ok then errors.argument 'worker: a function of Lua is wanted, not one of C' end
    local outer = debug.getupvalue(f, 1)
    if outer then
        errors.argument("worker: the function uses '%s' of outside: send it what it needs, or "
            .. 'require it there', outer)
    end
    return text
end

-- Starts a thread that runs f(channel), a function without outer locals; see the head of this file.
function worker.new(f)
    errors.wanted('worker', 'function', f)
    local code = dumped(f)
    local self = setmetatable({ thread = thread.start 'mare.live.worker_entry' }, Worker)
    self.thread:send(code)
    return self
end

local function value_of(text)
    if text then return literal.decode(text) end
    return nil
end

-- Says a value to the thread. Returns false when it has ended.
function Worker:send(value)
    local ok, text = pcall(literal.encode, value)
    if not ok then errors.argument('worker:send: %s', text) end
    return self.thread:send(text)
end

-- Returns what the thread says next, waiting for it; nil when it has ended. Raises its error.
function Worker:receive() return value_of(self.thread:receive()) end

-- The same without waiting: nil, too, where nothing has come yet.
function Worker:poll() return value_of(self.thread:poll()) end

-- Ends the thread when it has done what it does and asks for more.
function Worker:stop() self.thread:stop() end

function Worker.__tostring() return 'a worker: send, receive, poll, stop' end

return worker
