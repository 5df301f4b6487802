-- sockets.lua - a thread that owns the sockets of a kernel, so that heartbeats and
-- the control channel are answered while a cell runs. It gives requests to kernel.lua
-- one after the other, and sends what that says. Between the two go texts of a word, a
-- kind and JSON, with a line break after each of the first two:
--
--     to kernel.lua   ready, request KIND, taken (what it said), answer (to a question), comm
--     from there      publish KIND, open KIND, reply KIND, answer N KIND, ask KIND, poll, abort,
--                     log, done, end
--
-- What this process prints comes through pipes (bindings/capture.lua) and becomes
-- output of the cell that runs. It stands in order with what kernel.lua says, since
-- that waits until it is taken.

local capture = require 'bindings.capture'
local json = require 'mare.notebook.encoding'
local literal = require 'mare.base.literal'
local printable = require 'bindings.printable'
local system = require 'bindings.system'
local utf8 = require 'bindings.utf8'
local wire = require 'mare.notebook.wire'
local zmq = require 'bindings.zmq'

local max_bytes = 64 * 2 ^ 20       -- of a message; a longer one is dropped
local max_part = 2 ^ 30             -- of a part, by ZeroMQ: who sends more is cut off
local pause = 0.03                  -- seconds between two messages of little output
local much = 32768                  -- bytes of output that do not wait
local look = 2                      -- seconds between two looks whether the client lives
local again = 70                    -- seconds between two signals; C may go on for 60 after one
local most_moves = 1000              -- of widgets that are kept
local most_told = 100                -- messages whose dropping is told of one by one
local linger = 1000                 -- ms in which the last messages may go out

local Thread = {}
Thread.__index = Thread

-- ---- out ----

local function send(self, socket, to, kind, content, parent, metadata)
    socket:send(self.wire:parts(to, kind, content, parent, metadata))
end

local function publish(self, kind, content, parent, metadata)
    send(self, self.iopub, { kind }, kind, content, parent, metadata)
end

local function status(self, state, parent)
    publish(self, 'status', ('{"execution_state":"%s"}'):format(state), parent)
end

local function log(self, ...)
    capture.log(self.log, 'mare jupyter: ' .. printable((...):format(select(2, ...))))
end

-- Tells that a message is dropped: of each of the first ones, then of every hundredth.
local function drop(self, ...)
    self.dropped = self.dropped + 1
    if self.dropped > most_told and self.dropped % most_told > 0 then return end
    log(self, 'dropped a message, number %d: %s', self.dropped, (...):format(select(2, ...)))
end

-- ---- what is printed ----

local function publish_text(self, pipe, text)
    local shown, rest = utf8.cleaned(pipe.rest .. text, true)
    pipe.rest = rest
    publish(self, 'stream', json.encode { name = pipe.name, text = shown }, self.parent)
end

-- Publishes what has come through a pipe. is_all: until nothing is left. Returns the bytes.
local function forward(self, pipe, is_all)
    local total = 0
    repeat
        local text = capture.read(pipe.fd)
        if text then
            total = total + #text
            publish_text(self, pipe, text)
        end
    until not text or not is_all and total >= much
    return total
end

local function forward_all(self)
    for _, pipe in ipairs(self.pipes) do forward(self, pipe, true) end
end

local function forward_some(self, ready, now)
    for _, pipe in ipairs(self.pipes) do
        if ready[pipe.fd] and forward(self, pipe, false) < much then pipe.next = now + pause end
    end
end

-- ---- requests ----

-- Answers a request here, between two messages of the state.
local function answer_here(self, socket, request, kind, content)
    status(self, 'busy', request.head)
    send(self, socket, request.from, kind, content, request.head)
    status(self, 'idle', request.head)
end

local aborted = '{"status":"aborted"}'

-- What widgets have said comes first: no cell has asked for it.
local function next_request(self)
    return table.remove(self.moves, 1) or table.remove(self.queue, 1)
end

-- Gives kernel.lua the next request, if it waits for one.
local function hand_over(self)
    local request = not self.current and not self.is_ending and next_request(self)
    while request and request.is_aborted do
        answer_here(self, self.shell, request, 'execute_reply', aborted)
        request = table.remove(self.queue, 1)
    end
    if not request then return end
    self.current, self.parent = request, request.head
    status(self, 'busy', request.head)
    self.channel:send(('request\n%s\n%s'):format(request.kind, request.text))
