-- Tests films of runs: they have the same bytes in any decomposition and after
-- any stops, and a failed run loses no film.

local fails = require 'tests.fails'
local files = require 'bindings.files'
local home = require 'bindings.home'
local lfs = require 'lfs'
local mare = require 'mare'
local trial = require 'tests.scenarios.trial'

local device, slurp, spit = trial.device, trial.slurp, trial.spit
local open = require('bindings.device').open
local folder

local function listing() return trial.listing(folder) end

-- Returns exit status and output of a scenario in a process of its own. before:
-- words in front of the command.
local function launch(before, name, values)
    local all = { image = folder .. '/p.png' }
    for key, value in pairs(values) do all[key] = value end
    return trial.status_of((before or '') .. ' ' .. trial.command(name, all))
end

-- Runs a wave on water, and films it with everything that a film can show.
local function run(path, changes)
    local o = { device = device, precision = 'float', t_end = 2, quiet = true, film = path,
        frames = 4, film_width = 300 }
    for key, value in pairs(changes or {}) do o[key] = value end
    return mare.run {
        title = 'Wave', options = o, boundaries = 'reflective',
        grid = mare.grid { nx = 61, ny = 40, x = { 0, 12 }, y = { 0, 8 } },
        scheme = mare.shallow_water { depth = 1 },
        initial = function(x, y)
            return 1 + 0.2 * math.exp(-(x - 5) ^ 2 - (y - 4) ^ 2), 0.1 * y, 0
        end,
        picture = { variable = 'eta', colours = 'diverging', range = { -0.2, 0.2 }, contours = 6,
            vectors = { 'u', 'v', reference = 0.5 } },
    }
end

before_each(function() folder = trial.new_folder() end)
after_each(function() trial.remove(folder) end)

