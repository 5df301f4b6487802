-- embed.lua - the Lua side of mare_engine.h. It makes a Lua state a guest in
-- the embedding program, which must keep its terminal, its files and its
-- process; and it holds the functions that the C side calls. Everything else is
-- loaded on first use, so that an engine opens quickly.

require 'bindings.pairs'

local embed = {}

-- `home` below is the table of bindings/home.lua.

-- ---- what a guest must not do ----

-- Returns an output stream that writes to the log. name: as for home.write.
local function log_stream(home, name)
    local stream = {}
    function stream:write(...)
        for k = 1, select('#', ...) do home.write(name, tostring((select(k, ...)))) end
        return self
    end
    function stream:flush() return self end
    function stream.seek() return nil, 'a log' end
    function stream.setvbuf() return true end
    function stream.close() return true end
    return stream
end

local function redirect_output(home)
    local out = log_stream(home, 'print')
    local current, open = out, io.open
    io.stdout, io.stderr = out, log_stream(home, 'warn')
    function io.output(target)
        if type(target) == 'string' then target = assert(open(target, 'w')) end
        current = target or current
        return current
    end
    function io.write(...) return current:write(...) end
    function print(...)
        local texts = {}
        for k = 1, select('#', ...) do texts[k] = tostring((select(k, ...))) end
        home.write('print', table.concat(texts, '\t') .. '\n')
    end
end

-- Warnings and what a run tells go to the log, line by line.
local function listen(home)
    local levels = { warning = 'warn', note = 'info', rates = 'info', progress = 'info',
        compiling = 'info', files = 'info', answer = 'info' }
    local function hear(event)
        local level = event.kind == 'log' and event.level or levels[event.kind]
        local is_wanted = not event.quiet or event.kind == 'warning'
        if not (level and event.message and is_wanted) then return end
        local prefix = event.kind == 'warning' and 'mare: warning: ' or ''
        for line in event.message:gmatch '[^\n]+' do home.log(level, prefix .. line) end
    end
    home.listeners = { { hear = hear, pause = 10 } }
end

-- Adds what is in a field to a flat table: plain values by their names, those in
-- tables by both names.
local function flatten(flat, name, value)
    local kind = type(value)
    if kind == 'table' then
        for key, inner in pairs(value) do flatten(flat, name .. '.' .. tostring(key), inner) end
    elseif kind == 'number' or kind == 'boolean' or kind == 'string' then
        flat[name] = value
    else
        flat[name] = tostring(value)
    end
end

