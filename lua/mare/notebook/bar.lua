-- bar.lua - the listener of a kernel to what Mare says: the progress of a run is a bar
-- that is drawn anew, and pictures of one run follow each other in one place. Everything
-- else is text, as on a terminal.

local display = require 'mare.notebook.display'
local events = require 'mare.base.events'
local terminal = require 'mare.base.terminal'

local bar = {}

local pause = 0.25          -- seconds between two looks of the bar

-- Returns the bundle of a bar. percent: how far it is
local function bundle(percent, text)
    return { ['text/plain'] = text, ['text/html'] = ('<progress max="100" value="%.1f" '
        .. 'style="width:40%%"></progress> <code>%s</code>'):format(percent,
        display.escaped(text)) }
end

-- Shows the progress of the run; a bar that is there already changes.
local function show(self, run)
    local shown = bundle(run.percent, run.message)
    if run.id then self.kernel:update(run.id, shown)
    else run.id = self.kernel:show(shown, true) end
end

local hearing = {}

function hearing.start(self, event) self.runs[event.run or ''] = {} end

function hearing.progress(self, event)
    local run = self.runs[event.run or '']
    if not run or not event.percent or event.quiet then return end
    run.percent, run.message = event.percent, event.message
    show(self, run)
end

-- A bar says in the end where the run is then.
local function finish(self, event)
    local run = self.runs[event.run or '']
    if run and run.id then
        run.percent = event.kind == 'end' and 100 or run.percent
        run.message = event.kind == 'end' and ('done, t = %.4g, step %.0f'):format(event.t or 0,
            event.step or 0) or 'ended: ' .. tostring(event.reason or event.status or 'failure')
        show(self, run)
    end
    self.runs[event.run or ''] = nil
end
hearing['end'], hearing.failure = finish, finish

-- Makes the kernel the listener instead of the terminal.
function bar.install(kernel)
    events.mute()
    local plain = terminal.new { is_terminal = false }
    local self = { kernel = kernel, runs = {} }
    events.listen { pause = pause, hear = function(event)
        local hear = hearing[event.kind]
        if hear then hear(self, event) end
        if event.kind ~= 'progress' then plain.hear(event) end
    end }
    kernel.running = function()
        local _, run = next(self.runs)
        return run
    end
end

return bar
