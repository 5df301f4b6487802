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

    -- What ghost cells at the end of a line hold (array/halo.krn).
    KIND_KEEP = 0, KIND_COPY = 1, KIND_MIRROR = 2, KIND_REPEAT = 3,
    KIND_TABLE = 4,     -- in traverse/side.krn only

    -- Sides that are walls, as bits (physics/ocean/).
    WALL_WEST = 1, WALL_EAST = 2, WALL_SOUTH = 4, WALL_NORTH = 8,
}
