-- retired_words.lua - words that tests/tidy.lua denies: { word, what to say instead, where = the
-- files in which it has its own meaning, but = a term that it is a word of }. The words to use are
-- in lua/mare/GLOSSARY.md, which may name all. A word is found in names, comments and messages,
-- also in plural and inside names such as `board_of` or `theBoard`.

return {
    { 'office', 'state of a group' },
    { 'seat', 'slab of a warp' },
    { 'errand', 'halo map' },
    { 'news', 'mailbox' },
    { 'post', 'rate in a mailbox', where = { 'bindings/package/' } },
    { 'trail', 'column' },
    { 'rim', 'edge of a tile, outline of a line' },
    { 'kick', 'source, perturbation' },
    { 'shape_field', 'parameter of a shape' },
    { 'board', 'local memory that is shared' },
    { 'hosts', 'embedding program, machine; the host is the side of the processor',
        but = '/etc/hosts' },
    { "bindings%.host'", 'bindings.home' },
    { 'march', 'traversal, time loop; march.krn is a kernel', where = { 'kernels/README.md',
        'bindings/programs/', 'kernels/traverse/', 'lua/mare/array/', 'lua/mare/forcing/',
        'lua/mare/schemes/', 'lua/mare/shapes/', 'lua/mare/tune/', 'tests/' } },
    { 'lane', 'stream; a lane is one of a warp or a vector', where = { 'kernels/',
        'lua/mare/array/', 'lua/mare/expression/', 'lua/mare/stages/',
        'lua/mare/ndarray/reduce.lua', 'lua/mare/schemes/', 'lua/mare/shapes/', 'tests/bench/',
        'tests/kernels/', 'tests/lua/fields_spec.lua' } },
    { 'engine', 'simulation; an engine is that of mare_engine.h', where = { 'bindings/',
        'lua/mare/launcher/', 'lua/mare/session/', 'tests/' } },
    { 'frame', 'traversal; a frame is a picture of a film', but = 'stack[ _]frames?', where = {
        'bindings/gif.lua', 'lua/mare/array/frames.lua', 'lua/mare/array/prepare.lua',
        'lua/mare/array/README.md', 'lua/mare/base/', 'lua/mare/draw/', 'lua/mare/files/',
        'lua/mare/launcher/info.lua', 'lua/mare/mandelbrot/', 'lua/mare/ndarray/files.lua',
        'lua/mare/run/', 'lua/mare/spectra/', 'lua/mare/volume/', 'scenarios/', 'tests/' } },
    { 'resident', 'persistent kernel', where = { 'bindings/', 'core/', 'lua/mare/measure/',
        'lua/mare/ocean/', 'lua/mare/schemes/', 'lua/mare/session/', 'lua/mare/shapes/',
        'lua/mare/tune/', 'tests/' } },
    { 'window', 'a window is of a basin; sliding window', but = 'sliding[ _]windows?', where = {
        'lua/mare/forcing/roms.lua', 'lua/mare/tide/', 'scenarios/', 'tests/' } },
}
