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

local devices = require 'bindings.device'
local digest = require 'mare.tune.digest'
local errors = require 'bindings.errors'
local results = require 'mare.tune.results'
local runner = require 'mare.tune.runner'
local shapes = require 'mare.shapes'
local space = require 'mare.tune.space'
local strategies = require 'mare.tune.strategies'

local tune = { strategies = strategies.names, sweep = require 'mare.tune.sweep' }

local common = {
    tune_params = 'table', restrictions = 'any', strategy = 'string', strategy_options = 'table',
    objective = 'string', objective_higher_is_better = 'boolean', iterations = 'number',
    early_stop = 'number', metrics = 'table', cache = 'string', output = 'string', device = 'any',
    workers = 'number', energy = 'boolean', energy_seconds = 'number', energy_warm = 'number',
    keep = 'boolean', tell = 'function',
}

local kernel_fields = {
    kernel_name = 'string', kernel_source = 'any', problem_size = 'any', arguments = 'table',
    lang = 'string', answer = 'any', atol = 'number', verify = 'function', grid_div_x = 'any',
    grid_div_y = 'any', grid_div_z = 'any', defines = 'table', compiler_options = 'table',
    include_paths = 'table', math = 'string',
}

local replay_fields = {
    cache = 'string', strategy = 'string', strategy_options = 'table', objective = 'string',
    objective_higher_is_better = 'boolean', output = 'string', tell = 'function',
}

local scenario_fields = { scenario = 'string', options = 'table', atol = 'number' }

local function check(what, desc, own, wanted)
    local allowed = {}
    for _, list in ipairs { common, own } do
        for name, rule in pairs(list) do allowed[name] = rule end
    end
    errors.fields(what, desc, allowed)
    for _, name in ipairs(wanted) do
        if desc[name] == nil then errors.argument('%s: %s is missing', what, name) end
    end
    strategies.check(desc.strategy or 'brute_force', desc.strategy_options)
    if desc.iterations and desc.iterations < 1 then
        errors.argument('%s: iterations = %g (allowed: 1 or more)', what, desc.iterations)
    end
end

local function check_size(size)
    for _, n in ipairs(type(size) == 'table' and size or { size }) do
        if type(n) == 'number' and n < 1 then
            errors.argument('tune.kernel: problem_size = %g (allowed: 1 or more)', n)
        end
    end
end

local function open_device(device)
    return type(device) == 'table' and device or devices.open(device)
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
    if type(target.problem_size) == 'function' then
        errors.argument 'tune.kernel: keep wants a problem_size that is no function'
    end
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
--   cache = file to go on from; output = T4 file; device; workers
--   energy = true: measured too; energy_seconds, energy_warm
--   keep = true: tune.best() tells the best from now on
--   tell = function(record, count)
-- Parameters with a meaning: block_size_x, _y, _z, math = 'strict', 'fast', 'relaxed',
-- max_registers (0: no limit), compiler_options; all others are defines only.
-- Returns the records in the order of the search, and { best_config, pareto, evaluations, space,
-- device_name, ... }.
function tune.kernel(desc)
    check('tune.kernel', desc, kernel_fields,
        { 'kernel_name', 'kernel_source', 'problem_size', 'arguments', 'tune_params' })
    check_size(desc.problem_size)
    local candidates = space.new(desc.tune_params, desc.restrictions)
    local given = setmetatable({ device = open_device(desc.device) }, { __index = desc })
    local target = require('mare.tune.kernel').new(given, candidates.names)
    return search_and_release(desc, target, candidates, function(best)
        keep_kernel(target, candidates.names, best)
    end)
end

-- The parameters that tune.kernel has found and kept (keep = true) for a kernel, an open device and
-- a problem of this size or one within its class; nil if there are none.
function tune.best(kernel_name, device, problem_size)
    local size = shapes.size(cells_of(problem_size))
    for _, entry in ipairs(shapes.kept()) do
        if entry.kernel == kernel_name and not entry.scheme and entry.size == size
            and entry.device == device.info.model then
            return entry.shape
        end
    end
end

local function say_not_kept(desc, target, env)
    local what = desc.objective or 'time'
    if what == 'pareto' then what = 'edp' end
    local why = env.best_config and ('%s of the shipped shape is %.4g, of the best that was tried '
        .. '%.4g'):format(what, env.shipped[what], env.best_config[what])
        or 'no candidate is correct'
    io.stderr:write('mare: tune: ', target.name, ': nothing is kept: ', why, '\n')
end

-- Tunes the step of a scenario. desc: scenario = name or file, options = { nx =, ... } as a session
-- gives them, tune_params = fields of its kernel's shape (W, GROUP, rows or resident, ...: see
-- shapes.lua) and options of the scenario, atol = 0: how far states may be apart; keep = true: runs
-- of this scheme, size and device use the best from now on, unless the shipped shape, which is then
-- measured too, is as good (`kept` and `shipped` of the second result tell); the others as of
-- tune.kernel. Times are of one step.
function tune.scenario(desc)
    check('tune.scenario', desc, scenario_fields, { 'scenario', 'tune_params' })
    local candidates = space.new(desc.tune_params, desc.restrictions)
    local given = setmetatable({ device = open_device(desc.device) }, { __index = desc })
    local target = require('mare.tune.scenario').new(given, candidates.names)
    local records, env = search_and_release(desc, target, candidates, function(best)
        target:keep(best)
    end)
    if desc.keep and not env.kept then say_not_kept(desc, target, env) end
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
    errors.fields('tune.replay', desc, replay_fields)
    if not desc.cache then errors.argument 'tune.replay: cache is missing' end
    local known = results.read(desc.cache)
    strategies.check(desc.strategy or 'brute_force', desc.strategy_options)
    local records = known.records
    local keys = known.header.tune_params_keys
    local candidates = space.new(known.header.tune_params, function(params)
        return records[space.key(params, keys)] ~= nil
    end, keys)
    local kept = setmetatable({ add = function() end }, { __index = known })
    return search(desc, { device = false }, candidates, kept, true)
end

return tune
