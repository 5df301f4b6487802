-- Checks a call of mare.tune before anything is compiled or measured.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local program = require 'bindings.program'
local range = require 'mare.tune.range'
local results = require 'mare.tune.results'
local runner = require 'mare.tune.runner'
local shapes = require 'mare.shapes'
local strategies = require 'mare.tune.strategies'
local tables = require 'bindings.tables'

local checks = {}

local common = {
    tune_params = 'table', restrictions = 'any', strategy = 'string', strategy_options = 'table',
    objective = 'string', objective_higher_is_better = 'boolean', iterations = 'number',
    early_stop = 'number', metrics = 'table', cache = 'string', output = 'string', device = 'any',
    workers = 'number', energy = 'boolean', energy_seconds = 'number', energy_warm = 'number',
    keep = 'boolean', tell = 'function', atol = 'number',
}

local maths = { strict = true, fast = true, relaxed = true }

local kernel_fields = {
    kernel_name = 'string', kernel_source = 'any', problem_size = 'any', arguments = 'table',
    lang = 'string', answer = 'any', verify = 'function', grid_div_x = 'any', grid_div_y = 'any',
    grid_div_z = 'any', defines = 'table', compiler_options = 'table', include_paths = 'table',
    math = maths,
}

local scenario_fields = { scenario = 'string', options = 'table' }

local replay_fields = { cache = 'string', strategy = 'string', strategy_options = 'table',
    objective = 'string', objective_higher_is_better = 'boolean', output = 'string',
    tell = 'function' }

local ranges = { iterations = { 1, whole = true }, early_stop = { 1 }, atol = { 0 },
    workers = { 0, whole = true }, energy_seconds = { 1e-3, 3600 }, energy_warm = { 0, 3600 } }

-- ---- names ----

local function check_objective(objective, allowed)
    if allowed[objective] then return end
    errors.argument("tune: objective = '%s' (allowed: %s)", objective, tables.names(allowed))
end

-- Refuses names that records use for something else.
local function check_own(what, name)
    if results.own[name] then
        errors.argument("tune: %s '%s' has the name of a field of each record (taken: %s)", what,
            name, results.own_names())
    end
end

local function check_metrics(desc)
    for name, f in pairs(desc.metrics or {}) do
        if type(name) ~= 'string' or type(f) ~= 'function' then
            errors.argument("tune: metric '%s' is a %s (allowed: functions, by name)",
                tostring(name), type(f))
        end
        check_own('metric', name)
        if desc.tune_params[name] then
            errors.argument("tune: metric '%s' has the name of a parameter", name)
        end
    end
end

-- ---- files ----

local function check_file(what, check, path)
    local ok, reason = pcall(check, path)
    if ok then return end
    errors.argument('%s: %s', what, errors.is(reason) and reason.message or tostring(reason))
end

local function check_files(what, desc)
    if desc.output then check_file(what .. ': output', files.check, desc.output) end
    if desc.keep then check_file(what .. ': keep', shapes.check) end
end

-- ---- calls ----

local function check(what, desc, own, wanted)
    errors.fields(what, desc, tables.merged(common, own))
    errors.needs(what, desc, wanted)
    strategies.check(desc.strategy or 'brute_force', desc.strategy_options)
    range(what, desc, ranges)
    for name in pairs(desc.tune_params) do check_own('parameter', name) end
    check_metrics(desc)
    check_objective(desc.objective or 'time', tables.merged(runner.objectives, desc.metrics))
    check_files(what, desc)
end

local function is_device(given)
    return given == nil or type(given) == 'string' or type(given) == 'table' and given.info
end

local function check_device(what, given)
    if not is_device(given) then
        errors.argument('%s: device is a %s (allowed: a name, an open device)', what, type(given))
    end
end

-- Checks the problem size of a kernel that is kept: the size is the key to find
-- it again.
local function check_numbers(size)
    for _, n in ipairs(type(size) == 'table' and size or { size }) do
        if type(n) ~= 'number' then
            errors.argument('tune.kernel: keep wants a problem_size of numbers, not a %s', type(n))
        end
    end
end

local function check_texts(name, list)
    for k, text in pairs(list or {}) do
        if type(text) ~= 'string' then
            errors.argument('tune.kernel: %s[%s] is a %s, not a text', name, tostring(k),
                type(text))
        end
    end
end

local definable = { string = true, number = true, boolean = true }

local function check_defines(defines)
    for name, value in pairs(defines or {}) do
        if type(name) ~= 'string' or not definable[type(value)] then
            errors.argument('tune.kernel: defines: %s is a %s (allowed: numbers, texts, true and '
                .. 'false, by name)', tostring(name), type(value))
        end
    end
end

local sources = { ['string'] = true, ['function'] = true }

-- Checks what device:program will receive.
local function check_program(desc)
    local source, answer = type(desc.kernel_source), type(desc.answer)
    if not sources[source] then
        errors.argument('tune.kernel: kernel_source is a %s (allowed: a text, a function)', source)
    elseif not program.languages[(desc.lang or 'mare'):lower()] then
        errors.argument("tune.kernel: lang = '%s' (allowed: %s)", desc.lang,
            tables.names(program.languages))
    elseif answer ~= 'table' and desc.answer then
        errors.argument('tune.kernel: answer is a %s (allowed: a table of arrays, false)', answer)
    end
    for _, math in ipairs(desc.tune_params.math or {}) do
        errors.fields('tune.kernel: tune_params', { math = math }, { math = maths })
    end
    check_texts('compiler_options', desc.compiler_options)
    check_texts('include_paths', desc.include_paths)
    check_defines(desc.defines)
end

-- Refuses a call of tune.kernel that is wrong for every kernel.
function checks.kernel(desc)
    check('tune.kernel', desc, kernel_fields,
        { 'kernel_name', 'kernel_source', 'problem_size', 'arguments', 'tune_params' })
    check_device('tune.kernel', desc.device)
    check_program(desc)
    if desc.keep then check_numbers(desc.problem_size) end
end

-- Does the same for tune.scenario. Returns its devices, which may be among the options, as
-- a name, names or an array.
function checks.scenario(desc)
    check('tune.scenario', desc, scenario_fields, { 'scenario', 'tune_params' })
    local other = desc.options and desc.options.device
    if type(other) == 'table' and other[1] and not other[2] then other = other[1] end
    if desc.device and other then
        errors.argument 'tune.scenario: device and options.device are given: one of them is wanted'
    end
    if type(other) == 'table' and other[2] then return other end
    check_device('tune.scenario', desc.device or other)
    return desc.device or other
end

-- Returns the names of the numbers in records as the keys of a table.
local function measured(known)
    local names, is_param = {}, tables.set(known.header.tune_params_keys)
    for _, record in pairs(known.records) do
        for name, value in pairs(record) do
            if type(value) == 'number' and not is_param[name] then names[name] = true end
        end
    end
    names.pareto = names.energy
    return names
end

-- Does the same for tune.replay. known: the contents of its cache file.
function checks.replay(desc, known)
    strategies.check(desc.strategy or 'brute_force', desc.strategy_options)
    check_objective(desc.objective or 'time', measured(known))
    check_files('tune.replay', desc)
end

-- Refuses a call of tune.replay without a cache file.
function checks.replay_fields(desc)
    errors.fields('tune.replay', desc, replay_fields)
    if not desc.cache then errors.argument 'tune.replay: cache is missing' end
end

return checks
