-- Tests that no scheme is more than a tenth slower than its record
-- (tests/bench/records) on the same device, by medians of nine batches, with a
-- second try after a disturbance. This holds only on devices where times
-- repeat: processors are shared with other work, so their records are ratios to
-- peers instead.

local cases = require 'tests.bench.cases'
local device = require 'bindings.device'
local home = require 'bindings.home'
local rate = require 'tests.bench.rate'
local record = require 'tests.bench.record'

local name = os.getenv 'MARE_DEVICE' or 'auto'
local least, most_cells = 0.9, 8192     -- of a record; along a side: larger grids take long to fill
local records = home.root .. '/tests/bench/records/h200.jsonl'

-- Returns the latest record of each scheme in float on its largest grid, on a
-- device of the same model and back end.
local function find_records(d)
    local found, back_end = {}, d.name:match '^%a+'
    for _, r in ipairs(record.read(records, { benchmark = 'solvers', precision = 'float',
        model = d.info.model })) do
        local other = found[r.solver]
        if r.device:match '^%a+' == back_end and r.nx <= most_cells
            and not (other and other.nx > r.nx) then
            found[r.solver] = r
        end
    end
    return found
end

local function share_of(d, case, r)
    local now = assert(rate.measure(d, case, r.precision, r.nx))
    return now.cells_per_second / r.cells_per_second
end

local function check(d, case, r)
    if not r then
        pending(('no record on %s with %s'):format(d.info.model, d.name))
        return
    end
    local share = share_of(d, case, r)
    if share < least then share = math.max(share, share_of(d, case, r)) end
    print(('%s: %.0f %% of the record, %.4g Gcells/s at %d²'):format(case.name, 100 * share,
        r.cells_per_second / 1e9, r.nx))
    assert.is_true(share >= least, ('%.2f of its record of %s'):format(share, r.commit))
end

describe('the speed of', function()
    local d = device.open(name)
    if d.info.kind ~= 'gpu' then
        it('every scheme', function()
            pending(d.name .. ' is no GPU: its cores have other work too')
        end)
        return
    end
    local found = find_records(d)
    for _, case in ipairs(cases.list) do
        it(case.name, function() check(d, case, found[case.name]) end)
    end
end)