-- Hands an event to the program, its fields in the order of their names.
local function tell(home, event)
    local flat, names, values = {}, {}, {}
    for name, value in pairs(event) do
        if name ~= 'kind' and name ~= 'message' then flatten(flat, tostring(name), value) end
    end
    for name in pairs(flat) do names[#names + 1] = name end
    table.sort(names)
    for k, name in ipairs(names) do values[k] = flat[name] end
    home.tell(event.kind, names, values, event.message)
end

-- Lets the program hear of all events, with so many seconds at least between two of
-- progress; nil: no more.
function embed.listen(pause)
    local list = embed.home.listeners
    list[2] = pause and { pause = pause,
        hear = function(event) tell(embed.home, event) end } or nil
end

-- What a process would end with.
local function exit_status(code)
    if code == nil or code == true then return 0 end
    code = tonumber(code) or 1
    return code - code == 0 and code or 1
end

local function keep_process(raise)
    local setlocale = os.setlocale
    function os.exit(code)
        local status = exit_status(code)
        if status == 0 then raise('stop', 'stopped', 0) end
        raise('exit', ('the script ended itself: os.exit(%s)'):format(tostring(code)), status)
    end
    function os.setlocale(locale, category)
        return locale == nil and setlocale(nil, category) or nil
    end
end

-- Code that is loaded from outside of Mare is interpreted, not compiled, so
-- that interrupts can stop it.
local function interpret_scripts(home)
    local own, loaders = '@' .. home.root .. '/', package.loaders
    local function interpreted(f, ...)
        local is_own = f and debug.getinfo(f, 'S').source:sub(1, #own) == own
        if f and not is_own then jit.off(f, true) end
        return f, ...
    end
    for _, name in ipairs { 'load', 'loadstring', 'loadfile' } do
        local original = _G[name]
        _G[name] = function(...) return interpreted(original(...)) end
    end
    function dofile(...) return assert(loadfile(...))() end
    local find = loaders[2]
    loaders[2] = function(name)
        local found = find(name)
        return type(found) == 'function' and interpreted(found) or found
    end
end

-- When a hook raises an error, LuaJIT runs the error handlers within that hook,
-- where no further hook is called. A handler could therefore run for ever; so
-- while the script is being stopped, handlers are skipped.
local function guard_handlers(home)
    local original = xpcall
    function xpcall(f, handler, ...)
        return original(f, function(failure)
            if home.is_stopping() then return failure end
            return handler(failure)
        end, ...)
    end
end

-- ---- the sandbox ----

local plain = { 'assert', 'error', 'ipairs', 'next', 'pairs', 'pcall', 'print', 'rawequal',
    'rawget', 'rawset', 'select', 'setmetatable', 'tonumber', 'tostring', 'type', 'unpack',
    'xpcall', '_VERSION' }

local function copy(library)
    local own = {}
    for name, value in pairs(library) do own[name] = value end
    return own
end

-- Returns the globals of a script that is not trusted. LuaJIT does not verify
-- bytecode, so bytecode can be neither loaded nor dumped. The metatable of
-- strings cannot be reached.
local function sandbox()
    local env = {}
    for _, name in ipairs(plain) do env[name] = _G[name] end
    for _, name in ipairs { 'math', 'string', 'table', 'bit', 'coroutine' } do
        env[name] = copy(_G[name])
    end
    env.string.dump = nil
    env.os = { clock = os.clock, date = os.date, difftime = os.difftime, time = os.time }
    getmetatable('').__metatable = 'string'
    function env.getmetatable(value)
        return type(value) == 'table' and getmetatable(value) or nil
    end
    local load = load
    function env.load(text, name) return load(text, name, 't', env) end
    env.loadstring = env.load
    env._G = env
    return env
end

-- ---- values and errors ----

-- An error like those of bindings/errors.lua, without loading that module.
local Failure = {}
function Failure:__tostring() return self.message end

-- code: of os.exit, where that raises.
function embed.raise(status, message, code)
    error(setmetatable({ status = status, message = message, code = code }, Failure), 0)
end

function embed.export(value)
    if type(value) == 'table' and not package.loaded['bindings.buffer'] then return end
    return require('bindings.values').export(value)
end

function embed.import(address)
    return require('bindings.values').import(address)
end

-- Called after a failure.
function embed.recover()
    local handle = package.loaded['bindings.handle']
    if handle then handle.recover() end
end

-- ---- scenarios ----

-- words: of a command line.
function embed.open(name, words)
    words[#words + 1] = '--quiet'
    return require('mare').simulation(name, words)
end

function embed.close(sim)
    sim:release()
end

function embed.step(sim, n)
    sim:step(n)
end

-- Runs to time t, or to the end that the options name.
function embed.run(sim, t)
    if t and not (t > sim.t and t < math.huge) then
        require('bindings.errors').argument('mare_scenario_run: t = %g, the scenario is at %g', t,
            sim.t)
    end
    sim:run { t_end = t }
end

function embed.progress(sim)
    local grid, t_end = sim.grid, sim.desc.options.t_end or math.huge
    return {
        t = sim.t, dt = sim.dt, t_end = t_end, steps = sim.steps, nx = grid.nx, ny = grid.ny,
        fraction = math.min(1, sim.t / t_end),
        cells_per_second = sim.rates and sim.rates.cells_per_second or 0,
    }
end

local function type_number(name)
    return require('bindings.ffi').types[name]
end

function embed.field(sim, name)
    local simulation = rawget(sim, 'simulation')
    local grid = simulation.grid
    return { data = require('bindings.values').pointer(simulation:field(name):pointer()),
        nx = grid.nx, ny = grid.ny, type = type_number(simulation.precision) }
end

function embed.part(sim, index)
    local simulation = rawget(sim, 'simulation')
    local list = simulation.fields:native()
    local part = list[index + 1]
    if not part then
        require('bindings.errors').argument('mare_scenario_state: part %d, there are %d, from 0',
            index, #list)
    end
    return {
        buffer = require('bindings.values').pointer(part.buffer.handle),
        type = type_number(part.type), i0 = part.i0, j0 = part.j0, nx = part.nx, ny = part.ny,
        unknowns = #part.names, offset = part.offset, stride = part.stride, plane = part.plane,
    }
end

-- ---- start ----

-- Returns the globals of scripts, and the functions that C calls.
return function(home)
    embed.home = home
    redirect_output(home)
    listen(home)
    keep_process(embed.raise)
    guard_handlers(home)
    if not home.compiled then interpret_scripts(home) end
    return home.sandbox and sandbox() or _G, embed
end
