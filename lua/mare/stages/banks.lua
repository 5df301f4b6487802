-- Padding of local memory. It has 32 banks, each of which gives one number at a time. Unused
-- numbers between the points keep the work-items of a warp from reading one bank together. The
-- best padding is found by counting such conflicts.

local points = require 'mare.stages.points'

local banks = {}

local count, warp = 32, 32

-- Returns where point i stands if one unused number follows each `run` points.
local function padded(run, i)
    return run and i + math.floor(i / run) or i
end

-- Returns how many work-items of a warp read the bank that most of them read. places: what they
-- read
local function conflicts(places)
    local asked, most = {}, 0
    for _, place in ipairs(places) do
        local bank = place % count
        asked[bank] = (asked[bank] or 0) + 1
        most = math.max(most, asked[bank])
    end
    return most
end

-- Whether r points that are `step` apart, the first anywhere in a range of that length, stand so
-- many numbers behind the first one wherever this is. If not, each place is computed by itself.
function banks.is_regular(run, step, r)
    local all = step * r
    return not run or step % run == 0
        or run % step == 0 and (run % all == 0 or all % run == 0)
end

-- Returns how many numbers two neighbouring points of a transform are apart.
function banks.apart(d, is_turning)
    return not d.is_column and 1 or is_turning and d.width + 1 or d.width
end

-- Returns the conflicts of the first warp where it writes and reads the points behind a stage; to
-- compute places counts as one.
-- place(line, point): where a point of a transform stands; is_turning: whether the warp reads a row
local function cost_of(d, stage, following, place, run, is_turning)
    local cost = 0
    if not banks.is_regular(run, stage.s, stage.r) then cost = cost + 1 end
    if not banks.is_regular(run, following.count, following.r) then cost = cost + 1 end
    local function add(count_of_all, point_of, is_column)
        local places = {}
        for k = 0, warp - 1 do
            local b, line = k % d.items, math.floor(k / d.items)
            if is_column then b, line = math.floor(k / d.width), k % d.width end
            if line < d.width and b < count_of_all then
                places[#places + 1] = place(line, point_of(b))
            end
        end
        cost = cost + conflicts(places)
    end
    add(stage.count, function(b)
        return b + math.floor(b / stage.s) * stage.s * (stage.r - 1)
    end, d.is_column)
    add(following.count, function(b) return b end, d.is_column and not is_turning)
    return cost
end

-- Returns a function that gives where point i of a transform of the group stands. stride: the
-- numbers of a transform
local function placing(d, run, stride, is_turning)
    if d.is_column then
        local apart = banks.apart(d, is_turning)
        return function(line, i) return padded(run, i) * apart + line end
    end
    return function(line, i) return line * stride + padded(run, i) end
end

-- Returns the conflicts of all exchanges with a padding.
function banks.cost(d, stages, pad)
    local cost = 0
    if d.convolution == 'rader' and pad.run then cost = 2 end    -- places of two permutations
    for k = 1, #stages - 1 do
        local is_turning = d.is_turned and k == #stages - 1
        local place = placing(d, pad.run, pad.stride, is_turning)
        cost = cost + cost_of(d, stages[k], stages[k + 1], place, pad.run, is_turning)
    end
    return cost
end

-- Returns { run, stride }: the padding with the fewest conflicts, and the numbers of a transform.
function banks.best(d, stages)
    local best, least
    for _, run in ipairs { false, 32, 16, 8, 4 } do
        local own = padded(run, d.points - 1) + 1
        for extra = 0, d.items < warp and not d.is_column and 4 or 0 do
            local pad = { run = run, stride = own + extra }
            local cost = banks.cost(d, stages, pad)
            if not least or cost < least then best, least = pad, cost end
        end
    end
    return best
end

-- Returns the text of where point `at`, a text, stands.
function banks.text(pad, at)
    return pad.run and ('%s + %s'):format(at, points.quotient(at, pad.run)) or at
end

return banks
