-- The Euler equations of an ideal gas in Lua, as a scheme: gas { riemann = 'rusanov' } has more
-- fields of mare.equations, or others.

local mare = require 'mare'

return function(changes)
    local desc = {
        name = 'gas_in_lua', parameters = { gamma = 5 / 3 },
        fields = { 'rho', mare.vector 'm', 'E' }, primitives = { 'rho', mare.vector 'u', 'p' },
        primitive = function(q, p)
            local un, ut = q.m.n / q.rho, q.m.t / q.rho
            return q.rho, un, ut, (p.gamma - 1) * (q.E - 0.5 * (q.m.n * un + q.m.t * ut))
        end,
        conserved = function(w, p)
            return w.rho, w.rho * w.u.n, w.rho * w.u.t,
                w.p / (p.gamma - 1) + 0.5 * w.rho * (w.u.n * w.u.n + w.u.t * w.u.t)
        end,
        flux = function(w, p)
            local E = w.p / (p.gamma - 1) + 0.5 * w.rho * (w.u.n * w.u.n + w.u.t * w.u.t)
            local m = w.rho * w.u.n
            return m, m * w.u.n + w.p, m * w.u.t, w.u.n * (E + w.p)
        end,
        speed = function(w, p)
            local c = math.sqrt(p.gamma * w.p / w.rho)
            return w.u.n - c, w.u.n + c
        end,
    }
    for key, value in pairs(changes or {}) do desc[key] = value end
    return mare.equations(desc)
end
