-- run_options.lua - the options of every run: this table alone makes the command line, --help, the
-- fields of sim:run, completion, the metadata of files and what a rerun does. Fields are those of
-- options.lua and
--
--     setup = true        it makes the simulation: sim:run, which has one, does not take it
--     rerun = 'dropped'   a rerun does not repeat it; '.nc': the rerun writes such a file under the
--                         new name with this ending; '.*': with its own
--     keeps_bits = true   a run that goes on with another value has the bits of one that does not
--                         stop

local system = require 'bindings.system'

local function device(more)
    return {
        name = 'device', type = 'string', default = system.setting 'MARE_DEVICE' or 'auto',
        setup = true, rerun = 'dropped',
        help = "cuda:0, opencl:1, auto, ... as 'mare doctor' lists them" .. more,
    }
end

local simulation = {
    title = 'Every simulation',
    { name = 'nx', default = 512, range = { 4, 2^20 }, setup = true, help = 'cells along x' },
    { name = 'ny', default = 512, range = { 4, 2^20 }, setup = true, help = 'cells along y' },
    { name = 't-end', type = 'number', default = 1, range = { 1e-12 }, keeps_bits = true,
      help = 'time to stop at' },
    { name = 'steps', type = 'integer', range = { 0 }, keeps_bits = true,
      help = 'steps to stop after, if earlier' },
    { name = 'cfl', type = 'number', default = 0.45, range = { 0.001, 1 }, setup = true,
      help = 'Courant number' },
    { name = 'dt', type = 'number', range = { 1e-12 }, setup = true,
      help = 'time step, instead of --cfl' },
    { name = 'precision', default = 'float', choices = { 'float', 'double' }, setup = true,
      help = 'of the arithmetic' },
    { name = 'maths', default = 'fast', choices = { 'fast', 'strict' }, setup = true,
      help = 'of a GPU: strict rounds quotients and roots to nearest' },
    { name = 'decompose', default = { 1, 1 }, range = { 1, 1024 }, setup = true, keeps_bits = true,
      help = 'parts along x and y' },
    device '; several as cuda:0,cuda:1',
    { name = 'out', type = 'path', writes = true, rerun = '.nc', help = 'NetCDF file to write' },
    { name = 'every', type = 'number', range = { 1e-12 },
      needs = { 'out' }, help = 'time between outputs; steps end there' },
    { name = 'every-steps', type = 'integer', range = { 1 },
      needs = { 'out' }, help = 'steps between outputs' },
    { name = 'times', type = 'string', needs = { 'out' },
      help = 'of outputs, as 0.1,0.25,1; steps end there' },
    { name = 'region', type = 'string',
      needs = { 'out' }, help = 'of --out, as west,east,south,north' },
    { name = 'stride', type = 'integer', range = { 1 },
      needs = { 'out' }, help = 'only every Nth cell into --out' },
    { name = 'variables', type = 'string',
      needs = { 'out', 'series' }, help = 'more for --out, as u,v' },
    { name = 'deflate', type = 'integer', range = { 0, 9 },
      needs = { 'out' }, help = 'compression of --out' },
    { name = 'quantize', type = 'integer', range = { 1, 15 },
      needs = { 'out' }, help = 'significant digits in --out, to compress better' },
    { name = 'series', type = 'path', writes = true, rerun = '.series.nc',
      help = 'NetCDF file of integrals, and of values at gauges' },
    { name = 'series-every', type = 'number', range = { 1e-12 },
      help = 'time between its rows; steps end there' },
    { name = 'series-steps', type = 'integer', range = { 1 }, help = 'steps between its rows' },
    { name = 'gauges', type = 'string', help = "places, as NAME:X,Y;X,Y;..." },
    { name = 'checkpoint', type = 'path', writes = true, rerun = 'dropped', keeps_bits = true,
      help = 'file to go on from, written at the end too: where no output is due then, before '
      .. 'the steps that are cut to hit it, so that a longer run keeps its bits' },
    { name = 'checkpoint-every', type = 'number', range = { 1e-12 }, rerun = 'dropped',
      keeps_bits = true, needs = { 'checkpoint' }, help = 'time between checkpoints' },
    { name = 'keep', default = 2, range = { 1, 99 }, rerun = 'dropped', keeps_bits = true,
      needs = { 'checkpoint' }, help = 'checkpoints: FILE, FILE.1, ...' },
    { name = 'restart', type = 'path', setup = true, rerun = 'dropped', keeps_bits = true,
      help = "checkpoint to go on from; 'latest': --checkpoint's, if there is one" },
    { name = 'wall-limit', type = 'string', rerun = 'dropped', keeps_bits = true,
      needs = { 'checkpoint' },
      help = 'stop with a checkpoint before this time is over, as 90s, 30m, 1h' },
    { name = 'image', type = 'path', writes = true, rerun = '.png', keeps_bits = true,
      help = 'PNG file to draw at the end' },
    { name = 'range', type = 'string', needs = { 'image', 'film' }, keeps_bits = true,
      help = "of the colours of these, as 0.9,2.1; default: the scenario's, else that of the "
      .. 'first frame' },
    { name = 'film', type = 'path', writes = true, rerun = '.*',
      help = 'film to make: FILE.gif, FILE.png (APNG) or, where there is ffmpeg, FILE.mp4; steps '
      .. 'end at its frames, so that the solution differs a bit' },
    { name = 'frames', default = 100, range = { 1, 100000 },
      needs = { 'film' }, help = 'of the film, evenly over the run, after the first' },
    { name = 'film-every', type = 'number', range = { 1e-12 },
      needs = { 'film' }, help = 'time between frames, instead; steps end there' },
    { name = 'film-width', default = 800, range = { 200, 8192 },
      needs = { 'film' }, help = 'in pixels, about' },
    { name = 'seed', default = 1, range = { 0, 2^32 - 1 }, setup = true,
      help = 'of random numbers' },
    { name = 'energy', default = false, keeps_bits = true,
      help = 'measure what the devices take, above rest' },
    { name = 'quiet', default = false, keeps_bits = true, help = 'no progress line' },
    { name = 'json-log', type = 'path', writes = true, rerun = 'dropped', keeps_bits = true,
      help = 'file to log the run in for programs, one JSON object a line; continued if there' },
}

return { simulation = simulation, device = { title = 'Device', device '' } }
