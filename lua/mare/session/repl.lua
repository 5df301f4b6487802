-- repl.lua - the core of an interactive session: step(line) is the whole of it and knows no
-- terminal; repl/talk.lua reads and prints.
--
-- A line is an expression or a statement. `_` is the last value, `_1` ... `_9` are the last nine,
-- the latest first. What a line calls local lasts: otherwise it would be gone with the line.

local complete = require 'mare.session.complete'
local errors = require 'bindings.errors'
local host = require 'bindings.host'
local inspect = require 'mare.session.inspect'
local public = require 'mare.base.public'
local reference = require 'mare.session.reference'

local M = {}

local Session = {}
Session.__index = Session

local remembered = 9        -- values

-- What a session has beside Lua's own names: loaded when it is first used.
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

-- A session: names set in it are its own, the rest are Lua's.
function M.new()
    local self = setmetatable({ pending = nil, values = {} }, Session)
    self.environment = new_environment(self)
    self.environment._G = self.environment
    return self
end

-- ---- what is typed ----

local function without_local(text)
    local rest = text:match '^%s*local%s+(function%s.*)$'
    if rest then return rest end
    local names, value = text:match '^%s*local%s+([%a_][%w_%s,]*)=(.*)$'
    if names and value:sub(1, 1) ~= '=' then return names .. '=' .. value end
    names = text:match '^%s*local%s+([%a_][%w_%s,]*)$'
    return names and names .. ' = nil' or text
end

-- A chunk that returns the values of an expression, or one that runs a statement.
local function compile(text)
    text = text:gsub('^%s*=', '', 1)
    local chunk, problem = load('return ' .. text, '=input', 't')
    if chunk or problem:find 'not enough memory' then return chunk, problem end
    return load(without_local(text), '=input', 't')        -- bytecode could do anything
end

-- ---- failures ----

local max_frames = 10

-- The message, and the frames of the user's own files.
local function message(failure)
    local ok, text = pcall(tostring, failure)
    local lines = { ok and text or 'an error that cannot be shown' }
    for _, frame in ipairs(errors.frames(1, max_frames)) do
        if not frame:find '^input:' then lines[#lines + 1] = '    at ' .. frame end
    end
    return table.concat(lines, '\n')
end

-- xpcall's own words where the handler had no room: a stack that is full.
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
    if select('#', ...) == 0 then return 'ok', '' end
    local text = show(...)
    if (...) ~= nil then remember(self, (...)) end
    return 'ok', text
end

-- Takes one more line. Returns 'ok' and the values as text, 'more' when the input is incomplete,
-- 'error' and the message.
function Session:step(line)
    local text = self.pending and self.pending .. '\n' .. line or line
    self.pending = nil
    local chunk, problem = compile(text)
    if not chunk and problem:find "near '<eof>'$" then
        self.pending = text
        return 'more', ''
    end
    if not chunk then return 'error', problem end
    return finish(self, host.call(setfenv(chunk, self.environment), message))
end

-- Takes lines up to the end of the text, or to the first failure; `tell`, if given, gets the result
-- of each at once. Returns the status of the last one, and all results.
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

-- The words that could stand at the end of `text`, and where they begin.
function Session:complete(text)
    return complete.at(self.environment, text)
end

return M