end

-- Ends the kernel: kernel.lua hears of it by a signal, whatever it does.
local function finish(self)
    self.is_ending, self.queue = true, {}
    system.signal 'TERM'
end

local function shut_down(self, socket, request)
    local content = json.encode { status = 'ok', restart = request.content.restart == true }
    answer_here(self, socket, request, 'shutdown_reply', content)
    publish(self, 'shutdown_reply', content, request.head)
    finish(self)
end

local controls = {}

function controls.interrupt_request(self, request)
    if self.current then system.signal 'INT' end
    answer_here(self, self.control, request, 'interrupt_reply', '{"status":"ok"}')
end

function controls.kernel_info_request(self, request)
    answer_here(self, self.control, request, 'kernel_info_reply', self.info)
end

function controls.shutdown_request(self, request)
    shut_down(self, self.control, request)
end

-- Calls take(message) for all that have come to a socket; what is no message is dropped.
local function receive(self, socket, take)
    while true do
        local parts, reason = socket:receive(max_bytes)
        if not parts and not reason then return end
        local message
        if parts then message, reason = self.wire:message(parts) end
        if message then take(message) else drop(self, '%s', reason) end
    end
end

local function receive_control(self)
    receive(self, self.control, function(message)
        local control = controls[message.kind]
        if control then control(self, message)
        else drop(self, "'%s' on the control channel", message.kind) end
    end)
end

-- Drops the oldest move after which the same widget has moved again; if there is none, the oldest.
local function drop_move(moves)
    local last = {}
    for k, move in ipairs(moves) do last[move.content.comm_id or ''] = k end
    for k, move in ipairs(moves) do
        if k < last[move.content.comm_id or ''] then return table.remove(moves, k) end
    end
    table.remove(moves, 1)
end

