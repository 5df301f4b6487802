-- repl.lua - the interactive session. step(line) is the whole of it and knows no terminal;
-- converse() reads and prints.

local host = require 'mare.host'
local errors = require 'bindings.errors'

local M = {}

-- A session: names set in it are its own, the rest are Lua's; `_` is the last value.
function M.new()
    local environment = setmetatable({ mare = require 'mare' }, { __index = _G })
    environment._G = environment
    return setmetatable({ environment = environment, pending = nil }, { __index = M })
end

local function compile(text)
    local chunk = loadstring('return ' .. text, '=input')
    if chunk then return chunk end
    return loadstring(text, '=input')
end

local function show(...)
    local shown = {}
    for i = 1, select('#', ...) do shown[i] = tostring((select(i, ...))) end
    return table.concat(shown, '\t')
end

local function message(failure)
    local lines = { tostring(failure) }
    for _, frame in ipairs(errors.frames(1)) do
        if not frame:find '^input:' then lines[#lines + 1] = '    at ' .. frame end
    end
    return table.concat(lines, '\n')
end

local function finish(self, ok, ...)
    if not ok then return 'error', (...) end
    if select('#', ...) > 0 then self.environment._ = (...) end
    return 'ok', show(...)
end

-- Takes one more line. Returns 'ok' and the values as text, 'more' when the input is incomplete,
-- 'error' and the message.
function M:step(line)
    local text = self.pending and self.pending .. '\n' .. line or line
    self.pending = nil
    local chunk, problem = compile(text)
    if not chunk and problem:find "'<eof>'" then
        self.pending = text
        return 'more', ''
    end
    if not chunk then return 'error', problem end
    return finish(self, xpcall(setfenv(chunk, self.environment), message))
end

-- Reads standard input until its end. Ctrl-C drops the line or stops what runs, never the session.
function M.converse()
    local self = M.new()
    io.write(('Mare %s. Ctrl-D ends, mare is the module.\n'):format(self.environment.mare.version))
    while true do
        io.write(self.pending and '>> ' or '> ')
        io.flush()
        local line = io.read()
        local interrupted = host.interrupted(true)
        if line then
            local status, text = self:step(line)
            if host.interrupted(true) then text = 'interrupted' end
            if text ~= '' then (status == 'error' and io.stderr or io.stdout):write(text, '\n') end
        elseif interrupted then
            self.pending = nil
            io.write '\n'
        else
            break
        end
    end
    io.write '\n'
    return 0
end

return M
