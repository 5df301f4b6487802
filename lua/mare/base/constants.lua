-- Numbers that Lua and the kernels agree on. source.lua hands them to every kernel file as defines
-- of the same names; defines of a kernel's own come before them.

return {
    -- A state in memory (array/layout.h).
    HALO = 2,           -- ghost cells on each side, unless a scheme has others
    PAD = 32,           -- elements in front of the first interior cell of a row

    -- The slots of a clock, doubles on the device (array/clock.h).
    CLOCK_TIME = 0,     -- of the state
    CLOCK_STEP = 1,     -- dt of the step to come; 0 at the target: then a step changes no bit
    CLOCK_TARGET = 2,   -- the time to reach exactly
    CLOCK_CFL = 3,      -- dt times the largest signal rate; at most 1 is stable
    CLOCK_COUNT = 4,    -- steps taken
    CLOCK_RATE = 5,     -- largest signal rate of the state: max((|u| + c) / dx, (|v| + c) / dy)
    CLOCK_FAILED = 6,   -- 1 when it is NaN, infinite or too high for FIXED; time stands still
    CLOCK_HOLD = 7,     -- 1: dt is 0 from where the target would change it, instead of changed
    CLOCK_LAST = 8,     -- dt of the step taken last, 0 where none was; kept with GRADUAL only
    CLOCK_FIXED = 9,    -- the dt that is wanted; 0: the one that follows from the rate
    CLOCK_SLOTS = 10,

    -- What ghost cells at the end of a line hold (array/line_end.h).
    KIND_KEEP = 0, KIND_COPY = 1, KIND_MIRROR = 2, KIND_REPEAT = 3,
    KIND_TABLE = 4,     -- in traverse/side.krn only

    -- Sides that are walls, as bits (physics/ocean/).
    WALL_WEST = 1, WALL_EAST = 2, WALL_SOUTH = 4, WALL_NORTH = 8,

    -- How many cells on each side a step looks at (traverse/).
    REACH = 2,

    -- m: less water has no velocity (physics/shallow_water/).
    DRY_DEPTH = 1e-30,

    -- The planes of an ocean's bed (physics/ocean/domain.h).
    BED_DEPTH = 0,      -- of still water at centres, m, positive down; or bed.land
    BED_CORNER = 1,     -- the same at south-west corners of cells; finite-volume schemes only
    BED_CORIOLIS = 2,   -- Coriolis parameter at centres, 1/s; CORIOLIS_BY_CELL only

    -- What an ocean knows of each row.
    ROW_INV_DX = 0,     -- 1 / width of a cell at its centre
    ROW_SOUTH = 1,      -- width of its southern face
    ROW_INV_AREA = 2,
    ROW_F = 3,          -- Coriolis parameter at its centre
    ROW_F_SOUTH = 4,    -- at its southern face
    ROW_CURVATURE = 5,  -- tan(latitude) / radius of the earth at its centre, 1/m
    ROW_CURVATURE_SOUTH = 6,
    ROW_KINDS = 7,

    -- What wind and air do to an ocean.
    FORCE_X = 0,        -- wind stress along x over density of the water, m2/s2
    FORCE_Y = 1,
    FORCE_PRESSURE = 2, -- of the air over density of the water, m2/s2
    FORCES = 3,

    -- What CORIOLIS, FORCING and FRICTION are unless 0, none.
    CORIOLIS_BY_ROW = 1, CORIOLIS_BY_CELL = 2,
    FORCING_UNIFORM = 1, FORCING_BY_CELL = 2,
    FRICTION_LINEAR = 1, FRICTION_QUADRATIC = 2, FRICTION_MANNING = 3,

    -- What is known beyond an open side beside the elevation, as bits.
    KNOWN_NORMAL = 1, KNOWN_ALONG = 2,

    -- Steps from one in which the nonlinear C-grid scheme measures its largest signal rate to the
    -- next; even, because levels change places from step to step.
    RATE_PERIOD = 8,

    -- How many sums of a row of cells are made side by side (array/sums.krn): with another number
    -- integrals have other bits.
    SUM_WIDTH = 32,

    -- What has become of a drifter.
    FATE_AFLOAT = 0, FATE_BEACHED = 1, FATE_GONE = 2,
}
