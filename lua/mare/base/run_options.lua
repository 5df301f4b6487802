-- run_options.lua - the options of every run. This table alone makes the command line, --help, the
-- fields of sim:run, completion, the metadata of files, and what a rerun does. A declaration has
-- the fields of options.lua and
--
--     setup = true        the option makes the simulation, so sim:run does not take it
--     rerun = 'dropped'   a rerun leaves it out; '.nc': a rerun writes its file under the new name
--                         with this ending; '.*': with its own ending
--     keeps_bits = true   a continued run may change it and still has the bits of a run that was
--                         not stopped

local system = require 'bindings.system'

local function device(more)
    return { name = 'device', type = 'string', default = system.setting 'MARE_DEVICE' or 'auto',
        setup = true, rerun = 'dropped',
        help = "device: cuda:0, opencl:1, auto, ... (see 'mare doctor')" .. more }
end

local simulation = {
    title = 'Every simulation',
    { name = 'nx', default = 512, range = { 4, 2^20 }, setup = true, help = 'cells along x' },
    { name = 'ny', default = 512, range = { 4, 2^20 }, setup = true, help = 'cells along y' },
    { name = 't-end', type = 'number', default = 1, range = { 1e-12 }, keeps_bits = true,
      help = 'time to stop at' },
    { name = 'steps', type = 'integer', range = { 0 }, keeps_bits = true, help = 'steps at most' },
    { name = 'cfl', type = 'number', default = 0.45, range = { 0.001, 1 }, setup = true,
      help = 'Courant number' },
    { name = 'dt', type = 'number', range = { 1e-12 }, setup = true, help = 'step, not --cfl' },
    { name = 'precision', default = 'float', choices = { 'float', 'double' }, setup = true,
      help = 'precision of the arithmetic' },
    { name = 'first', default = 'x', choices = { 'x', 'y' }, setup = true, help = 'first sweep' },
    { name = 'quadrature', type = 'integer', default = 1, range = { 1, 16 }, setup = true,
      help = 'points along x and y of each cell that the initial state is the mean of' },
    { name = 'initial-on', default = 'auto', choices = { 'auto', 'device', 'host' }, setup = true,
      help = 'where the initial state is computed; auto: on the device from 2^22 cells on' },
    { name = 'maths', default = 'fast', choices = { 'fast', 'strict' }, setup = true,
      help = 'GPUs only: strict rounds quotients and roots to nearest' },
    { name = 'decompose', default = { 1, 1 }, range = { 1, 1024 }, setup = true, keeps_bits = true,
      help = 'number of parts along x and y; without it one for each rank or device' },
    { name = 'weights', default = 'equal', setup = true, rerun = 'dropped', keeps_bits = true,
      help = 'how much of the grid each part gets: equal, auto (as its device takes steps) or '
      .. 'numbers such as 3,1, from west to east and then from south to north' },
    device '; several as cuda:0,cuda:1; all: every GPU',
    { name = 'exchange-every', default = 1, range = { 1, 16 }, setup = true, keeps_bits = true,
      rerun = 'dropped', help = 'with --dt: steps between exchanges of cells through the host' },
    { name = 'out', type = 'path', writes = true, rerun = '.nc', help = 'NetCDF file to write' },
    { name = 'every', type = 'number', range = { 1e-12 },
      needs = { 'out' }, help = 'time between outputs; steps end exactly there' },
    { name = 'every-steps', type = 'integer', range = { 1 },
      needs = { 'out' }, help = 'steps between outputs' },
    { name = 'times', type = 'string', needs = { 'out' },
      help = 'times of outputs, such as 0.1,0.25,1; steps end exactly there' },
    { name = 'region', type = 'string',
      needs = { 'out' }, help = 'write only this region: west,east,south,north' },
    { name = 'stride', type = 'integer', range = { 1 },
      needs = { 'out' }, help = 'write only every Nth cell' },
    { name = 'variables', type = 'string',
      needs = { 'out', 'series' }, help = 'further variables for --out, such as u,v' },
    { name = 'deflate', type = 'integer', range = { 0, 9 },
      needs = { 'out' }, help = 'level of compression of --out' },
    { name = 'quantize', type = 'integer', range = { 1, 15 },
      needs = { 'out' }, help = 'significant digits to keep in --out, for better compression' },
    { name = 'series', type = 'path', writes = true, rerun = '.series.nc',
      help = 'NetCDF file for integrals, and for values at gauges' },
    { name = 'series-every', type = 'number', range = { 1e-12 },
      help = 'time between records of the series; steps end exactly there' },
    { name = 'series-steps', type = 'integer', range = { 1 },
      help = 'steps between records of the series' },
    { name = 'gauges', type = 'string',
      help = 'places of gauges: NAME:X,Y;X,Y;..., in three dimensions X,Y,Z' },
    { name = 'checkpoint', type = 'path', writes = true, rerun = 'dropped', keeps_bits = true,
      help = 'file to continue from; also written at the end: if no output is due then, before the '
      .. 'steps that are shortened to end there, so that a longer run keeps its bits' },
    { name = 'checkpoint-every', type = 'number', range = { 1e-12 }, rerun = 'dropped',
      keeps_bits = true, needs = { 'checkpoint' }, help = 'time between checkpoints' },
    { name = 'keep', default = 2, range = { 1, 99 }, rerun = 'dropped', keeps_bits = true,
      needs = { 'checkpoint' }, help = 'number of checkpoints to keep: FILE, FILE.1, ...' },
    { name = 'restart', type = 'path', setup = true, rerun = 'dropped', keeps_bits = true,
      help = "checkpoint to continue from; 'latest': that of --checkpoint, if it exists" },
    { name = 'wall-limit', type = 'string', rerun = 'dropped', keeps_bits = true,
      needs = { 'checkpoint' },
      help = 'stop with a checkpoint before so much time has passed: 90s, 30m, 1h' },
    { name = 'image', type = 'path', writes = true, rerun = '.png', keeps_bits = true,
      help = "PNG file to draw at the end, or 'none'" },
    { name = 'range', type = 'string', needs = { 'image', 'film' }, keeps_bits = true,
      help = "range of the colours, such as 0.9,2.1; default: the scenario's, or else that of what "
      .. 'is shown; that of a film grows, and its colour bar with it' },
    { name = 'film', type = 'path', writes = true, rerun = '.*',
      help = 'film to make: FILE.gif, FILE.png (APNG) or, with ffmpeg, FILE.mp4; steps end at its '
      .. 'frames, so the solution differs slightly' },
    { name = 'frames', default = 100, range = { 1, 100000 },
      needs = { 'film' }, help = 'number of frames after the first, at equal intervals' },
    { name = 'film-every', type = 'number', range = { 1e-12 },
      needs = { 'film' }, help = 'time between frames, instead of --frames; steps end there' },
    { name = 'film-width', default = 800, range = { 200, 8192 },
      needs = { 'film' }, help = 'width of the film in pixels, approximately' },
    { name = 'seed', default = 1, range = { 0, 2^32 - 1 }, setup = true,
      help = 'seed of random numbers' },
    { name = 'energy', default = false, keeps_bits = true,
      help = 'measure the energy that the devices take, above rest' },
    { name = 'power-log', type = 'path', writes = 'file', rerun = 'dropped',
      keeps_bits = true, help = 'CSV file for the watts and degrees of devices and processors '
      .. 'during the steps; also measures the energy of all of them' },
    { name = 'rank-timeout', type = 'number', range = { 0 }, setup = true, rerun = 'dropped',
      keeps_bits = true, help = 'seconds that one of several ranks may be silent before all end; '
      .. '0: for ever, as a debugger wants; 10 unless MARE_RANK_TIMEOUT tells' },
    { name = 'quiet', default = false, keeps_bits = true, help = 'print no progress' },
    { name = 'json-log', type = 'path', writes = true, rerun = 'dropped', keeps_bits = true,
      help = 'journal for programs: one JSON object per line; an existing file is continued' },
}

return { simulation = simulation, device = { title = 'Device', device '' } }
