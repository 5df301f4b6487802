-- problems.lua - Riemann problems: Sod, and Toro (2009) tests 1 to 5 of chapter
-- 6 and 4 of chapter 4. Each has density, velocity and pressure left and right,
-- the place of the jump and the time; gamma is 1.4, the domain [0, 1]. none,
-- minmod, mc: mean errors of the density on 100, 200 and 400 cells by a plain
-- textbook code with HLLC and that limiter, as `build/mare
-- tests/validation/textbook.lua` prints them.

return {
    { name = 'sod', { 1, 0, 1 }, { 0.125, 0, 0.1 }, x0 = 0.5, t = 0.2,
        none = { 0.0172, 0.0113, 0.0071 },
        minmod = { 0.00691, 0.00408, 0.00224 },
        mc = { 0.0042, 0.00247, 0.00132 } },
    { name = 'toro1', { 1, 0.75, 1 }, { 0.125, 0, 0.1 }, x0 = 0.3, t = 0.2,
        none = { 0.0153, 0.00971, 0.00661 },
        minmod = { 0.00726, 0.00408, 0.00263 },
        mc = { 0.00538, 0.00281, 0.00171 } },
    { name = 'toro2', { 1, -2, 0.4 }, { 1, 2, 0.4 }, x0 = 0.5, t = 0.15,
        none = { 0.0307, 0.0209, 0.0145 },
        minmod = { 0.0133, 0.00809, 0.00457 },
        mc = { 0.00592, 0.00354, 0.0018 } },
    { name = 'toro3', { 1, 0, 1000 }, { 1, 0, 0.01 }, x0 = 0.5, t = 0.012,
        none = { 0.216, 0.172, 0.12 },
        minmod = { 0.145, 0.101, 0.0579 },
        mc = { 0.104, 0.0673, 0.0367 } },
    { name = 'toro4', { 5.99924, 19.5975, 460.894 }, { 5.99242, -6.19633, 46.0950 }, x0 = 0.4,
        t = 0.035,
        none = { 0.891, 0.601, 0.403 },
        minmod = { 0.493, 0.303, 0.179 },
        mc = { 0.367, 0.249, 0.159 } },
    { name = 'toro5', { 1, -19.59745, 1000 }, { 1, -19.59745, 0.01 }, x0 = 0.8, t = 0.012,
        none = { 0.0606, 0.034, 0.0174 },
        minmod = { 0.0442, 0.0231, 0.0113 },
        mc = { 0.0504, 0.0254, 0.0129 } },
    { name = 'chapter4', { 1, 0, 0.01 }, { 1, 0, 100 }, x0 = 0.5, t = 0.035,
        none = { 0.21, 0.163, 0.114 },
        minmod = { 0.143, 0.0944, 0.0552 },
        mc = { 0.104, 0.0617, 0.0338 } },
}
