-- Numbers of as many bits as wanted, by MPFR, each rounded to nearest. Operations put their result
-- into the number that they are called on, so that loops make no garbage:
--
--     local mpfr = require 'bindings.mpfr'
--     local a, b = mpfr.new(300, '0.1'), mpfr.new(300)
--     b:mul(a, a):add(b, a)            -- b = a * a + a
--     print(b:double())

local ffi = require 'ffi'
local foreign = require 'bindings.foreign'

ffi.cdef [[
    typedef struct { long precision; int sign; long exponent; void *limbs; } mare_mpfr;
    void mpfr_init2(mare_mpfr *x, long bits);
    void mpfr_clear(mare_mpfr *x);
    int mpfr_set(mare_mpfr *x, const mare_mpfr *a, int rounding);
    int mpfr_set_d(mare_mpfr *x, double a, int rounding);
    int mpfr_set_str(mare_mpfr *x, const char *text, int base, int rounding);
    double mpfr_get_d(const mare_mpfr *x, int rounding);
    int mpfr_add(mare_mpfr *x, const mare_mpfr *a, const mare_mpfr *b, int rounding);
    int mpfr_sub(mare_mpfr *x, const mare_mpfr *a, const mare_mpfr *b, int rounding);
    int mpfr_mul(mare_mpfr *x, const mare_mpfr *a, const mare_mpfr *b, int rounding);
    int mpfr_sqr(mare_mpfr *x, const mare_mpfr *a, int rounding);
    int mpfr_fma(mare_mpfr *x, const mare_mpfr *a, const mare_mpfr *b, const mare_mpfr *c,
                 int rounding);
    int mpfr_mul_2si(mare_mpfr *x, const mare_mpfr *a, long power, int rounding);
    int mpfr_const_pi(mare_mpfr *x, int rounding);
    int mpfr_sin_cos(mare_mpfr *s, mare_mpfr *c, const mare_mpfr *a, int rounding);
    int mpfr_cmp_d(const mare_mpfr *x, double a);
    const char *mpfr_get_version(void);
]]

local mpfr = {}
local NEAREST = 0
local C

local function library()
    C = C or foreign.load('MPFR', { 'libmpfr.so.6' }, 'libmpfr6')
    return C
end

-- The version of the library; raises an error that says what to install where there is none.
function mpfr.version()
    return ffi.string(library().mpfr_get_version())
end

local Number = {}
Number.__index = Number

local new = ffi.metatype('mare_mpfr', Number)

local function clear(x) C.mpfr_clear(x) end

-- A number of so many bits: 0, a Lua number, a decimal text or another of these, rounded.
function mpfr.new(bits, value)
    library()
    local x = ffi.gc(new(), clear)
    C.mpfr_init2(x, bits)
    return x:set(value or 0)
end

-- self = value, as in new().
function Number:set(value)
    if type(value) == 'number' then
        C.mpfr_set_d(self, value, NEAREST)
    elseif type(value) ~= 'string' then
        C.mpfr_set(self, value, NEAREST)
    elseif C.mpfr_set_str(self, value, 10, NEAREST) ~= 0 then
        error(string.format("'%s' is no decimal number", value), 0)
    end
    return self
end

-- self = a + b, and so on; all return self.
for _, name in ipairs { 'add', 'sub', 'mul' } do
    local symbol = 'mpfr_' .. name
    Number[name] = function(self, a, b)
        C[symbol](self, a, b, NEAREST)
        return self
    end
end

-- self = a * a
function Number:sqr(a)
    C.mpfr_sqr(self, a, NEAREST)
    return self
end

-- self = a * b + c, rounded once
function Number:fma(a, b, c)
    C.mpfr_fma(self, a, b, c, NEAREST)
    return self
end

-- self = a * 2^power
function Number:scale(a, power)
    C.mpfr_mul_2si(self, a, power, NEAREST)
    return self
end

function Number:pi()
    C.mpfr_const_pi(self, NEAREST)
    return self
end

-- sine = sin(self), cosine = cos(self), other numbers than self
function Number:sine_and_cosine(sine, cosine)
    C.mpfr_sin_cos(sine, cosine, self, NEAREST)
end

-- Negative, 0 or positive as self is less than, equal to or greater than the Lua number.
function Number:compare(value)
    return C.mpfr_cmp_d(self, value)
end

-- The nearest Lua number.
function Number:double()
    return C.mpfr_get_d(self, NEAREST)
end

return mpfr
