local bandwidth = require 'mare.measure.bandwidth'
local device = require 'bindings.device'
local devices = require 'tests.devices'
local home = require 'bindings.home'
local json = require 'dkjson'
local mare = require 'mare'
local trial = require 'tests.scenarios.trial'

local source = [[
MR_KERNEL void scale(int n, real a, MR_GLOBAL real *x) {
    int i = mr_gid_x();
    if (i < n) x[i] *= a;
}
]]

local function bind(d, n)
    local x = d:buffer{ type = 'float', count = n, label = 'x' }
    x:fill(1)
    return d:program{ source = source, name = 'scale.krn' }:kernel 'scale':bind {
        n = n, a = 2, x = x, global = n, bytes = 8 * n,
    }, x
end

local function read(path)
    local file = assert(io.open(path))
    local text = file:read '*a'
    file:close()
    return text
end

for _, info in ipairs(devices()) do
    describe('profile on ' .. info.name, function()
        local path = os.tmpname()

        teardown(function() os.remove(path) end)

        it('tells calls, times and rates of each kernel and copy', function()
            local d = device.open(info.name)
            local n = 100000
            local scale, x = bind(d, n)
            local report = mare.profile(function()
                local plan = d.stream:record(function() scale:run() end)
                plan:run(4)
                scale:run()
                x:download()
            end)
            local rows = {}
            for _, row in ipairs(report.rows) do rows[row.name] = row end
            assert.equal(5, rows.scale.calls)
            assert.equal(1, rows.download.calls)
            assert.is_true(rows.scale.is_kernel and not rows.download.is_kernel)
            assert.equal(40 * n, rows.scale.bytes)
            assert.is_true(rows.scale.total_ms > 0)
            assert.near(rows.scale.bytes / (rows.scale.total_ms / 1000), rows.scale.rate, 1)
            assert.near(1, rows.scale.share + rows.download.share, 1e-9)
            assert.truthy(tostring(report):find('\nscale +' .. info.name .. ' +5 '))
            scale:run()
            d:wait()
            assert.equal(6, #report.records)        -- and no more
        end)

        it('leaves out what Mare measures for itself', function()
            local d = device.open(info.name)
            local scale, x = bind(d, 1000)
            local rate
            local report = mare.profile(function()
                scale:run()
                rate = bandwidth.measure(d)
                x:download()
            end)
            assert.is_true(rate == nil and not info.runs_kernels or rate > 0)
            local names, ends = {}, 0
            for k, r in ipairs(report.records) do
                names[k] = r.name
                assert.is_true(r.start_ms >= ends)
                ends = r.stop_ms
            end
            assert.same({ 'scale', 'download' }, names)
        end)

        it('writes a trace that its viewers read', function()
            local second
            local report = mare.profile(function()
                local d = device.open(info.name)    -- opened meanwhile, and released
                second = d:stream { label = 'a "second"' }
                local scale, x = bind(d, 1000)
                scale:run(second)
                second:wait()
                x:totable()
                d:release()
            end)
            report:write_trace(path)
            local trace = assert(json.decode(read(path)))
            local names, threads, waited = {}, {}, nil
            for _, event in ipairs(trace.traceEvents) do
                if event.pid == 1000 then       -- the host, whose stream this is
                    waited = waited or event.cat == 'waits' and event.name:find 'second'
                elseif event.ph == 'X' then
                    names[#names + 1] = event.name
                    assert.is_true(event.dur >= 0 and event.ts >= 0)
                elseif event.name == 'thread_name' then
                    threads[event.tid] = event.args.name
                end
            end
            assert.same({ 'fill', 'scale', 'download' }, names)
            assert.truthy(waited)
            assert.same({ [0] = 'stream default', 'stream a "second"' }, threads)
        end)
    end)
end

describe('profile', function()
    it('passes on what fails, and ends', function()
        local ok, failure = pcall(mare.profile, function() error('mine', 0) end)
        assert.is_false(ok)
        assert.equal('mine', failure)
        assert.same({}, mare.profile(function() end).rows)
    end)

    it('has what profiles inside of it have', function()
        local d = device.open 'null'
        local b = d:buffer { type = 'int32', count = 4 }
        local function fill() b:fill(1) end
        local inner, failed
        local outer = mare.profile(function()
            fill()
            inner = mare.profile(function()
                fill()
                mare.profile(fill)
            end)
            failed = not pcall(mare.profile, function() error 'x' end)
            fill()
        end)
        assert.same({ true, 2, 4 }, { failed, inner.rows[1].calls, outer.rows[1].calls })
        assert.is_true(outer.origin <= inner.origin)
        b:release()
        d:release()
    end)

    it('names streams in UTF-8, whatever their labels hold', function()
        local path, accents, streams = os.tmpname(), ('\195\169'):rep(40), {}
        local labels = { accents, 'a\255b\237\160\128\226\130\172\195', '\240\159\140\138' }
        local d = device.open 'null'
        local x = d:buffer { size = 64 }
        local report = mare.profile(function()
            for i, label in ipairs(labels) do
                streams[i] = d:stream { label = label }
                x:fill(0, { stream = streams[i] })
            end
        end)
        report:write_trace(path)
        local names, bad = {}, '\239\191\189'
        for _, event in ipairs(json.decode(read(path)).traceEvents) do
            if event.name == 'thread_name' then names[#names + 1] = event.args.name end
        end
        assert.same({ 'stream ' .. accents:sub(1, 62),
            'stream a' .. bad .. 'b' .. bad:rep(3) .. '\226\130\172' .. bad,
            'stream ' .. labels[3] }, names)
        os.remove(path)
        d:release()
    end)

    it('is a word of the command line', function()
        local path = os.tmpname()
        local script = "require('bindings.device').open('null:0'):buffer{ size = 64 }:fill(0)"
        local pipe = io.popen(('%q --profile=%s -e %q 2>&1'):format(home.launcher, path, script))
        local text = pipe:read '*a'
        pipe:close()
        assert.truthy(text:find('\nfill +null:0 +1 '), text)
        assert.equal('fill', json.decode(read(path)).traceEvents[3].name)
        os.remove(path)
    end)

    it('refuses a file that cannot be written before anything runs', function()
        for path, words in pairs {
            ['/nope/x.json'] = '/nope/x.json: cannot write into its folder: ',
            [''] = 'a file name is needed', ['/tmp'] = '/tmp: is a folder, a file name is needed',
        } do
            local status, text = trial.status_of(("'%s' --profile=%s -e 'print(1)'"):format(
                home.launcher, path))
            assert.equal(2, status)
            assert.truthy(text:find('mare: --profile=FILE: ' .. words, 1, true), text)
            assert.falsy(text:find '^1')
        end
    end)

    it('names the file for which there is no room', function()
        local path = os.tmpname()
        local script = 'local b = require("bindings.device").open("null:0"):buffer{ size = 64 }; '
            .. 'for k = 1, 100 do b:fill(0) end'
        local status, text = trial.status_of(("(trap '' XFSZ; ulimit -f 1; '%s' --profile=%s "
            .. "-e '%s')"):format(home.launcher, path, script))
        os.remove(path)
        assert.equal(1, status)
        assert.truthy(text:find(path .. ': cannot be written: File too large', 1, true), text)
    end)
end)
