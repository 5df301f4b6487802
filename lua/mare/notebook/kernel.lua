-- kernel.lua - runs the cells of a notebook in a session, and answers what its front end
-- asks. The sockets belong to a thread (sockets.lua), which hands over one request after
-- the other.

local bar = require 'mare.notebook.bar'
local beat = require 'bindings.beat'
local capture = require 'bindings.capture'
local display = require 'mare.notebook.display'
local draw = require 'mare.draw'
local errors = require 'bindings.errors'
local front = require 'mare.notebook.front'
local help = require 'mare.session.help'
local here = require 'mare.ranks.here'
local history = require 'mare.session.history'
local home = require 'bindings.home'
local json = require 'mare.notebook.encoding'
local literal = require 'mare.base.literal'
local public = require 'mare.base.public'
local repl = require 'mare.session.repl'
local requests = require 'mare.notebook.requests'
local sliders = require 'mare.notebook.sliders'
local system = require 'bindings.system'
local tables = require 'bindings.tables'
local together = require 'mare.session.together'
local wire = require 'mare.notebook.wire'
local worker = require 'bindings.worker'

local kernel = {}

local Kernel = {}
Kernel.__index = Kernel

-- ---- what goes to the thread ----

-- Says something to the thread, and waits until it is taken. No error of an interrupt may
-- come in the midst of that.
local function say(self, word, kind, text)
    local before = home.hold(true)
    capture.flush()
    self.thread:send(('%s\n%s\n%s'):format(word, kind or '', text or ''))
    local heard, moves = self.thread:receive(), {}
    while heard and heard:find '^comm\n' do
        moves[#moves + 1] = heard
        heard = self.thread:receive()
    end
    for _, move in ipairs(moves) do
        local bytes, message = move:match '^comm\n(%d+)\n(.*)$'
        sliders.hear(self, json.decode(message:sub(bytes + 1)), message:sub(1, bytes))
    end
    home.hold(before)
end

-- metadata: of the message, if it has any
function Kernel:publish(kind, content, metadata)
    local head = metadata and kind .. ' ' .. json.encode(metadata) or kind
    say(self, metadata and 'open' or 'publish', head, json.encode(content))
end

-- Publishes as an answer to the request of this header.
function Kernel:answer(head, kind, content)
    say(self, 'answer', ('%d %s'):format(#head, kind), head .. json.encode(content))
end

-- Hears what widgets have said meanwhile.
function Kernel:poll() say(self, 'poll') end

local function reply(self, kind, content)
    self.has_replied = true
    say(self, 'reply', kind, json.encode(content))
end

-- Shows a bundle of display.lua. With `changes`, returns a name for update().
function Kernel:show(bundle, changes)
    self.shown = self.shown + 1
    local id = changes and ('mare-%d'):format(self.shown) or nil
    self:publish('display_data', { data = bundle, metadata = json.object(),
        transient = json.object { display_id = id } })
    return id
end

function Kernel:update(id, bundle)
    self:publish('update_display_data', { data = bundle, metadata = json.object(),
        transient = { display_id = id } })
end

-- waits: only once there is something else to show
function Kernel:clear(waits) self:publish('clear_output', { wait = waits }) end

function Kernel:page(text)
    table.insert(self.pages, { source = 'page', start = 0, data = { ['text/plain'] = text } })
end

-- ---- what comes from the thread ----

-- Waits until something has come; false when a signal asks to end. In a cell the hook of
-- an interrupt raises an error here.
local function wait(self, is_idle)
    repeat
        if is_idle then
            local came, by_key = home.interrupted(true)
            if came and not by_key then return false end
        end
        beat.wait(is_idle and 1 or 0.05, self.thread.channel.fd)
    until self.thread.channel:ready()
    return true
end

local function receive(self)
    local text = self.thread:receive()
    if not text then return nil end
    return text:match '^(%l+)\n([^\n]*)\n(.*)$'
end

-- Asks the user for a line, and waits for it.
function Kernel:ask(prompt, is_hidden)
    if not self.may_ask then
        errors.argument 'the front end cannot ask for input here: give the value in the cell'
    end
    say(self, 'ask', 'input_request', json.encode { prompt = prompt, password = is_hidden })
    wait(self)
    local held = home.hold(true)
    local _, _, content = receive(self)
    home.hold(held)
    local value = json.decode(content)
    return here.broadcast(type(value) == 'table' and tostring(value.value or '') or '')
end

-- ---- cells ----

-- Returns the text of `name?` and `?name`: the help of a name; nil of any other cell.
local function asked_for(self, code)
    local before, name, after = code:match '^%s*(%??)%s*([%a_][%w_.:]*)%s*(%??)%??%s*$'
    if not name or before .. after == '' then return nil end
    return requests.about(self.session, name) or help.text(name)
end

-- Makes what is to be shown of the results of a cell, while it can still be interrupted.
local function presented(status, ...)
    if status == 'more' then status = 'error' end
    if status == 'error' then return status, (...) end
    return status, display.results(...), select('#', ...) > 0 and (...) or nil
end

-- Runs a text as a cell. Returns as presented() does. A wish to end may have come just before; an
-- interrupt that did was meant for an older cell.
local function run(self, code)
    local came, by_key = home.interrupted(true)
    if came and not by_key then
        self.is_over = true
        return 'error', 'interrupted'
    end
    together.tell(code)
    home.hold(false)
    local is_over, status, shown = repl.guard(function()
        return presented(self.session:evaluate(code))
    end)
    home.hold(true)
    self.is_over = self.is_over or is_over
    local is_agreed, failure = pcall(together.agree, status, shown)
    if not is_agreed then
        self.failure = failure
        error(failure, 0)
    end
    return status, shown
end

local function failure_of(text)
    local lines = {}
    for line in (tostring(text) .. '\n'):gmatch '(.-)\n' do lines[#lines + 1] = line end
    return { ename = text == 'interrupted' and 'interrupted' or 'error', evalue = lines[1] or '',
        traceback = json.array(lines) }
end

local function expressions(self, list)
    local found = json.object()
    for name, text in pairs(type(list) == 'table' and list or {}) do
        local status, shown = run(self, tostring(text))
        if status == 'ok' then
            found[name] = { status = 'ok', data = shown or json.object(),
                metadata = json.object() }
        else
            found[name] = failure_of(shown)
            found[name].status = 'error'
        end
    end
    return found
end

local function keep(self, code, shown)
    table.insert(self.cells, { session = self.cells.session, line = self.count, source = code,
        output = type(shown) == 'table' and shown['text/plain'] or nil })
    if self.path and code:find '%S' then history.add(self.path, code) end
end

local function succeed(self, content, shown)
    if shown and not content.silent then
        self:publish('execute_result', { data = shown, metadata = json.object(),
            execution_count = self.count })
    end
    reply(self, 'execute_reply', { status = 'ok', execution_count = self.count,
        payload = json.array(self.pages),
        user_expressions = expressions(self, content.user_expressions) })
end

local function fail(self, content, text)
    local failure = failure_of(text)
    if content.stop_on_error ~= false then say(self, 'abort') end
    if not content.silent then self:publish('error', failure) end
    failure.status, failure.execution_count = 'error', self.count
    reply(self, 'execute_reply', failure)
end

local handlers = {}

function handlers.execute_request(self, content)
    local code = type(content.code) == 'string' and content.code or ''
    local is_kept = not content.silent and content.store_history ~= false
    self.pages, self.may_ask = {}, content.allow_stdin ~= false
    if is_kept then self.count = self.count + 1 end
    if not content.silent then
        self:publish('execute_input', { code = code, execution_count = self.count })
    end
    local text = asked_for(self, code)
    local status, shown = 'ok', nil
    if text then self:page(text) else status, shown = run(self, code) end
    if is_kept then keep(self, code, status == 'ok' and shown) end
    if status == 'ok' then succeed(self, content, shown) else fail(self, content, shown) end
end

-- ---- other requests ----

function handlers.kernel_info_request(self)
    reply(self, 'kernel_info_reply', self.info)
end

function handlers.complete_request(self, content)
    reply(self, 'complete_reply', requests.complete(self.session, content))
end

function handlers.inspect_request(self, content)
    reply(self, 'inspect_reply', requests.inspect(self.session, content))
end

function handlers.is_complete_request(self, content)
    reply(self, 'is_complete_reply', requests.is_complete(content))
end

function handlers.history_request(self, content)
    reply(self, 'history_reply', requests.history(self.cells, content))
end

function handlers.comm_info_request(self)
    local comms = json.object()
    for id, comm in pairs(self.comms) do comms[id] = { target_name = comm.target_name } end
    reply(self, 'comm_info_reply', { status = 'ok', comms = comms })
end

-- A comm of a kind that there is not is closed at once.
function handlers.comm_open(self, content)
    self:publish('comm_close', { comm_id = content.comm_id, data = json.object() })
end

function handlers.comm_msg(self, content) sliders.hear(self, content) end

function handlers.comm_close(self, content) self.comms[content.comm_id or ''] = nil end

local function log(self, ...) say(self, 'log', nil, (...):format(select(2, ...))) end

-- Answers one request; an error in an answer is told, and ends nothing. Who asked gets a reply.
local function serve(self, kind, text)
    local handle = handlers[kind]
    if handle then
        self.has_replied = false
        local ok, failure = pcall(handle, self, json.decode(text))
        if not ok then
            log(self, '%s: %s', kind, errors.text(failure))
            local name, count = kind:gsub('_request$', '_reply')
            local content = failure_of(errors.text(failure))
            content.status = 'error'
            if count > 0 and not self.has_replied then reply(self, name, content) end
        end
    else
        log(self, "dropped a message: '%s' is no request", kind)
    end
    say(self, 'done')
end

-- ---- begin and end ----

local function info()
    local version = public.table().version
    return { status = 'ok', protocol_version = wire.version, implementation = 'mare',
        implementation_version = version, debugger = false, supported_features = json.array(),
        banner = ('Mare %s. help() tells more, examples() shows.'):format(version),
        language_info = { name = 'lua', version = '5.1', mimetype = 'text/x-lua',
            file_extension = '.lua', pygments_lexer = 'lua', codemirror_mode = 'lua' },
        help_links = json.array() }
end

-- Pictures come into the output; those of a run that goes on follow each other in one place.
local function take_pictures(self)
    draw.presenter = function(picture)
        local bundle, under_way = display.picture(picture), self.running()
        local name = tostring(picture):match "'[^,']*"
        local places = tables.under(under_way or {}, 'pictures')
        if places[name] then self:update(places[name], bundle)
        else places[name] = self:show(bundle, under_way ~= nil) end
    end
end

local function new_kernel(thread)
    local self = setmetatable({ thread = thread, session = repl.new(), info = info(), count = 0,
        shown = 0, pages = {}, comms = {}, cells = { session = 1 }, path = history.path() }, Kernel)
    for k, source in ipairs(history.load(self.path)) do
        table.insert(self.cells, { session = 0, line = k, source = source })
    end
    front.install(self, self.session.environment)
    bar.install(self)
    take_pictures(self)
    return self
end

-- Serves until a signal, or a front end through the thread, asks to end.
local function loop(self)
    while not self.is_over and wait(self, true) do
        local word, kind, text = receive(self)
        if not word then return end
        if word == 'request' then serve(self, kind, text) end
        if self.failure then error(self.failure, 0) end     -- of other ranks, and for good
    end
end

local function start_thread(connection, pipes)
    local thread = worker.start 'mare.notebook.sockets'
    thread:send(literal.encode { connection = connection, out = pipes.out, err = pipes.err,
        log = pipes.log, info = json.encode(info()),
        client = tonumber(system.setting 'JPY_PARENT_PID') })
    return thread
end

-- Runs a kernel for the sockets of a connection file (its fields), to its end.
function kernel.run(connection)
    local pipes = capture.start()
    local thread = start_thread(connection, pipes)
    local ok, failure = pcall(function()
        thread:receive()
        home.hold(true)
        loop(new_kernel(thread))
        together.leave(0)
    end)
    home.hold(false)
    thread:send 'end'
    thread:stop()
    capture.stop(pipes)
    if not ok then error(failure, 0) end
end

-- What rank 0 shows, and asks for, as the other ranks see it.
local Unseen = { __index = {} }

function Unseen.__index.show() return 'unseen' end
for _, name in ipairs { 'update', 'clear', 'page' } do Unseen.__index[name] = function() end end
function Unseen.__index.ask() return here.broadcast() end

-- Takes part in the cells of the kernel of rank 0. Returns the exit status.
function kernel.follow()
    local session = repl.new()
    front.install(setmetatable({}, Unseen), session.environment)
    return together.follow(function(code) return presented(session:evaluate(code)) end)
end

return kernel
