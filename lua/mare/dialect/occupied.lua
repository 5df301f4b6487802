-- Names that CUDA C or OpenCL C give to types, functions and macros of their own: a function or a
-- variable of a script needs another one in a kernel. Only members of structs may have them too.

local operations = require 'mare.dialect.operations'
local reserved = require 'mare.dialect.reserved'
local tables = require 'bindings.tables'

local occupied = {}

-- The single ones, as the keys of a table.
occupied.names = tables.merged(reserved, operations, tables.set { 'main', 'linux', 'unix',
    'INFINITY', 'NAN', 'NULL', 'MAXFLOAT', 'HUGE_VAL', 'HUGE_VALF', 'dim3', 'threadIdx', 'blockIdx',
    'blockDim', 'gridDim', 'warpSize' })
for name in ([[abs abs_diff acospi add_sat all any asinpi atan2pi atanpi barrier bitselect clamp clz
    cospi cross degrees distance dot exp10 fast_distance fast_length fast_normalize fract frexp hadd
    ilogb isequal isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan
    isnormal isnotequal isordered isunordered ldexp length lgamma_r logb mad mad24 mad_hi mad_sat
    max maxmag mem_fence min minmag mix modf mul24 mul_hi nan nextafter normalize popcount pown powr
    prefetch printf radians remainder remquo rhadd rint rootn rotate round rsqrt select shuffle
    shuffle2 sign signbit sincos sinpi smoothstep step sub_sat tanpi upsample vec_step
    wait_group_events]]):gmatch '[%w_]+' do
    occupied.names[name] = true
end

local families = { '^mr_', '^MR_', '^__', '_t$', '^u?char%d', '^u?short%d', '^u?int%d', '^u?long%d',
    '^float%d', '^double%d', '^half%d', '^as_', '^async_', '^atom_', '^atomic_', '^convert_',
    '^get_', '^half_', '^native_', '^read_', '^write_', '^vload', '^vstore', '^CLK_', '^M_',
    '^FLT_', '^DBL_', '_MAX$', '_MIN$' }

-- Whether a name is one of the families of which there are many.
function occupied.has_family(name)
    for _, pattern in ipairs(families) do
        if name:find(pattern) then return true end
    end
    return false
end

return occupied
