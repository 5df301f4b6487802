-- Tuning finds the fastest or most frugal variant of a kernel, or of the step
-- of a scenario. The call and its files are those of Kernel Tuner (van
-- Werkhoven 2019), in Lua:
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
-- Candidates are compiled ahead in worker processes, verified against an answer
-- and timed. With `cache`, an interrupted tuning continues where it stopped.

local checks = require 'mare.tune.checks'
local devices = require 'bindings.device'
local digest = require 'mare.tune.digest'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local here = require 'mare.ranks.here'
local opened_devices = require 'mare.array.devices'
local results = require 'mare.tune.results'
local runner = require 'mare.tune.runner'
local shapes = require 'mare.shapes'
local space = require 'mare.tune.space'
local strategies = require 'mare.tune.strategies'
local tables = require 'bindings.tables'

-- check_keep() raises an error if keep = true could not keep anything.
local tune = { strategies = strategies.names, sweep = require 'mare.tune.sweep',
    check_keep = shapes.check }

local function open_device(what, device)
    local opened = type(device) == 'table' and device or devices.open(device)
    opened_devices.check_kind(opened, what)
    return opened
end

local function open_devices(what, given)
    local list = opened_devices.open(type(given) == 'table' and given.info and { given } or given)
    for _, device in ipairs(list) do opened_devices.check_kind(device, what) end
    return list
end

-- Returns what is known of a tuning before it begins; it becomes the head of
-- the cache file.
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

-- Opens the results. Of several ranks the first has the file.
local function open_results(desc, target, candidates)
    local kept = results.open(here.rank == 0 and desc.cache or nil,
        header_of(desc, target, candidates), target.digest and function(key, params)
            local index = candidates.index_of[key]      -- JSON has fewer digits
            return target:digest(index and candidates:params(index) or params)
        end)
    kept.records = here.broadcast(kept.records)
    return kept
end

-- Sets the reason why there is no best candidate, taken from the first one.
-- Callers may read nothing else.
local function say_none(env, first, names, objective)
    local params = {}
    for k, name in ipairs(names) do params[k] = ('%s = %s'):format(name, tostring(first[name])) end
    local why = first.error or ('%s = %s, a number above 0 is wanted'):format(objective,
        tostring(first[objective]))
    events.note('tune: %s: %s; the first, %s: %s', env.kernel_name,
        first.error and 'no candidate is correct' or 'no candidate counts',
        table.concat(params, ', '), why)
end

-- Returns the records and what is known of them as a whole.
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
    if desc.output and here.rank == 0 then
        results.write_t4(desc.output, records, candidates.names, desc.objective == 'pareto'
            and { 'time', 'energy' } or { desc.objective or 'time' })
    end
    return records, env
end

-- Searches for a target, with its cache file, and releases both. keep(record)
-- keeps the best.
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

-- Returns the cells of a problem, in whatever form its size is given.
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

-- Tunes a kernel. desc has the fields at the head of this file, and:
--   kernel_source = text or function(params) -> text; lang = 'mare', 'cuda' or 'opencl'
--   problem_size = number, { x, y, z } or function(params)
--   arguments, answer = arrays and numbers by name or in order; answer nil: the result of the
--     first candidate; false: nothing is verified
--   atol = 1e-6 (NaN is right if NaN is expected) or verify = function(answer, found, atol)
--   grid_div_x, _y, _z = expressions by which problem_size is divided (block_size_x, ...)
--   restrictions = expressions or function(params)
--   defines, math, include_paths, compiler_options: as for device:program
--   strategy = 'brute_force' (tune.strategies() lists them)
--   strategy_options = { max_fevals =, time_limit = (s), seed = 1, ... }
--   objective = 'time' (ms), 'energy' (J), 'edp', 'pareto' or a metric, which must be above 0
--   objective_higher_is_better; metrics = { name = function(record) }
--   iterations = 7; early_stop = 3: a candidate slower than so many times the best is timed once
--   cache = file to continue from, which only one tuning at a time writes; a candidate that
--     crashes the device ends the tuning, and is skipped when a new process continues it
--   output = T4 file; device; workers
--   energy = true: energy is measured too; energy_seconds, energy_warm
--   keep = true: tune.best() returns the best candidate from now on
--   tell = function(record, count)
-- These parameters have a meaning: block_size_x, _y, _z, math = 'strict', 'fast', 'relaxed',
-- max_registers (0: no limit), compiler_options. All others are defines only.
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

-- Returns the parameters that tune.kernel has found and kept (keep = true) for
-- a kernel, an open device and a problem of this size or its size class; nil if
-- there are none.
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
    events.note('tune: %s: nothing is kept: %s', target.name, why)
end

-- Tunes the step of a scenario. desc: scenario = name or file; options = { nx
-- =, ... } as in a session, perhaps with `device`; tune_params = parameters of
-- its kernel's shape (W, GROUP, rows or resident, ...: see shapes/) and options
-- of the scenario; atol = 0: how far states may differ; keep = true: runs of
-- this scheme, size and device use the best shape from now on, unless the
-- shipped shape, which is then measured too, is as good (`kept` and `shipped`
-- of the second result); other fields as for tune.kernel. Times are per step. Of several
-- devices (options.device = 'cuda:0,cuda:1' or 'all') or ranks each has its parts, all take the
-- same steps, and the time is that of the slowest. All ranks make the call and get the same
-- records; `tell` is called on rank 0, which has the files.
function tune.scenario(desc)
    local list = open_devices('tune.scenario', checks.scenario(desc))
    if (here.size > 1 or #list > 1) and runner.needs_energy(desc) then
        errors.argument 'tune.scenario: energy is measured of one device on one rank'
    end
    local candidates = space.new(desc.tune_params, desc.restrictions)
    local given = setmetatable({ devices = list }, { __index = desc })
    local target = require('mare.tune.scenario').new(given, candidates.names)
    local records, env = search_and_release(desc, target, candidates, function(best)
        target:keep(best)
    end)
    if desc.keep then say_not_kept(desc, target, env) end
    return records, env
end

-- Does the same as tune.kernel with the arguments of Kernel Tuner's function of
-- this name, in its order. options: the other fields, by name.
function tune.tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, options)
    return tune.kernel(tables.merged({ kernel_name = kernel_name, kernel_source = kernel_source,
        problem_size = problem_size, arguments = arguments, tune_params = tune_params }, options))
end

-- Simulates a search with the records of a cache file that holds all
-- candidates, without a device, to judge a strategy. desc: { cache, strategy,
-- strategy_options, objective, objective_higher_is_better, output, tell }.
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
