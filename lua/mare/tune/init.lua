-- Tuning: finds the fastest, or most frugal, of many variants of a kernel or of a scenario's step.
-- The call and its files are those of Kernel Tuner (van Werkhoven 2019), in Lua:
--
--     local records, env = mare.tune.kernel {
--         kernel_name = 'add', kernel_source = text, problem_size = n, lang = 'mare',
--         arguments = { n = n, a = a, b = b, c = c },
--         tune_params = { block_size_x = { 32, 64, 128 }, W = { 1, 2, 4 } },
--         grid_div_x = { 'block_size_x', 'W' }, restrictions = { 'block_size_x * W <= 256' },
--         strategy = 'bayes_opt', strategy_options = { max_fevals = 40 }, cache = 'add.json',
--     }
--     print(env.best_config.time)
--
-- Each candidate is compiled in processes of their own ahead of use, verified against an answer and
-- timed. With `cache` an interrupted tuning goes on where it was.

local checks = require 'mare.tune.checks'
local devices = require 'bindings.device'
local digest = require 'mare.tune.digest'
local errors = require 'bindings.errors'
local parts = require 'mare.array.devices'
local results = require 'mare.tune.results'
local runner = require 'mare.tune.runner'
local shapes = require 'mare.shapes'
local space = require 'mare.tune.space'
local strategies = require 'mare.tune.strategies'

-- check_keep() raises where keep = true could keep nothing.
local tune = { strategies = strategies.names, sweep = require 'mare.tune.sweep',
    check_keep = shapes.check }

local function open_device(what, device)
    local opened = type(device) == 'table' and device or devices.open(device)
    parts.check_kind(opened, what)
    return opened
end

-- What is known of a tuning before it begins, as the head of its cache file.
local function header_of(desc, target, candidates)
    local params = {}
    for k, name in ipairs(candidates.names) do params[name] = candidates.values[k] end
    local size = target.problem_size
    return {
        device_name = target.device.info.model, kernel_name = target.name,
        problem_size = type(size) == 'function' and 'depends on parameters' or size,
        tune_params_keys = candidates.names, tune_params = params,
        objective = desc.objective or 'time',
        digest = desc.cache
            and digest.of { digest.of_mare(), target:identity() },
    }
end

local function open_results(desc, target, candidates)
    return results.open(desc.cache, header_of(desc, target, candidates),
        target.digest and function(key, params)
            local index = candidates.index_of[key]      -- JSON has fewer digits
            return target:digest(index and candidates:params(index) or params)
        end)
end

-- Why there is no best one, by the first: the caller may look at no other.
local function say_none(env, first, names, objective)
    local params = {}
    for k, name in ipairs(names) do params[k] = ('%s = %s'):format(name, tostring(first[name])) end
    local why = first.error or ('%s = %s, a number above 0 is wanted'):format(objective,
        tostring(first[objective]))
    io.stderr:write('mare: tune: ', env.kernel_name, ': ',
        first.error and 'no candidate is correct' or 'no candidate counts', '; the first, ',
        table.concat(params, ', '), ': ', why, '\n')
end

-- The records and what is to be said of them all.
local function search(desc, target, candidates, kept, replay)
    local records, best, is_worth, shipped = runner.run {
        target = target, space = candidates, results = kept, replay = replay,
        strategy = desc.strategy or 'brute_force', strategy_options = desc.strategy_options or {},
        objective = desc.objective or 'time', higher_is_better = desc.objective_higher_is_better,
        iterations = desc.iterations or 7, early_stop = desc.early_stop or 3,
        energy = desc.energy, energy_seconds = desc.energy_seconds, energy_warm = desc.energy_warm,
        metrics = desc.metrics, workers = desc.workers, tell = desc.tell, keep = desc.keep,
    }
    local env = { device_name = kept.header.device_name, kernel_name = kept.header.kernel_name,
        problem_size = kept.header.problem_size, best_config = best, evaluations = #records,
        space = candidates.size, kept = is_worth, shipped = shipped }
    if records[1] and not best then
        say_none(env, records[1], candidates.names, desc.objective or 'time')
    end
    if desc.objective == 'pareto' then env.pareto = runner.pareto(records) end
    if desc.output then
        results.write_t4(desc.output, records, candidates.names, desc.objective == 'pareto'
            and { 'time', 'energy' } or { desc.objective or 'time' })
    end
    return records, env
end

-- The same of a target, with its cache file; both are released then. keep(record) keeps the best.
local function search_and_release(desc, target, candidates, keep)
    local kept
    local ok, records, env = pcall(function()
        kept = open_results(desc, target, candidates)
        local records, env = search(desc, target, candidates, kept)
        if env.kept then keep(env.best_config) end
        return records, env
    end)
    if kept then kept:release() end
    target:release()
    if not ok then error(records, 0) end
    return records, env
end

-- The cells of a problem, whatever way its size is given.
local function cells_of(size)
    local cells = 1
    for _, n in ipairs(type(size) == 'table' and size or { size }) do cells = cells * n end
    return cells
end

local function keep_kernel(target, names, record)
    local shape = {}
    for _, name in ipairs(names) do shape[name] = record[name] end
    shapes.put { kernel = target.name, device = target.device.info.model, shape = shape,
        size = shapes.size(cells_of(target.problem_size)), time = record.time,
        energy = record.energy }
