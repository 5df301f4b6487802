-- Solves a dam break over a flat bottom exactly: water at rest, deeper on the left, and a
-- dam at x = 0 that is gone at t = 0. Onto a wet bed after Stoker (Water Waves, 1957, 10.8): a
-- rarefaction, steady flow, and a bore. Onto a dry one after Ritter (1892, Z. Ver. Dtsch.
-- Ing. 36, 947): the rarefaction alone, whose tip runs at twice the speed of waves.
--
--   local solution = dam_break.solve(left, right, g)
--   solution.h, solution.u, solution.bore   -- between the waves; speed of the bore
--   local h, u = solution:sample(x / t)

local errors = require 'bindings.errors'

local dam_break = {}

local Solution = {}
Solution.__index = Solution

-- Returns the velocity behind a bore of depth h into still water of depth `ahead`.
local function behind_bore(h, ahead, g)
    return (h - ahead) * math.sqrt(0.5 * g * (h + ahead) / (h * ahead))
end

-- Returns the depth where a rarefaction and a bore give the same velocity: the first falls with
-- depth, the other rises.
local function middle_depth(left, right, g)
    local low, high = right, left
    for _ = 1, 200 do
        local h = 0.5 * (low + high)
        local slower = 2 * (math.sqrt(g * left) - math.sqrt(g * h)) < behind_bore(h, right, g)
        if slower then high = h else low = h end
    end
    return 0.5 * (low + high)
end

-- Solves a dam break of the depths left >= right >= 0.
function dam_break.solve(left, right, g)
    if not (left >= right and right >= 0 and left > 0) then
        errors.argument('dam_break: depths %g and %g: the left one must be the larger', left, right)
    end
    local self = setmetatable({ left = left, right = right, g = g, h = 0 }, Solution)
    self.c = math.sqrt(g * left)
    if right > 0 then self.h = middle_depth(left, right, g) end
    self.u = 2 * (self.c - math.sqrt(g * self.h))
    self.bore = right > 0 and self.h * self.u / (self.h - right) or self.u
    return self
end

-- Returns depth and velocity on the ray xi = x / t.
function Solution:sample(xi)
    if xi <= -self.c then return self.left, 0 end
    if xi >= self.bore then return self.right, 0 end
    if xi >= self.u - math.sqrt(self.g * self.h) then return self.h, self.u end
    return (2 * self.c - xi) ^ 2 / (9 * self.g), 2 / 3 * (self.c + xi)
end

return dam_break
