-- Strict maths in float: mr_rcp gives the number nearest to the quotient for every mantissa, and so
-- for every normal number; mr_rsqrt is within 2 units in the last place.

local part = require 'tests.kernels.part'

local each, items = 1024, 8192      -- all 2^23 mantissas

-- In double the exact value to within far less than a unit of float.
local text = [[
float float_of(int bits) {
    union { int bits; float value; } u;
    u.bits = bits;
    return u.value;
}

MR_KERNEL void wrong(MR_GLOBAL int *quotients, MR_GLOBAL float *roots) {
    int me = mr_gid_x(), count = 0;
    float worst = 0.0f;
    for (int k = 0; k < EACH; ++k) {
        int mantissa = me * EACH + k;
        float x = float_of(0x3f800000 | mantissa), r = mr_rcp(x);
        double unit = 5.9604644775390625e-8;        /* of numbers from 1/2 to 1 */
        if (fabs((double)r - 1.0 / (double)x) > 0.5 * unit) ++count;
        for (int odd = 0; odd < 2; ++odd) {
            float y = odd ? 2.0f * x : x;
            float error = (float)(fabs((double)mr_rsqrt(y) - 1.0 / sqrt((double)y)) / unit);
            worst = error > worst ? error : worst;
        }
    }
    quotients[me] = count;
    roots[me] = worst;
}
]]

for _, device in ipairs(part.devices()) do
    it('strict quotients are to nearest, roots close, on ' .. device.name, function()
        local kernel = device:program { name = 'maths.krn', source = 'MR_FN ' .. text,
            math = 'strict', defines = { EACH = each } }:kernel 'wrong'
        local quotients = device:buffer { type = 'int32', count = items }
        local roots = device:buffer { type = 'float', count = items }
        kernel:bind { quotients = quotients, roots = roots, global = items }:run()
        local wrong, worst = 0, 0
        for _, n in ipairs(quotients:totable()) do wrong = wrong + n end
        for _, error in ipairs(roots:totable()) do worst = math.max(worst, error) end
        assert.equal(0, wrong)
        assert.is_true(worst <= 2, 'roots are off by ' .. worst .. ' units')
    end)
end