end

-- Tunes a kernel. desc, beside what the head of this file shows:
--   kernel_source = text or function(params) -> text; lang = 'mare', 'cuda' or 'opencl'
--   problem_size = number, { x, y, z } or function(params)
--   arguments, answer = arrays and numbers by name or in order; answer nil: what the first
--     candidate gives, false: nothing is verified
--   atol = 1e-6 (a NaN is right where one is expected) or verify = function(answer, found, atol)
--   grid_div_x, _y, _z = expressions by which problem_size is divided (block_size_x, ...)
--   restrictions = expressions or function(params)
--   defines, math, include_paths, compiler_options: as of device:program
--   strategy = 'brute_force' (tune.strategies() lists them)
--   strategy_options = { max_fevals =, time_limit = (s), seed = 1, ... }
--   objective = 'time' (ms), 'energy' (J), 'edp', 'pareto' or a metric, which must be above 0
--   objective_higher_is_better; metrics = { name = function(record) }
--   iterations = 7; early_stop = 3: times the best beyond which one is timed once
--   cache = file to go on from, which one tuning at a time writes; a candidate that faults the
--     device ends the tuning and is passed over when it goes on, in a new process
--   output = T4 file; device; workers
--   energy = true: measured too; energy_seconds, energy_warm
--   keep = true: tune.best() tells the best from now on
--   tell = function(record, count)
-- Parameters with a meaning: block_size_x, _y, _z, math = 'strict', 'fast', 'relaxed',
-- max_registers (0: no limit), compiler_options; all others are defines only.
-- Returns the records in the order of the search, and { best_config, pareto, evaluations, space,
-- device_name, ... }.
function tune.kernel(desc)
    checks.kernel(desc)
    local candidates = space.new(desc.tune_params, desc.restrictions)
    local given = setmetatable({ device = open_device('tune.kernel', desc.device) },
        { __index = desc })
    local target = require('mare.tune.kernel').new(given, candidates)
    return search_and_release(desc, target, candidates, function(best)
        keep_kernel(target, candidates.names, best)
    end)
end

-- The parameters that tune.kernel has found and kept (keep = true) for a kernel, an open device and
-- a problem of this size or one within its class; nil if there are none.
function tune.best(kernel_name, device, problem_size)
    if type(device) ~= 'table' or not device.info then
        errors.argument('tune.best: an open device is wanted, not a %s', type(device))
    end
    local size = shapes.size(cells_of(problem_size))
    for _, entry in ipairs(shapes.kept()) do
        if entry.kernel == kernel_name and not entry.scheme and entry.size == size
            and entry.device == device.info.model then
            return entry.shape
        end
    end
end

local function say_not_kept(desc, target, env)
    if env.kept or not env.best_config then return end
    local what = desc.objective or 'time'
    if what == 'pareto' then what = 'edp' end
    local why = ('%s of the shipped shape is %.4g, of the best that was tried %.4g'):format(what,
        env.shipped[what], env.best_config[what])
    io.stderr:write('mare: tune: ', target.name, ': nothing is kept: ', why, '\n')
end

-- Tunes the step of a scenario. desc: scenario = name or file, options = { nx =, ... } as a session
-- gives them, `device` too if it is not given beside, tune_params = fields of its kernel's shape
-- (W, GROUP, rows or resident, ...: see shapes.lua) and options of the scenario, atol = 0: how far
-- states may be apart; keep = true: runs of this scheme, size and device use the best from now on,
-- unless the shipped shape, which is then measured too, is as good (`kept` and `shipped` of the
-- second result tell); the others as of tune.kernel. Times are of one step.
function tune.scenario(desc)
    local device = checks.scenario(desc)
    local candidates = space.new(desc.tune_params, desc.restrictions)
    local given = setmetatable({ device = open_device('tune.scenario', device) },
        { __index = desc })
    local target = require('mare.tune.scenario').new(given, candidates.names)
    local records, env = search_and_release(desc, target, candidates, function(best)
        target:keep(best)
    end)
    if desc.keep then say_not_kept(desc, target, env) end
    return records, env
end

-- The same with the arguments of Kernel Tuner's function of this name, in its order; options: the
-- others, by name.
function tune.tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, options)
    local desc = { kernel_name = kernel_name, kernel_source = kernel_source,
        problem_size = problem_size, arguments = arguments, tune_params = tune_params }
    for name, value in pairs(options or {}) do desc[name] = value end
    return tune.kernel(desc)
end

-- A search through the records of a cache file that holds all candidates, without a device: how
-- good a strategy is. desc: { cache, strategy, strategy_options, objective,
-- objective_higher_is_better, output, tell }
function tune.replay(desc)
    checks.replay_fields(desc)
    local known = results.read(desc.cache)
    checks.replay(desc, known)
    local records = known.records
    local keys = known.header.tune_params_keys
    local candidates = space.new(known.header.tune_params, function(params)
        return records[space.key(params, keys)] ~= nil
    end, keys)
    local kept = setmetatable({ add = function() end }, { __index = known })
    return search(desc, { device = false }, candidates, kept, true)
end

return tune
