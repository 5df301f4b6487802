-- Compiles ahead of use in worker processes. Each worker is this launcher
-- again; it compiles its jobs into the cache of programs, where the tuning
-- finds them. The workers return nothing: whoever needs a program that a worker
-- is compiling waits for the lock of the cache, and a program that does not
-- compile fails again, with its message, where it is needed.
--
-- Jobs are lines of a file in memory, which vanishes when this process ends in
-- any way. A worker receives one line on its standard input for each of its
-- jobs. It ends when the file is gone, after its present job.

local device = require 'bindings.device'
local files = require 'bindings.files'
local home = require 'bindings.home'
local json = require 'mare.base.json'
local system = require 'bindings.system'

local ahead = {}

-- The function compile(device, job) for each kind of job { kind =, ... }.
local compilers = {
    kernel = function() return require('mare.tune.kernel').compile end,
    scenario = function() return require('mare.tune.scenario').compile end,
}

local Ahead = {}
Ahead.__index = Ahead

local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- The main function of a worker: compiles the jobs in the lines `first`, first
-- + step, ... of the file.
function ahead.work(path, device_name, first, step)
    local d, parent = device.open(device_name), system.parent()
    local line, offset = 0, 0
    for _ in io.lines() do
        local file = system.parent() == parent and io.open(path, 'rb')
        if not file then return end
        file:seek('set', offset)
        local text
        repeat
            text, line = file:read '*l', line + 1
        until not text or line % step == first % step
        offset = file:seek()
        file:close()
        local job = text and json.decode(text)
        if job then pcall(compilers[job.kind](), d, job) end
    end
end

-- workers: the most processes; nil: one per core. There are none without a
-- launcher.
function ahead.new(d, workers)
    local count = math.min(workers or math.huge, system.cores())
    return setmetatable({ device = d, count = home.launcher and count or 0, pipes = {}, jobs = 0,
        path = nil }, Ahead)
end

local function start(self, k)
    local code = string.format("require('mare.tune.ahead').work(%q, %q, %d, %d)", self.path,
        self.device.name, k, self.count)
    return io.popen(string.format('exec %s -e %s >/dev/null 2>&1', quoted(home.launcher),
        quoted(code)), 'w')
end

-- Queues an array of jobs { kind = 'kernel' or 'scenario', ... } in this order.
-- Returns at once; but with a CPU as the device, whose cores are needed for
-- measuring, it waits until all jobs are done.
function Ahead:queue(jobs)
    if self.count == 0 or #jobs < 2 then return end
    if not self.path then self.path, self.close = files.in_memory 'jobs' end
    local file = assert(io.open(self.path, 'a'))
    for _, job in ipairs(jobs) do file:write(json.encode(job), '\n') end
    file:close()
    for _ = 1, #jobs do
        local k = self.jobs % self.count + 1
        self.jobs = self.jobs + 1
        self.pipes[k] = self.pipes[k] or start(self, k)
        self.pipes[k]:write '\n'
        self.pipes[k]:flush()
    end
    if self.device.info.kind == 'cpu' then self:finish() end
end

local function wait(self)
    for k, pipe in pairs(self.pipes) do
        pipe:close()
        self.pipes[k] = nil
    end
end

local function drop(self)
    if self.path then self.close() end
    self.path, self.jobs = nil, 0
end

-- Waits until all jobs are done.
function Ahead:finish()
    wait(self)
    drop(self)
end

-- Drops the jobs that have not begun.
function Ahead:stop()
    drop(self)
    wait(self)
end

return ahead
