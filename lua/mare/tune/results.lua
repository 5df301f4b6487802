-- The results of a tuning, in the two formats of Kernel Tuner. A cache file
-- grows by one line of JSON per candidate. Each line is on the disk before the
-- next candidate begins, so a killed tuning loses at most one. The file
-- CACHE.started names the candidate that has begun: it counts as failed when
-- the tuning continues, since it may have crashed the process. A tuning keeps
-- that file locked until it ends, so that no other one writes the cache. The
-- cache lacks its final "}" "}", which Kernel Tuner and its dashboard expect of
-- a cache that may be continued. A T4 file is written completely, for programs
-- that compare tuners.
--
-- A record is a flat table: the parameters, `time` (ms) or in its place the
-- name of the failure, `times`, `energy` (J) ..., `invalidity` ('correct' or
-- what went wrong, in T4's words), and a `digest` of what the candidate was
-- built of.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local json = require 'mare.base.json'
local space = require 'mare.tune.space'
local system = require 'bindings.system'
local tables = require 'bindings.tables'

local results = {}

local Results = {}
Results.__index = Results

-- What Kernel Tuner writes as the objective of a failed candidate.
local failures = {
    compile = 'CompilationFailedConfig', runtime = 'RuntimeFailedConfig',
    correctness = 'RuntimeFailedConfig', constraints = 'InvalidConfig', timeout = 'InvalidConfig',
}

-- Marks a record as failed. message: the error.
function results.fail(record, objective, invalidity, message)
    record.time, record[objective] = failures[invalidity], failures[invalidity]
    record.invalidity, record.error = invalidity, message
    return record
end

-- Returns the header and the records by key. An unfinished last line is left
-- out; the second result says whether the text must be repaired before more is
-- added.
local function parse(path, text)
    local data, lines, _, problem = json.decode(text), text:match '^(.*\n)' or '', nil, nil
    local is_closed = type(data) == 'table'
    if not is_closed then
        data, _, problem = json.decode((lines:gsub(',%s*$', '')) .. '}}')
    end
    if type(data) ~= 'table' or type(data.cache) ~= 'table' then
        errors.argument('tune: %s is no cache file%s', path, problem and ': ' .. problem or '')
    end
    return data, is_closed or lines ~= text
end

local is_failure = {}
for _, name in pairs(failures) do is_failure[name] = true end

-- Returns whether a candidate failed. Kernel Tuner stores the failure as the
-- objective, whichever that is.
local function has_failed(record)
    for _, value in pairs(record) do
        if is_failure[value] then return true end
    end
end

local plain = { number = true, string = true, boolean = true }

local function is_record(record, names)
    if type(record) ~= 'table' then return false end
    for _, name in ipairs(names) do
        if not plain[type(record[name])] then return false end
    end
    if record.invalidity ~= nil and type(record.invalidity) ~= 'string' then return false end
    if type(record.time) ~= 'number' then
        return has_failed(record) and record.invalidity ~= 'correct'
    end
    local energy, product = type(record.energy), type(record.edp)
    return type(record.times or {}) == 'table' and (energy == 'nil' or energy == 'number')
        and product == energy
end

-- Returns the number of the line that begins with a record's key.
local function line_number(text, key)
    local at = text:find(json.quotestring(key) .. ':', text:find '"cache"', true) or #text
    return 1 + select(2, text:sub(1, at):gsub('\n', ''))
end

local function check_records(path, text, data)
    for key, record in pairs(data.cache) do
        if not is_record(record, data.tune_params_keys) then
            errors.argument('tune: %s: line %d is no record', path, line_number(text, key))
        end
    end
end

-- Checks that a header has the parameters.
local function check_params(path, header)
    local keys, params, count = header.tune_params_keys, header.tune_params, 0
    local is_right = type(keys) == 'table' and type(params) == 'table'
    for _ in pairs(is_right and params or {}) do count = count + 1 end
    for k = 1, count do is_right = is_right and type(params[keys[k]]) == 'table' end
    if not is_right or count == 0 or #keys ~= count then
        errors.argument('tune: %s: tune_params_keys in its first line are not the names of '
            .. 'tune_params', path)
    end
end

local function line_of(key, record, names)
    return string.format('%s: %s,\n', json.quotestring(key),
        json.encode(record, { keyorder = names }))
end

local no_records = setmetatable({}, { __jsontype = 'object' })
local header_order = { 'schema_version', 'device_name', 'kernel_name', 'problem_size',
    'tune_params_keys', 'tune_params', 'objective', 'digest', 'cache' }

local function header_line(header)
    return (json.encode(header, { keyorder = header_order }):gsub('}}$', '')) .. '\n'
end

-- Writes the whole file again, complete or not at all.
local function rewrite(self)
    local temporary = files.temporary(self.path)
    temporary:append(header_line(self.header))
    for _, key in ipairs(tables.keys(self.records)) do
        temporary:append(line_of(key, self.records[key], self.header.tune_params_keys))
    end
    temporary:commit()
end

local function check_same(path, found, wanted)
    for _, field in ipairs { 'device_name', 'kernel_name', 'problem_size', 'tune_params_keys' } do
        local a, b = json.encode(found[field]), json.encode(wanted[field])
        if a ~= b then
            errors.argument('tune: %s has results of another tuning: its %s is %s, not %s', path,
                field, tostring(a), tostring(b))
        end
    end
    if found.digest ~= wanted.digest then
        errors.argument('tune: %s has results of another tuning: %s', path, found.digest
            and 'source, options, arguments, answers or Mare itself have changed since'
            or 'it does not tell of what source, options and arguments (no digest)')
    end
end

-- Returns the parameters of a record in a table of their own.
local function params_of(self, record)
    local params = {}
    for _, name in ipairs(self.header.tune_params_keys) do params[name] = record[name] end
    return params
end

-- Returns the digest of what a candidate is built of now, or nil if it is not
-- known or not needed.
function Results:digest(key, params)
    return self.path and self.digest_of and self.digest_of(key, params) or nil
end

-- Refuses records whose candidate is now built of something else.
local function check_digests(self)
    for key, record in pairs(self.records) do
        if record.digest ~= self:digest(key, params_of(self, record)) then
            errors.argument('tune: %s has results of another tuning: source, defines, options or '
                .. 'launch of the candidate %s have changed since', self.path, key)
        end
    end
end

-- Returns { header, records = by key } of a file, which stays as it is.
function results.read(path)
    local text, reason = files.read(path)
    if not text then errors.argument('tune: %s', reason) end
    local data = parse(path, text)
    check_params(path, data)
    check_records(path, text, data)
    local records = data.cache
    data.cache = no_records
    return { header = data, records = records }
end

-- ---- the candidate that has begun ----

local function mark(self, what)
    what.process = system.process()
    self.claim:write(json.encode(what))
end

-- Marks a candidate with these parameters and digest as begun.
function Results:begin(key, params, built_of)
    if self.claim then mark(self, { key = key, params = params, digest = built_of }) end
end

-- Marks the candidate as ended, with any result.
function Results:finish()
    if self.claim then mark(self, {}) end
end

-- Lets other tunings write the file.
function Results:release()
    if self.claim then self.claim:remove() end
    self.claim = nil
end

-- Claims the file for this tuning. Returns what the previous tuning has marked.
local function claim(self)
    local taken, text = files.claim(files.follow(self.path) .. '.started')
    local found = json.decode(text or '')
    if type(found) ~= 'table' then found = {} end
    if not taken then
        errors.argument('tune: another tuning is writing %s (process %s)', self.path,
            tostring(found.process))
    end
    self.claim = taken
    mark(self, found)
    return found
end

-- Returns whether begin() has marked a candidate that is still built of the
-- same things.
local function is_begun(self, found)
    if type(found.key) ~= 'string' or type(found.params) ~= 'table' then return false end
    local ok, key = pcall(space.key, found.params, self.header.tune_params_keys)
    return ok and key == found.key and found.digest == self:digest(key, found.params)
end

-- Records the candidate that had not ended when its process did as failed.
local function record_crash(self, found)
    if not is_begun(self, found) or self.records[found.key] then return self:finish() end
    local record = params_of(self, found.params)
    record.digest = found.digest
    record.timestamp = os.date '!%Y-%m-%dT%H:%M:%SZ'
    self:add(found.key, results.fail(record, self.header.objective, 'runtime',
        'crashed: the tuning ended while this was tried'))
end

local function start_anew(self)
    rewrite(self)
    self:finish()
end

-- Loads what the file already has, and leaves a file that can grow. A file
-- without results, as a refused call leaves it, may be used by any tuning.
local function load(self, begun)
    local text = files.read(self.path)
    if not text or text == '' then return start_anew(self) end
    local found, broken = parse(self.path, text)
    if not (next(found.cache) or begun.key) then return start_anew(self) end
    check_same(self.path, found, self.header)
    check_records(self.path, text, found)
    self.records = found.cache
    check_digests(self)
    if broken then rewrite(self) end
    record_crash(self, begun)
end

-- Opens the results of a tuning, in a file if there is a path. Earlier results
-- count if they belong to the same device, kernel, problem and parameters.
-- header: device_name, kernel_name, problem_size, tune_params_keys,
-- tune_params, objective, and digest, of all else that decides the results
-- (Kernel Tuner ignores it). digest_of(key, params): the digest of what one
-- candidate is built of, or nil. Raises an error before anything is measured if
-- the file cannot be written or another tuning is writing it. The file is this
-- tuning's until release().
function results.open(path, header, digest_of)
    header.schema_version, header.cache = '1.1.0', no_records
    local self = setmetatable({ path = path, header = header, records = {},
        digest_of = digest_of }, Results)
    if not path then return self end
    local ok, reason = pcall(files.check, path)
    if not ok then errors.argument('tune: %s', tostring(reason)) end
    local loaded, failure = pcall(load, self, claim(self))
    if loaded then return self end
    self.claim:release()
    error(failure, 0)
end

-- Adds the record of a candidate that has ended; it is on the disk when this
-- returns.
function Results:add(key, record)
    self.records[key] = record
    if not self.path then return end
    local file, reason = io.open(self.path, 'a')
    if not file then errors.raise('MARE_ERROR_IO', 'tune: %s', reason) end
    local ok
    ok, reason = file:write(line_of(key, record, self.header.tune_params_keys))
    local closed, why = file:close()
    if not (ok and closed) then
        errors.raise('MARE_ERROR_IO', 'tune: %s: %s', self.path, tostring(reason or why))
    end
    files.sync(self.path)
    self:finish()
end

-- ---- T4 ----

local units = { time = 'ms', energy = 'J', power = 'W', edp = 'J ms' }
local not_measured = { times = true, timestamp = true, invalidity = true, error = true,
    compile_time = true, verification_time = true, benchmark_time = true, strategy_time = true,
    framework_time = true, digest = true }

-- The names of the fields of records beside parameters and metrics.
results.own = { energy_low = true, energy_high = true, temperature = true, pareto = true }
for _, list in ipairs { units, not_measured } do
    for name in pairs(list) do results.own[name] = true end
end

-- Returns these names as a text.
function results.own_names()
    return tables.names(results.own)
end

local function measurements(record, is_param)
    local list = {}
    for name, value in pairs(record) do
        if not (is_param[name] or not_measured[name]) then
            list[#list + 1] = { name = name, value = value, unit = units[name] or '' }
        end
    end
    table.sort(list, function(a, b) return a.name < b.name end)
    return list
end

local function t4_result(record, names, is_param, objectives)
    local configuration = {}
    for _, name in ipairs(names) do configuration[name] = record[name] end
    local invalidity = record.invalidity or 'correct'
    return {
        timestamp = record.timestamp, configuration = configuration, objectives = objectives,
        invalidity = invalidity, correctness = invalidity == 'correctness' and 0 or 1,
        times = { compilation_time = record.compile_time, benchmark = record.benchmark_time,
            framework = record.framework_time, search_algorithm = record.strategy_time,
            validation = record.verification_time,
            runtimes = record.times or setmetatable({}, { __jsontype = 'array' }) },
        measurements = measurements(record, is_param),
    }
end

-- Writes the records of a tuning as a T4 file (schema 1.0.0), with times in ms.
-- names: of the parameters. objectives: array of names.
function results.write_t4(path, records, names, objectives)
    local is_param, list = tables.set(names), setmetatable({}, { __jsontype = 'array' })
    for k, record in ipairs(records) do
        list[k] = t4_result(record, names, is_param, objectives)
    end
    local temporary = files.temporary(path)
    temporary:append(json.encode({ schema_version = '1.0.0', results = list },
        { keyorder = { 'schema_version', 'results', 'timestamp', 'configuration' } }) .. '\n')
    temporary:commit()
end

return results
