-- The shapes of kernels that Mare ships, by kernel, kind of device and
-- precision, as far as these matter. Of a list, the first shape is used whose
-- `columns` the part reaches and whose `fields` the scheme does not exceed. The
-- shapes for GPUs are the best of sweeps on an
-- H200 (Euler on 8192^2 cells, oceans on 4096^2), except those of `stage`,
-- which are a guess; the shapes for CPUs were found on PoCL. The heads of
-- init.lua and of the kernels say what the parameters mean.
--
-- `resident` is the number of groups that a compute unit of an H200 holds at a
-- time. Then all strips run at once and end together; a few strips more would
-- cost a fifth of the speed. Strips of `march` that would be too long come in
-- turns (schemes/cuts.lua). The registers of a unit are in four banks, so
-- groups of one warp come in multiples of four. A strip of the kernel `march`
-- has at least `rows` rows, plus four that are computed twice. Parts of up to
-- `cells` cells are stepped by tiles instead. A tile that is `even` may get
-- another W, with which all compute units have the same work. A work-item of
-- `march` keeps some six numbers of each field and column in registers: four
-- columns of nine fields spill, and their code outgrows the instruction cache.

return {
    x = {
        gpu = { W = 4, GROUP = 64, rows = 16 },
        cpu = { W = 120, GROUP = 1, rows = 32 },
    },
    y = {
        gpu = {
            float = { W = 2, GROUP = 64, rows = 64 },
            double = { W = 1, GROUP = 64, rows = 64 },
        },
        cpu = { W = 128, GROUP = 1, rows = 64 },
    },
    stage = {
        gpu = {
            float = { W = 4, GROUP = 64, rows = 32 },
            double = { W = 2, GROUP = 64, rows = 32 },
        },
        cpu = { W = 120, GROUP = 1, rows = 32 },
    },
    rate = {
        gpu = { W = 1, GROUP = 128, rows = 64 },
        cpu = { W = 64, GROUP = 1, rows = 64 },
    },
    march = {
        gpu = {
            float = {
                { columns = 1100, fields = 5, W = 4, GROUP = 64, DEPTH = 4, resident = 4,
                    rows = 8 },
                { columns = 850, fields = 5, W = 2, GROUP = 64, DEPTH = 4, resident = 6, rows = 8 },
                { columns = 850, fields = 10, W = 2, GROUP = 64, DEPTH = 4, resident = 4,
                    rows = 8 },
                { columns = 0, fields = 5, W = 1, GROUP = 64, DEPTH = 4, resident = 8, rows = 10 },
                { columns = 0, W = 1, GROUP = 64, DEPTH = 4, resident = 6, rows = 10 },
            },
            double = {
                { columns = 900, fields = 5, W = 2, GROUP = 64, DEPTH = 4, resident = 4, rows = 8 },
                { columns = 0, fields = 5, W = 1, GROUP = 64, DEPTH = 4, resident = 6, rows = 10 },
                { columns = 0, W = 1, GROUP = 64, DEPTH = 4, resident = 4, rows = 10 },
            },
        },
    },
    tile = {
        gpu = {
            float = { W = 6, GROUP = 256, cells = 6e5, even = true },
            double = {
                { columns = 350, W = 4, GROUP = 256, cells = 2.7e5 },
                { columns = 0, W = 3, GROUP = 256, cells = 2.7e5 },
            },
        },
    },
    linear = {
        gpu = {
            float = { W = 4, GROUP = 128, resident = 4 },
            double = { W = 4, GROUP = 64, resident = 4 },
        },
        cpu = {
            { columns = 129, W = 256, GROUP = 1, rows = 64 },
            { columns = 65, W = 128, GROUP = 1, rows = 64 },
            { columns = 0, W = 64, GROUP = 1, rows = 64 },
        },
    },
    nonlinear = {
        gpu = {
            float = { W = 4, GROUP = 64, resident = 6, ahead = true, old_ahead = true },
            double = { W = 4, GROUP = 64, resident = 4, ahead = true },
        },
        cpu = {
            { columns = 129, W = 256, GROUP = 1, rows = 64 },
            { columns = 65, W = 128, GROUP = 1, rows = 64 },
            { columns = 0, W = 64, GROUP = 1, rows = 64 },
        },
    },
    volumes = {
        gpu = {
            float = {
                { columns = 2000, W = 4, GROUP = 32, TEAM = 32, DEPTH = 4, UNROLL = 2,
                    resident = 8 },
                { columns = 0, W = 2, GROUP = 32, TEAM = 32, DEPTH = 5, UNROLL = 2, resident = 16 },
            },
            double = { W = 2, GROUP = 32, TEAM = 32, DEPTH = 5, UNROLL = 2, resident = 8 },
        },
        cpu = { W = 120, GROUP = 1, UNROLL = 1, rows = 32 },
    },
}
