-- Points in private memory, as the text of a kernel reads and writes them. Some points are in two
-- arrays of real numbers: `arrays` is { re, im }, the names of those of the parts.

local dialect = require 'mare.dialect.nodes'

local points = {}

-- Returns a real number of the kernel as a tree. text: what it is there, if not its name
function points.real(name, text) return dialect.input(name, 'real', text or name) end

-- Returns the value of point `at`, which is a number or a text.
function points.get(arrays, at)
    return { re = points.real('v_re', ('%s[%s]'):format(arrays.re, at)),
        im = points.real('v_im', ('%s[%s]'):format(arrays.im, at)) }
end

-- Writes the lines that give point `at` a value.
function points.set(w, arrays, at, value)
    local re, im = w:values { value.re, value.im }
    w:line('%s[%s] = %s;', arrays.re, at, re)
    w:line('%s[%s] = %s;', arrays.im, at, im)
end

-- Returns the text of a quotient of an int that is not negative, which compilers do not know: a
-- shift or a division of unsigned numbers takes half as long.
function points.quotient(text, n)
    local bits = math.floor(math.log(n) / math.log(2) + 0.5)
    if n == 1 then return text end
    if 2 ^ bits == n then return ('(%s >> %d)'):format(text, bits) end
    return ('(int)((uint)(%s) / %du)'):format(text, n)
end

-- Returns the text of what is left of an int that is not negative: compilers then know how large it
-- is, and fold what follows.
function points.rest(text, n)
    local bits = math.floor(math.log(n) / math.log(2) + 0.5)
    if 2 ^ bits == n then return ('(%s & %d)'):format(text, n - 1) end
    return ('(int)((uint)(%s) %% %du)'):format(text, n)
end

return points
