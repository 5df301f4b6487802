-- scenario.lua - runs scenario files from within a session. A file is run as it stands, but its
-- mare.run hands its description over instead of running, so that there is one way to set a
-- simulation up:
--
--     local s = scenario.open 'sod' { nx = 100 }     -- s.desc: what the file gave to mare.run
--     s:resume(sim)                                  -- what comes after that; the file's result
--
-- Likewise mare.options hands over the declarations where only these are wanted.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local home = require 'bindings.home'
local folders = require 'bindings.folders'
local public = require 'mare.base.public'
local suggest = require 'bindings.suggest'

local scenario = {}

local folder = home.root .. '/scenarios/'

-- Returns the names of those that come with Mare, sorted.
function scenario.names()
    local names = {}
    for _, file in ipairs(folders.names(folder)) do
        names[#names + 1] = file:match '^([%w_]+)%.lua$'
    end
    table.sort(names)
    return names
end

-- Finds one of these by its name, or a file; returns its path and text.
local function find(name)
    local path = name:find '[/.]' and name or folder .. name .. '.lua'
    local text = files.read(path)
    if not text then
        local names = scenario.names()
        errors.argument("no scenario '%s'%s (there are: %s; or a file name)", name,
            suggest(name, names), table.concat(names, ', '))
    end
    return path, text
end

-- Refuses a name that is none of these nor of a file.
function scenario.check(name)
    find(name)
end

-- Returns the text of one of these, or of a file.
function scenario.text(name)
    return (select(2, find(name)))
end

-- Whether the file gives anything to mare.run; one that does not would do all of its work before
-- that is known.
function scenario.simulates(name)
    local _, text = find(name)
    return text:find '%.run%f[^%w_]' ~= nil
end

-- Whether the file runs a simulation that ranks can share, of mare.run or mare.volume.
function scenario.is_shared(name)
    return scenario.simulates(name) or scenario.text(name):find '%.volume%s*[{(]' ~= nil
end

-- Evaluates mare.options with these values instead of the command line's.
local function evaluate(name, text, values, spec)
    local options = require 'mare.base.options'
    local source, program, script = options.source, options.program, options.script
    options.source, options.program = values, 'mare ' .. name
    options.script = { name = name, text = text }
    local ok, result = pcall(options, spec)
    options.source, options.program, options.script = source, program, script
    if not ok then error(result, 0) end
    return result
end

local function stand_in(original, call)
    return setmetatable({}, { __index = original, __call = function(_, ...) return call(...) end })
end

-- Returns the file as a coroutine that yields the specification of its options, then what it gives
-- to mare.run. values: of options, by key
local function start(name, values)
    local mare = public.table()
    local path, text = find(name)
    local chunk, problem = loadstring(text:gsub('^#[^\n]*', ''), '@' .. path)
    if not chunk then errors.argument('%s', problem) end
    local replaced = setmetatable({
        options = stand_in(mare.options, function(spec)
            coroutine.yield('options', spec)
            return evaluate(path, text, values, spec)
        end),
        run = stand_in(mare.run, function(desc) return coroutine.yield('run', desc) end),
    }, { __index = mare })
    local load = require
    local function require_from_there(module)
        return module == 'mare' and replaced or load(module)
    end
    setfenv(chunk, setmetatable({ require = require_from_there }, { __index = _G }))
    return coroutine.create(chunk)
end

-- Lets the file go on until it hands something over. Returns what that is, in a word, and the thing
-- itself: at the end of the file its result.
local function go_on(thread, ...)
    local ok, kind, value = coroutine.resume(thread, ...)
    if not ok then error(kind, 0) end
    if coroutine.status(thread) == 'dead' then return 'end', kind end
    return kind, value
end

-- ---- options ----

-- Returns { title, help, and the declared options: { key, name, type, default, help, ... } in order
-- }
function scenario.options(name)
    local kind, spec = go_on(start(name, {}))
    if kind ~= 'options' then return {} end
    local list = require('mare.base.options').declared(spec)
    list.title, list.help = spec.title, spec.help
    return list
end

-- ---- set-ups ----

local Scenario = {}
Scenario.__index = Scenario

-- Returns the file's set-up with these options, as they are called in Lua.
function scenario.load(name, values)
    if type(values) ~= 'table' then
        errors.argument("scenario '%s': a table of options is wanted, not %s", name, type(values))
    end
    local kind, value, self
    if scenario.simulates(name) then
        self = setmetatable({ name = name, thread = start(name, values) }, Scenario)
        repeat kind, value = go_on(self.thread) until kind ~= 'options'
    end
    if kind ~= 'run' then
        errors.argument("scenario '%s' runs no simulation; from a shell: mare %s", name, name)
    end
    self.desc = value
    return self
end

-- Lets the file go on with the simulation as its mare.run would have returned it. Returns the
-- file's result. It can be called once.
function Scenario:resume(sim)
    if coroutine.status(self.thread) == 'dead' then
        errors.argument("scenario '%s' has come to its end already", self.name)
    end
    local run, result = require 'mare.run', sim
    while true do
        local kind, value = go_on(self.thread, result)
        if kind == 'end' then return value end
        result = kind == 'run' and run.new(value) or nil
    end
end

return scenario
