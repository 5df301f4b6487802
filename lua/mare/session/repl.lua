-- repl.lua - the core of an interactive session, which knows no terminal:
-- step(line) takes a line, and talk.lua reads and prints; evaluate(text) takes the
-- cell of a notebook.
--
-- A line is an expression or a statement; the last lines of a cell may be an
-- expression. `_` is the last value; `_1` ... `_9` are the last nine, newest first. A
-- variable that a line declares as local becomes a global of the session, because it
-- would otherwise end with the line.

local complete = require 'mare.session.complete'
local errors = require 'bindings.errors'
local handle = require 'bindings.handle'
local home = require 'bindings.home'
local inspect = require 'mare.session.inspect'
local lexer = require 'mare.parse.lexer'
local public = require 'mare.base.public'
local reference = require 'mare.session.reference'
local texts = require 'mare.parse.text'

local M = {}

local Session = {}
Session.__index = Session

local remembered = 9        -- values that `_1` ... `_9` hold

-- The names of a session beside Lua's own. Their modules are loaded on first
-- use.
M.words = {
    help = function() return require('mare.session.help').help end,
    examples = function(session) return require('mare.session.examples').of_session(session) end,
    mare = public.table,
}

reference.words = M.words

local function new_environment(session)
    return setmetatable({}, {
        __index = function(environment, name)
            local load = M.words[name]
            if not load then return _G[name] end
            rawset(environment, name, load(session))
            return rawget(environment, name)
        end,
        __names = function()
            local names = {}
            for name in pairs(M.words) do names[#names + 1] = name end
            for name in pairs(_G) do names[#names + 1] = type(name) == 'string' and name or nil end
            return names
        end,
    })
end

-- Returns a session. It keeps the names that are set in it to itself; others
-- are Lua's.
function M.new()
    local self = setmetatable({ pending = nil, values = {} }, Session)
    self.environment = new_environment(self)
    self.environment._G = self.environment
    return self
end

-- ---- reading a line ----

local opens = { ['function'] = 1, ['do'] = 1, ['if'] = 1, ['repeat'] = 1, ['end'] = -1,
    ['until'] = -1 }

-- Returns what stands for the word `local`, token k of a list, and for what is behind the
-- names that it declares: those without a value become nil.
local function declared(tokens, k)
    if tokens[k + 1].text == 'function' then return nil end
    local last = k + 1
    while tokens[last + 1].text == ',' do last = last + 2 end
    return tokens[last + 1].text ~= '=' and tokens[last].at + #tokens[last].text - 1
end

-- Returns a text that Lua has accepted with its locals, but for those in blocks, as names
-- of the session.
local function without_locals(text)
    local tokens, depth, out, at = lexer.tokens(text), 0, {}, 1
    for k, token in ipairs(tokens) do
        if token.kind == 'keyword' then depth = depth + (opens[token.text] or 0) end
        if token.kind == 'keyword' and token.text == 'local' and depth == 0 then
            out[#out + 1] = text:sub(at, token.at - 1)
            at = token.at + #token.text
            local last = declared(tokens, k)
            if last then
                out[#out + 1] = text:sub(at, last) .. ' = nil'
                at = last + 1
            end
        end
    end
    return table.concat(out) .. text:sub(at)
end

-- Returns how many bytes of a text Lua reads before it finds a fault.
local function reach(text)
    local count = 0
    load(function()
        count = count + 1
        local byte = text:sub(count, count)
        return byte ~= '' and byte or nil
    end, '=input', 't')
    return count
end

local as_value = 'return '

-- Compiles a text, which is kept: functions in it may become kernels.
local function compile_kept(text)
    local chunk, fault = load(text, '=input', 't')      -- no bytecode: not verified
    if chunk then texts.keep('=input', text) end
    return chunk, fault
end

-- Compiles a text as a statement.
local function compile_statement(text)
    local chunk, fault = load(text, '=input', 't')
    if chunk then return compile_kept(without_locals(text)) end
    return nil, fault
end

-- Returns the chunks of lines of which the last ones are an expression: what is before
-- them, and that. nil if it is not so. A line that could go on with the one before it,
-- such as `- 1`, begins none.
local function compile_parts(text)
    local at = #text
    repeat
        at = text:sub(1, at - 1):match '.*()\n' or 0
        local last = text:sub(at + 1)
        local value = at > 0 and not last:find '^%s*[-({[\'"]'
            and compile_kept(('\n'):rep(select(2, text:sub(1, at):gsub('\n', ''))) .. as_value
                .. last)
        local before = value and last:find '%S' and compile_statement(text:sub(1, at))
        if before then return { before, value } end
    until at == 0
end

-- Compiles a text: as an expression whose values are returned, as statements with an
-- expression behind, or else as a statement. Returns the chunks. Where it is none of
-- these, the fault is that of the reading that got farther.
local function compile(text)
    text = text:gsub('^%s*=', '', 1)
    local chunk, problem = compile_kept(as_value .. text)
    if chunk then return { chunk } end
    if problem:find 'not enough memory' then return nil, problem end
    local parts = compile_parts(text)
    if parts then return parts end
    local statement, fault = compile_statement(text)
    if statement then return { statement } end
    if not fault:find ' near ' or fault:find "near '<eof>'$" then return nil, fault end
    return nil, reach(as_value .. text) - #as_value > reach(text) and problem or fault
end

local function is_incomplete(problem) return problem:find "near '<eof>'$" ~= nil end

-- Returns 'complete', 'incomplete' or 'invalid'.
function M.judge(text)
    local chunks, problem = compile(text)
    return chunks and 'complete' or is_incomplete(problem) and 'incomplete' or 'invalid'
end

-- ---- failures ----

local max_stack_frames = 10

-- Returns the message of an error, and the stack frames in the user's own
-- files.
local function message(failure)
    local ok, text = pcall(errors.text, failure)
    local lines = { ok and text or 'an error that cannot be shown' }
    for _, place in ipairs(errors.stack_frames(1, max_stack_frames)) do
        if not place:find '^input:' then lines[#lines + 1] = '    at ' .. place end
    end
    return table.concat(lines, '\n')
end

-- Returns the message of an error in the handler itself, as on a full stack.
local function describe(failure)
    if type(failure) ~= 'string' then return 'an error that cannot be shown' end
    return failure
end

-- ---- results ----

local function remember(self, value)
    table.insert(self.values, 1, value)
    self.values[remembered + 1] = nil
    for k, kept in ipairs(self.values) do self.environment['_' .. k] = kept end
    self.environment._ = value
end

local function show(...)
    local shown = {}
    for i = 1, select('#', ...) do shown[i] = inspect.show((select(i, ...))) end
    return table.concat(shown, table.concat(shown):find '\n' and '\n' or '\t')
end

local function finish(self, ok, ...)
    if not ok then
        local text = describe((...))
        if text:find 'not enough memory' then collectgarbage() end
        return 'error', text
    end
    if (...) ~= nil then remember(self, (...)) end
    return 'ok', ...
end

local function run(self, chunks)
    for _, chunk in ipairs(chunks) do setfenv(chunk, self.environment) end
    return finish(self, home.call(function()
        for k = 1, #chunks - 1 do chunks[k]() end
        return chunks[#chunks]()
    end, message))
end

-- Runs a text. Returns 'ok' and its values, or 'error' and the message; also 'more' and
-- the message if the text is incomplete.
function Session:evaluate(text)
    local chunks, problem = compile(text)
    if chunks then return run(self, chunks) end
    return is_incomplete(problem) and 'more' or 'error', problem
end

local function as_text(status, ...)
    if status ~= 'ok' then return status, (...) end
    return status, select('#', ...) > 0 and show(...) or ''
end

-- Takes one more line. Returns 'ok' and the values as text, 'more' if the input
-- is incomplete, or 'error' and the message.
function Session:step(line)
    local text = self.pending and self.pending .. '\n' .. line or line
    self.pending = nil
    local status, shown = as_text(self:evaluate(text))
    if status ~= 'more' then return status, shown end
    self.pending = text
    return 'more', ''
end

-- Runs f(), which takes an entry and returns 'ok' and so on, so that the session can go
-- on whatever comes. Returns whether a signal asks the session to end, and the results
-- of f(): 'error' and why where memory was too short even for a message, or Ctrl-C came.
function M.guard(f)
    local results = { home.call(f, tostring) }
    if not results[1] then
        collectgarbage()
        results = { false, 'error', tostring(results[2]) }
    end
    local came, by_key = home.interrupted(true)
    if came then results = { true, 'error', 'interrupted' } end
    handle.recover()
    return came and not by_key, unpack(results, 2, table.maxn(results))
end

-- Takes lines up to the end of the text or the first error. `tell`, if given,
-- receives each result at once. Returns the status of the last line, and all
-- results.
function Session:run(text, tell)
    local shown, status = {}, 'ok'
    for line in (text .. '\n'):gmatch '(.-)\n' do
        local result
        status, result = self:step(line)
        if result ~= '' then shown[#shown + 1] = result end
        if result ~= '' and tell then tell(result) end
        if status == 'error' then break end
    end
    return status, table.concat(shown, '\n')
end

-- Returns the words that could stand at the end of `text`, and where they
-- begin.
function Session:complete(text)
    return complete.at(self.environment, text)
end

return M
