-- gauss.lua - integrals and cell means by four Gauss points in each direction.

local gauss = {}

local nodes = { -0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526 }
local weights = { 0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538 }

-- Returns the integral of a function over [a, b].
function gauss.integral(f, a, b)
    local middle, half, sum = 0.5 * (a + b), 0.5 * (b - a), 0
    for k = 1, 4 do sum = sum + weights[k] * f(middle + half * nodes[k]) end
    return half * sum
end

-- Turns point values of the unknowns into means over cells of dx times dy.
function gauss.means(point, dx, dy)
    return function(x, y)
        local a, b, c, d = 0, 0, 0, 0
        for n = 1, 4 do
            for m = 1, 4 do
                local w = 0.25 * weights[m] * weights[n]
                local rho, mx, my, energy = point(x + 0.5 * dx * nodes[m], y + 0.5 * dy * nodes[n])
                a, b, c, d = a + w * rho, b + w * mx, c + w * my, d + w * energy
            end
        end
        return a, b, c, d
    end
end

return gauss
