-- front.lua - what a cell asks of the front end, by the name `notebook`:
--
--     notebook.display(x)                     shows x here and now, as the last line of a cell does
--     local d = notebook.display(x, true)     the same; d:update(y) shows y in its place
--     notebook.clear()                        takes away what the cell has shown
--     notebook.page 'text'                    shows a text apart, as help does
--     local s = notebook.slider { label = 'cfl', greatest = 0.5 }     s.value: where it stands
--     local name = notebook.ask 'Name: '      asks the user; notebook.ask('Key: ', true) hides it

local display = require 'mare.notebook.display'
local errors = require 'bindings.errors'
local sliders = require 'mare.notebook.sliders'

local front = {}

local Shown = {}
Shown.__index = Shown

-- Shows another value in the place of the one before. Returns the same.
function Shown:update(value)
    self.kernel:update(self.id, display.bundle(value) or { ['text/plain'] = '' })
    return self
end

function Shown.__tostring() return 'a place in a notebook: its update(x) shows x there' end

-- Shows a value at this point of the output. With `changes`, returns an object whose
-- update(value) shows another one in its place.
local function show(kernel, value, changes)
    local bundle = display.bundle(value)
    if not bundle then return nil end
    local id = kernel:show(bundle, changes)
    return changes and setmetatable({ kernel = kernel, id = id }, Shown) or nil
end

-- Shows a text apart, where the front end can do so.
local function page(kernel, text)
    if type(text) ~= 'string' then errors.argument('notebook.page: a text is wanted') end
    kernel:page(text)
end

-- Returns what the user answers, as a text.
local function ask(kernel, prompt, is_hidden)
    return kernel:ask(tostring(prompt or ''), is_hidden == true)
end

-- ---- io.read ----

local function number_of(text)
    return tonumber(text:match '^%s*(%S+)')
end

-- io.read() and io.read '*n' ask the user for a line each.
local function read(kernel, ...)
    local values, wanted = {}, { ... }
    if #wanted == 0 then wanted[1] = '*l' end
    for k, what in ipairs(wanted) do
        local text = kernel:ask('', false)
        local kind = tostring(what):gsub('^%*', ''):sub(1, 1)
        if kind == 'n' then values[k] = number_of(text)
        elseif kind == 'L' then values[k] = text .. '\n'
        elseif type(what) == 'number' then values[k] = text:sub(1, what)
        else values[k] = text end
        if values[k] == nil then return unpack(values, 1, k) end
    end
    return unpack(values, 1, #wanted)
end

-- The front end would wait for the reply of a cell that ended the kernel.
local function no_exit(code)
    errors.argument('os.exit(%s): a cell does not end its kernel; the menu of the notebook does',
        code == nil and '' or tostring(code))
end

-- Gives a session the names of a notebook.
function front.install(kernel, environment)
    local methods = {
        display = function(value, changes) return show(kernel, value, changes) end,
        clear = function(waits) kernel:clear(waits == true) end,
        page = function(text) page(kernel, text) end,
        slider = function(desc) return sliders.new(kernel, desc) end,
        ask = function(prompt, is_hidden) return ask(kernel, prompt, is_hidden) end,
    }
    environment.notebook = setmetatable({}, { __index = methods, __methods = methods,
        __tostring = function() return 'the notebook: display, clear, page, ask, slider' end })
    environment.io = setmetatable({ read = function(...) return read(kernel, ...) end },
        { __index = io })
    environment.os = setmetatable({ exit = no_exit }, { __index = os })
end

return front