describe('a film of a run', function()
    it('has the same bytes on one part and on several', function()
        local path = folder .. '/film.'
        run(path .. 'gif'):release()
        local whole = slurp(path .. 'gif')
        assert.equal(5, select(2, whole:gsub('!\249\4', '')))
        run(path .. 'gif', { decompose = { 2, 2 } }):release()
        assert.is_true(whole == slurp(path .. 'gif'))
        run(path .. 'png'):release()
        whole = slurp(path .. 'png')
        run(path .. 'png', { decompose = { 3, 2 }, device = { open(device), open(device) } })
            :release()
        assert.is_true(whole == slurp(path .. 'png'))
        assert.equal('film.gif film.png', listing())
    end)

    it('ends with the picture at the end of the run, which is as independent', function()
        local picture = folder .. '/p.png'
        run(nil, { image = picture }):release()
        local whole = slurp(picture)
        assert.equal('\137PNG', whole:sub(1, 4))
        run(nil, { image = picture, decompose = { 2, 3 } }):release()
        assert.is_true(whole == slurp(picture))
        assert.equal('p.png', listing())
    end)

    it('is the same when it was gone on with, also from a complete one', function()
        local path, checkpoint = folder .. '/film.gif', folder .. '/run.ck'
        run(path):release()
        local whole = slurp(path)
        run(path, { steps = 7, checkpoint = checkpoint }):release()
        assert.is_true(#slurp(path) < #whole)
        run(path, { restart = checkpoint }):release()
        assert.is_true(whole == slurp(path))
    end)

    it('widens its range where none is given, to the same bytes when gone on with', function()
        local path = folder .. '/film.png'
        local function go(t_end, restart, parts)
            mare.run {
                title = 'x', grid = mare.grid { nx = 32, ny = 32, x = { 0, 1 }, y = { 0, 1 } },
                scheme = mare.euler {}, boundaries = 'periodic', picture = { variable = 'u' },
                initial = function(x) return 1, 0, 0, 1 + x * (1 - x) end,
                options = { t_end = t_end, quiet = true, device = device, precision = 'float',
                    film = path, film_every = 0.05, film_width = 200, decompose = parts,
                    checkpoint = folder .. '/run.ck', restart = restart },
            }:release()
            return slurp(path)
        end
        local whole = go(0.2)
        assert.is_true(whole == go(0.2, nil, { 2, 2 }))
        os.remove(folder .. '/run.ck')
        go(0.1)
        assert.is_true(whole == go(0.2, folder .. '/run.ck'))
        os.remove(folder .. '/run.ck')
        go(0.01)            -- of one frame, in which u is 0
        assert.is_true(whole == go(0.2, folder .. '/run.ck'))
    end)

    it('is a film of what changes, not of curves', function()
        local status, text = launch(nil, 'sod', { film = folder .. '/a.gif', ['t-end'] = 0.01 })
        assert.equal(2, status)
        fails.says(text, '--film', 'option', 'scenario')
        status, text = launch(nil, 'bump', { film = folder .. '/a.avi' })
        assert.equal(2, status)
        fails.says(text, '--film', 'a.avi', '.mp4', '.gif', 'option')
        status, text = launch(nil, 'bump', { film = folder .. '/p.png' })
        assert.equal(2, status)
        fails.says(text, 'are one file', '--image', '--film', 'option')
        assert.equal('', listing())
    end)

    it('leaves the old one when the run is killed', function()
        local path = folder .. '/film.gif'
        spit(path, 'old')
        local line = "'%s' bump --device=%s --quiet --image='%s/p.png' --nx=128 --t-end=1e6 "
            .. "--film='%s' --film-every=0.05 >/dev/null 2>&1 & echo $!"
        local pipe = io.popen(line:format(home.launcher, device, folder, path))
        local pid = tonumber(pipe:read '*l')
        pipe:close()
        trial.await('a film', function()
            local part = listing():match 'film%.gif%.%S+%.part'
            return part and (files.size(folder .. '/' .. part) or 0) > 20000
        end)
        trial.kill(pid)
        assert.truthy(listing():find 'film%.gif%.%S+%.part')
        assert.equal('old', slurp(path))
        run(path):release()         -- which also clears away what was left
        assert.equal('film.gif', listing())
        assert.equal('GIF89a', slurp(path):sub(1, 6))
    end)
end)

describe('an MP4', function()
    local values

    before_each(function()
        values = { film = folder .. '/film.mp4', nx = 64, ny = 32, ['t-end'] = 0.2, frames = 9,
            ['film-width'] = 300 }
    end)

    it('wants ffmpeg, and says so before anything is computed', function()
        spit(values.film, 'old')
        local status, text = launch('PATH=/none', 'kelvin_helmholtz', values)
        assert.equal(2, status)
        fails.says(text, '--film', 'MP4', 'option', 'ffmpeg')
        assert.equal('film.mp4', listing())
    end)

    -- A program of this name that behaves in a way of its own.
    local function with_ffmpeg(script)
        lfs.mkdir(folder .. '/bin')
        spit(folder .. '/bin/ffmpeg', '#!/bin/sh\n' .. script .. '\n')
        os.execute("chmod +x '" .. folder .. "/bin/ffmpeg'")
        return launch("PATH='" .. folder .. "/bin':$PATH", 'kelvin_helmholtz', values)
    end

    it('tells why ffmpeg failed, and leaves the old film', function()
        for script, reason in pairs {
            ['echo "no such encoder" >&2; exit 1'] = 'film%.mp4: ffmpeg: no such encoder',
            ['head -c 1000 >/dev/null; kill -9 $$'] = 'film%.mp4: ffmpeg: .*[Kk]illed',
        } do
            spit(values.film, 'old')
            local status, text = with_ffmpeg(script)
            assert.equal(1, status)
            assert.truthy(text:find(reason), text)
            assert.equal('old', slurp(values.film))
            assert.is_nil(listing():find '%.part')
        end
    end)

    it('has every frame, also of a run that was gone on with', function()
        if not files.program 'ffprobe' then return pending 'there is no ffmpeg here' end
        local function probe()
            local pipe = io.popen('ffprobe -v error -count_frames -show_entries stream=codec_name,'
                .. "pix_fmt,nb_read_frames,duration -of csv=p=0 '" .. values.film .. "'")
            local text = pipe:read '*l'
            pipe:close()
            return text
        end
        local status, text = launch(nil, 'kelvin_helmholtz', values)
        assert.equal(0, status, text)
        assert.equal('h264,yuv420p,0.500000,10', probe())
        os.remove(values.film)
        values.checkpoint = folder .. '/run.ck'
        values['checkpoint-every'], values['film-every'] = 0.05, 0.2 / 9
        values['wall-limit'] = '0.001s'
        assert.equal(3, (launch(nil, 'kelvin_helmholtz', values)))
        values['wall-limit'], values.restart = nil, 'latest'
        status, text = launch(nil, 'kelvin_helmholtz', values)
        assert.equal(0, status, text)
        assert.equal('h264,yuv420p,0.500000,10', probe())
    end)
end)
