-- editline.lua - lines typed on a terminal, through libedit (the BSD editor; GNU readline's licence
-- would bind Mare's). One editor a process:
--
--     local editor = editline.open { complete = function(text) return words, start end }
--     editor:read '> '        -- a line; or nil and 'interrupted' (Ctrl-C), 'signal' or 'end'
--     editor:remember(text)   -- for the up arrow
--
-- libedit calls back into Lua for each key. An error must not fly through its stack frames, so
-- signals are only noted meanwhile, and Ctrl-C and Ctrl-Z are keys like others. Between two reads
-- the terminal is as the user left it.

local ffi = require 'ffi'
local callback = require 'bindings.callback'
local foreign = require 'bindings.foreign'
local home = require 'bindings.home'
local posix = require 'bindings.posix'
local terminal = require 'bindings.terminal'

ffi.cdef [[
    typedef struct { const char *buffer, *cursor, *last; } mare_edit_line;
    typedef struct { int number; const char *text; } mare_edit_event;
    void *el_init(const char *program, void *in, void *out, void *err);
    void el_end(void *el);
    int el_source(void *el, const char *path);
    int el_set(void *el, int op, ...);
    int el_wset(void *el, int op, ...);
    const char *el_gets(void *el, int *count);
    const mare_edit_line *el_line(void *el);
    int el_insertstr(void *el, const char *text);
    void el_resize(void *el);
    void *history_init(void);
    void history_end(void *h);
    int history(void *h, mare_edit_event *event, int op, ...);
]]

local PROMPT_ESC, SIGNAL, BIND, SETTY, ADDFN, HIST, GETCFN, PREP_TERM = 21, 3, 4, 8, 9, 10, 13, 16
local EL_REFRESH = 20
local EDITOR = 2
local H_SETSIZE, H_ENTER, H_SETUNIQUE = 1, 10, 20
local NEWLINE, REFRESH, REDISPLAY, REFRESH_BEEP = 1, 4, 8, 9     -- what a key asks for
local EINTR, SIGTSTP, CTRL_C = 4, 20, 3
local kept, listed_words = 1000, 200
local paste_ms = 10         -- no one types the next key sooner

local C = posix.C
local M = {}
local E                     -- libedit

local Editor = {}
Editor.__index = Editor

local function int(value) return ffi.cast('int', value) end

-- ---- keys ----

local byte = ffi.new 'uint8_t[1]'

-- The process was stopped by another and goes on: the terminal has been used meanwhile.
local function draw_again(self)
    E.el_set(self.el, PREP_TERM, int(0))
    E.el_set(self.el, PREP_TERM, int(1))
    E.el_set(self.el, EL_REFRESH)
end

-- The next byte; nil at the end of input. An interrupt is a key too.
local function any_byte(self)
    if terminal.ahead ~= '' then
        local first = terminal.ahead:byte()
        terminal.ahead = terminal.ahead:sub(2)
        return first
    end
    while true do
        local n = C.read(0, byte, 1)
        if n == 1 then return byte[0] end
        if n == 0 or ffi.errno() ~= EINTR then return nil end
        local came, by_key = home.interrupted(true)
        if by_key then return CTRL_C end
        if came then
            self.ended = true
            return nil
        end
        draw_again(self)
    end
end

-- The next that is no zero: the kernel makes one of a Ctrl-D that comes between two lines, and
-- libedit would put the key after it into the line, whatever it does.
local function next_byte(self)
    local found
    repeat found = any_byte(self) until found ~= 0
    return found
end

-- UTF-8; what is none becomes the replacement character.
local function next_character(self)
    local first = next_byte(self)
    if not first or first < 0x80 then return first end
    local more = first >= 0xF0 and 3 or first >= 0xE0 and 2 or first >= 0xC0 and 1 or 0
    if more == 0 then return 0xFFFD end
    local code = first % 2 ^ (6 - more)
    for _ = 1, more do
        local following = next_byte(self)
        if not following then return nil end
        if following < 0x80 or following >= 0xC0 then return 0xFFFD end
        code = code * 64 + following % 64
    end
    return code
end

local function get_character(self, out)
    local columns, rows = terminal.size()
    if columns ~= self.columns or rows ~= self.rows then
        self.columns, self.rows = columns, rows
        E.el_resize(self.el)
    end
    local code = next_character(self)
    if not code then return 0 end
    out[0] = code
    return 1
end

-- ---- completion ----

local function common_prefix(words)
    local prefix = words[1]
    for _, word in ipairs(words) do
        while word:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
    end
    return prefix
end

-- The words in columns, as many as fit beside each other.
function M.columns(words, width)
    local widest, lines = 0, {}
    for _, word in ipairs(words) do widest = math.max(widest, #word + 2) end
    local across = math.max(1, math.floor(width / widest))
    local down = math.ceil(math.min(#words, listed_words) / across)
    for row = 1, down do
        local padded = {}
        for k = row, math.min(#words, listed_words), down do
            padded[#padded + 1] = words[k] .. (' '):rep(widest - #words[k])
        end
        lines[row] = (table.concat(padded):gsub('%s+$', ''))
    end
    if #words > listed_words then
        lines[#lines + 1] = ('... and %d more'):format(#words - listed_words)
    end
    return table.concat(lines, '\n')
end

-- A tab that more than tabs follow at once was pasted: it is one, as after nothing but blanks.
local function tab(self)
    local line = E.el_line(self.el)
    local text = ffi.string(line.buffer, line.cursor - line.buffer)
    local is_first, is_pasted = text:find '^%s*$', terminal.look_ahead(paste_ms):find '[^\t]'
    if is_first or is_pasted then
        E.el_insertstr(self.el, is_first and '    ' or '\t')
        return REFRESH
    end
    local words, start = self.complete(text)
    if #words == 0 then return REFRESH_BEEP end
    local more = common_prefix(words):sub(#text - start + 2)
    if #more > 0 then
        E.el_insertstr(self.el, more)
        return REFRESH
    elseif #words == 1 then
        return REFRESH
    end
    io.stdout:write('\n', M.columns(words, self.columns), '\n')
    io.stdout:flush()
    return REDISPLAY
end

local function cancel(self)
    self.cancelled = true
    io.stdout:write '^C'
    return NEWLINE
end

local function suspend(self)
    E.el_set(self.el, PREP_TERM, int(0))
    C.kill(0, SIGTSTP)
    E.el_set(self.el, PREP_TERM, int(1))
    return REDISPLAY
end

-- ---- the editor ----

-- A function for libedit; it never raises. `otherwise`: its result when f fails.
local function kept_callback(self, type_name, f, otherwise)
    local safe = callback(type_name, function(_, value)
        local ok, result = pcall(f, self, value)
        return ok and result or otherwise
    end)
    self.callbacks[#self.callbacks + 1] = safe
    return safe
end

local function bind(self, key, name, f)
    local key_function = 'unsigned char (*)(void *, int)'
    E.el_set(self.el, ADDFN, name, name, kept_callback(self, key_function, f, REFRESH_BEEP))
    E.el_set(self.el, BIND, key, name, nil)
end

local function set_up(self)
    local el = self.el
    E.el_set(el, SIGNAL, int(0))
    E.el_set(el, EDITOR, 'emacs')
    E.el_source(el, nil)                        -- the user's ~/.editrc
    E.el_set(el, SETTY, '-d', '-isig', nil)
    E.el_set(el, PROMPT_ESC, kept_callback(self, 'const char *(*)(void *, int)', function()
        return self.prompt
    end), int(1))
    E.el_wset(el, GETCFN, kept_callback(self, 'int (*)(void *, int32_t *)', get_character, 0))
    E.el_set(el, HIST, E.history, self.history)
    bind(self, '^I', 'mare-complete', tab)
    bind(self, '^C', 'mare-cancel', cancel)
    bind(self, '^Z', 'mare-suspend', suspend)
    E.el_set(el, BIND, '^R', 'em-inc-search-prev', nil)
    E.history(self.history, self.event, H_SETSIZE, int(kept))
    E.history(self.history, self.event, H_SETUNIQUE, int(1))
end

-- Wide characters want a locale that has them.
local function choose_locale()
    local name = os.setlocale('', 'ctype')
    if not name or name == 'C' or name == 'POSIX' then os.setlocale('C.UTF-8', 'ctype') end
end

-- Raises where there is no libedit.
function M.load()
    E = E or foreign.load('libedit', { 'libedit.so.2', 'libedit.so.0' }, 'libedit2')
end

-- desc.complete(text up to the cursor) -> the words that could stand there, and where in the text
-- they begin.
function M.open(desc)
    M.load()
    choose_locale()
    local self = setmetatable({ complete = desc.complete, callbacks = {}, prompt = '',
        event = ffi.new 'mare_edit_event' }, Editor)
    self.columns, self.rows = terminal.size()
    self.el = E.el_init('mare', io.stdin, io.stdout, io.stderr)
    if self.el == nil then error('libedit does not take this terminal', 0) end
    self.history = E.history_init()
    set_up(self)
    return self
end

local count = ffi.new 'int[1]'

-- \1 in a prompt begins and ends what the terminal does not show.
function Editor:read(prompt)
    self.prompt = ffi.new('char[?]', #prompt + 1, prompt)
    self.cancelled = false
    io.stdout:flush()
    home.hold(true)
    home.interrupted(true)      -- of a line that is over
    local text = E.el_gets(self.el, count)
    home.hold(false)
    if self.cancelled or text == nil or count[0] <= 0 then io.stdout:write '\n' end
    if self.cancelled then return nil, 'interrupted' end
    if self.ended then return nil, 'signal' end
    if text == nil or count[0] <= 0 then return nil, 'end' end
    return (ffi.string(text, count[0]):gsub('\n$', ''))
end
jit.off(Editor.read)        -- callbacks must not come from compiled code

-- The latest comes last.
function Editor:remember(text)
    E.history(self.history, self.event, H_ENTER, text)
end

function Editor:close()
    E.el_end(self.el)
    E.history_end(self.history)
    for _, f in ipairs(self.callbacks) do f:free() end
end

return M
