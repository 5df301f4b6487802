-- Compilation ahead of use, in processes of their own: each is this launcher again, which compiles
-- what it is told into the cache of programs, where the tuning finds it. Nothing comes back from
-- them: who asks for a program that one is compiling waits for the cache's lock, and what fails
-- there fails again, with its message, where it is wanted.
--
-- Jobs are lines of a file in memory, which ends with this process, however that ends. A worker is
-- woken through its standard input, a line for each of its jobs, and ends when the file is gone:
-- after the job that it is at.

local device = require 'bindings.device'
local files = require 'bindings.files'
local host = require 'bindings.host'
local json = require 'dkjson'
local system = require 'bindings.system'

local ahead = {}

-- What compiles a job { kind =, ... } in a worker, as compile(device, job).
local compilers = {
    kernel = function() return require('mare.tune.kernel').compile end,
    scenario = function() return require('mare.tune.scenario').compile end,
}

local Ahead = {}
Ahead.__index = Ahead

local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- What a worker runs: the jobs of the lines `first`, first + step, ... of the file.
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

-- workers: how many at most, as many as there are cores if nil. None where there is no launcher.
function ahead.new(d, workers)
    local count = math.min(workers or math.huge, system.cores())
    return setmetatable({ device = d, count = host.launcher and count or 0, pipes = {}, jobs = 0,
        path = nil }, Ahead)
end

local function start(self, k)
    local code = string.format("require('mare.tune.ahead').work(%q, %q, %d, %d)", self.path,
        self.device.name, k, self.count)
    return io.popen(string.format('exec %s -e %s >/dev/null 2>&1', quoted(host.launcher),
        quoted(code)), 'w')
end

-- Has an array of jobs { kind = 'kernel' or 'scenario', ... } done, in this order. Returns at once,
-- but for a CPU, whose cores are wanted for measuring: then when all are done.
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

-- Drops what is not begun.
function Ahead:stop()
    drop(self)
    wait(self)
end

return ahead