-- Keeps what a widget says until kernel.lua asks for it or has nothing else to do: the last of each
-- at least. While a cell runs, a front end waits for these states before it says more.
local function keep_move(self, message)
    self.moves[#self.moves + 1] = message
    if #self.moves > most_moves then drop_move(self.moves) end
    if not self.current then return end
    status(self, 'busy', message.head)
    status(self, 'idle', message.head)
end

local function receive_shell(self)
    receive(self, self.shell, function(message)
        if message.kind == 'shutdown_request' then shut_down(self, self.shell, message)
        elseif message.kind == 'comm_msg' then keep_move(self, message)
        else self.queue[#self.queue + 1] = message end
    end)
end

local function receive_stdin(self)
    receive(self, self.stdin, function(message)
        if message.kind == 'input_reply' and self.is_asking then
            self.is_asking = false
            self.channel:send('answer\n\n' .. message.text)
        end
    end)
end

-- A subscription is answered before anything else is heard, so that a client knows from when on
-- it hears everything.
local function receive_subscriptions(self)
    local parts = self.iopub:receive(max_bytes)
    while parts do
        local topic, wants = parts[1]:sub(2), parts[1]:byte(1) == 1
        self.iopub:set(wants and 'subscribe' or 'unsubscribe', topic)
        if wants then
            send(self, self.iopub, { topic }, 'iopub_welcome',
                json.encode { subscription = utf8.cleaned(topic) })
        end
        parts = self.iopub:receive(max_bytes)
    end
end

local function receive_heartbeats(self)
    local parts = self.heartbeat:receive(max_bytes)
    while parts do
        self.heartbeat:send(parts)
        parts = self.heartbeat:receive(max_bytes)
    end
end

-- ---- what kernel.lua says ----

local words = {}

-- After an error, and before anybody hears of it: the cells that wait are not run.
function words.abort(self)
    receive_shell(self)
    for _, request in ipairs(self.queue) do
        request.is_aborted = request.kind == 'execute_request'
    end
end

function words.publish(self, kind, content) publish(self, kind, content, self.parent) end

-- kind: that of the message, a blank and its metadata in JSON
function words.open(self, kind, content)
    publish(self, kind:match '^%S+', content, self.parent, kind:match ' (.*)$')
end

-- Publishes as an answer to another request than the current one. kind: the bytes of its header,
-- which stands before the content, a blank and the kind
function words.answer(self, kind, content)
    local bytes, name = kind:match '^(%d+) (.*)$'
    publish(self, name, content:sub(bytes + 1), content:sub(1, bytes))
end

function words.reply(self, kind, content)
    send(self, self.shell, self.current.from, kind, content, self.current.head)
end

function words.ask(self, kind, content)
    self.is_asking = true
    send(self, self.stdin, self.current.from, kind, content, self.current.head)
end

function words.done(self)
    status(self, 'idle', self.current.head)
    self.current, self.is_asking = nil, false
end

-- Hands over what widgets have said meanwhile.
function words.poll(self)
    for _, move in ipairs(self.moves) do
        self.channel:send(('comm\n%d\n%s%s'):format(#move.head, move.head, move.text))
    end
    self.moves = {}
end

function words.log(self, _, text) log(self, '%s', text) end

-- Returns whether to go on.
local function listen(self)
    while self.channel:ready() do
        local text = self.channel:receive()
        forward_all(self)       -- it was printed before
        local word, kind, content = (text or 'end'):match '^(%l+)\n?([^\n]*)\n?(.*)$'
        if word == 'end' then return false end
        words[word](self, kind, content)
        self.channel:send 'taken\n\n'
    end
    return true
end

-- ---- the thread ----

-- Returns whether the client lives, as far as can be known: a function, for Jupyter's number of the
-- client, or nil where the kernel is to live on without one. What started the kernel may be a
-- launcher, as mpirun or a script, which the client's end does not end.
local function watch(client)
    if not client then return function() return true end end
    local parent, is_near = system.parent(), system.descends_from(client)
    local is_late = parent == 1 and not is_near
    return function()
        return not is_late and system.parent() == parent
            and (not is_near or system.descends_from(client))
    end
end

local function look_at_client(self, now)
    if now < self.look then return end
    self.look = now + look
    if self.client_lives() then return end
    self.look = now + again
    finish(self)
end

-- Returns what to wait for, and for how many milliseconds at most.
local function awaited(self, now)
    local list = { self.heartbeat, self.control, self.shell, self.stdin, self.iopub,
        self.channel.fd }
    local wait = look
    for _, pipe in ipairs(self.pipes) do
        if pipe.next <= now then list[#list + 1] = pipe.fd
        else wait = math.min(wait, pipe.next - now) end
    end
    return list, math.ceil(1000 * wait)
end

local function serve(self)
    repeat
        local list, milliseconds = awaited(self, system.now())
        local ready = zmq.wait(list, milliseconds)
        receive_heartbeats(self)
        receive_control(self)
        receive_subscriptions(self)
        receive_shell(self)
        receive_stdin(self)
        local now = system.now()
        forward_some(self, ready, now)
        local goes_on = listen(self)
        hand_over(self)
        look_at_client(self, now)
    until not goes_on
    forward_all(self)
end

local function bind(self, given)
    local context = zmq.context()
    self.context = context
    local function open(kind, name, settings)
        local socket = context:socket(kind, settings)
        socket.name = name
        local between = given.transport == 'ipc' and '-' or ':'
        socket:bind(('%s://%s%s%d'):format(given.transport, given.ip, between,
            given[name .. '_port']))
        return socket
    end
    local limits = { linger = linger, max_size = max_part, send_limit = 0, receive_limit = 0 }
    self.heartbeat = open('router', 'hb', limits)
    self.control = open('router', 'control', limits)
    self.shell = open('router', 'shell', limits)
    self.stdin = open('router', 'stdin', limits)
    limits.is_verbose, limits.is_manual = 1, 1
    self.iopub = open('xpub', 'iopub', limits)
end

-- Runs in the thread until kernel.lua says 'end'.
return function(channel)
    local given = literal.decode(channel:receive())
    local self = setmetatable({ channel = channel, wire = wire.new(given.connection.key),
        info = given.info, log = given.log, queue = {}, moves = {}, dropped = 0, look = 0,
        client_lives = watch(given.client),
        pipes = { { fd = given.out, name = 'stdout', rest = '', next = 0 },
            { fd = given.err, name = 'stderr', rest = '', next = 0 } } }, Thread)
    bind(self, given.connection)
    channel:send 'ready\n\n'
    status(self, 'starting')
    local ok, failure = pcall(serve, self)
    self.context:close()
    if not ok then error(failure, 0) end
end
