-- sliders.lua - sliders that a user moves while a simulation runs, by the messages of Jupyter's
-- widgets (version 2.1 of their protocol; the front end needs ipywidgets):
--
--     s = notebook.slider { label = 'cfl', least = 0.1, greatest = 0.5, value = 0.4 }
--     for k = 1, 100 do sim.cfl = s.value sim:step(10) end
--
-- A move is kept by the thread and read with s.value, at any time.

local display = require 'mare.notebook.display'
local errors = require 'bindings.errors'
local here = require 'mare.ranks.here'
local json = require 'mare.notebook.encoding'
local sodium = require 'bindings.sodium'

local sliders = {}

local version = '2.0.0'     -- of the models
local given = { label = 'string', least = 'number', greatest = 'number', value = 'number',
    step = 'number' }

local function model(library, name, view_library, view, state)
    local prefix = '@jupyter-widgets/'
    state._model_module, state._view_module = prefix .. library, prefix .. view_library
    state._model_module_version, state._view_module_version = version, version
    state._model_name, state._view_name, state._view_count = name, view, json.null
    return state
end

-- Opens a model at the front end; returns its name.
local function open(kernel, state)
    local id = sodium.name()
    kernel.comms[id] = { target_name = 'jupyter.widget', state = state }
    kernel:publish('comm_open', { comm_id = id, target_name = 'jupyter.widget',
        data = { state = state, buffer_paths = json.array() } }, { version = '2.1.0' })
    return id
end

local Slider = {}

function Slider.__index(self, key)
    if key ~= 'value' then return rawget(Slider, key) end
    self.kernel:poll()
    return self.state.value
end

function Slider:__tostring() return ('slider %s: %g'):format(self.state.description, self.value) end

-- Shows a slider, and returns an object whose `value` is where it stands. desc: { label =, least =
-- (0), greatest = (1), value = (least), step = (a hundredth of the range) }
function sliders.new(kernel, desc)
    desc = errors.fields('notebook.slider', desc or {}, given)
    if here.size > 1 then
        errors.argument 'notebook.slider: on several ranks values come by notebook.ask'
    end
    local least, greatest = desc.least or 0, desc.greatest or 1
    local value = desc.value or least
    if not (least < greatest and value >= least and value <= greatest) then
        errors.argument('notebook.slider: value = %g (allowed: %g to %g, of which the first is '
            .. 'less)', value, least, greatest)
    end
    local layout = open(kernel, model('base', 'LayoutModel', 'base', 'LayoutView', {}))
    local style = open(kernel, model('controls', 'SliderStyleModel', 'base', 'StyleView', {}))
    local state = model('controls', 'FloatSliderModel', 'controls', 'FloatSliderView', {
        value = value, min = least, max = greatest, step = desc.step or (greatest - least) / 100,
        description = desc.label or '', layout = 'IPY_MODEL_' .. layout,
        style = 'IPY_MODEL_' .. style, continuous_update = true, readout = true,
        readout_format = '.4g', orientation = 'horizontal', disabled = false })
    local id = open(kernel, state)
    kernel:show { ['text/plain'] = ('%s: %g'):format(state.description, value),
        ['text/html'] = ('<code>%s: %g</code>'):format(display.escaped(state.description), value),
        ['application/vnd.jupyter.widget-view+json'] = { version_major = 2, version_minor = 0,
            model_id = id } }
    return setmetatable({ kernel = kernel, state = state }, Slider)
end

-- Takes a message of the front end to a model: a move, or a question how it stands, as a front end
-- asks after a reload. head: the header of the message, where it is not the current request
function sliders.hear(kernel, content, head)
    local comm, data = kernel.comms[tostring(content.comm_id)], content.data
    if not comm or type(data) ~= 'table' then return end
    if data.method == 'update' and type(data.state) == 'table' then
        if type(data.state.value) == 'number' then comm.state.value = data.state.value end
    elseif data.method == 'request_state' then
        local answer = { comm_id = content.comm_id, data = { method = 'update',
            state = comm.state, buffer_paths = json.array() } }
        if head then kernel:answer(head, 'comm_msg', answer)
        else kernel:publish('comm_msg', answer) end
    end
end

return sliders
