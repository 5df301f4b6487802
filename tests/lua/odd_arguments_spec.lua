-- What arrays, random numbers and transforms are called with by mistake is refused in words: no
-- public function of theirs ends in an error of Lua. A sample of the calls, all of them in
-- tests/long.

local errors = require 'bindings.errors'
local ffi = require 'ffi'
local functions = require 'mare.ndarray.functions'
local mare = require 'mare'
local methods = require('mare.ndarray.array').methods
local sample = require 'tests.sample'

local null = mare.device.open 'null'

local function fresh() return mare.array({ { 1, 2 }, { 3, 4 } }, { device = null }) end

local none = {}         -- stands for nil
local odd = { none, 'x', -1, 0, 2.5, 0 / 0, 1 / 0, 2 ^ 53, true, {}, { 'x' }, { {} }, { 1, 'x' },
    { a = 1 }, print, ffi.new 'int[3]', fresh(), mare.array({}, { device = null, type = 'int32' }),
    mare.array({ true, false }, { device = null }), null, io.stdout }

local function value(k)
    if odd[k] ~= none then return odd[k] end
end

-- Calls f and fails if an error of Lua comes out.
local function try(name, f, ...)
    local ok, failure = pcall(f, ...)
    if ok or errors.is(failure) or not tostring(failure):find '%.lua:%d+: ' then return end
    local words = {}
    for k = 1, select('#', ...) do words[k] = tostring((select(k, ...))):sub(1, 30) end
    error(('%s(%s): %s'):format(name, table.concat(words, ', '), tostring(failure)), 0)
end

local pairs_of_odd = {}
for k = 1, #odd do
    for l = 1, #odd do pairs_of_odd[#pairs_of_odd + 1] = { k, l } end
end

-- first: what every call begins with, if anything
local function try_all(name, f, first)
    local function call(...)
        if first then return try(name, f, first(), ...) end
        return try(name, f, ...)
    end
    call()
    for k = 1, #odd do call(value(k)) end
    for _, pair in ipairs(sample(pairs_of_odd, 20)) do
        call(value(pair[1]), value(pair[2]))
        call(fresh(), value(pair[1]), value(pair[2]))
    end
end

local function names_of(list, except)
    local names = {}
    for name, f in pairs(list) do
        if type(f) == 'function' and not except[name] then names[#names + 1] = name end
    end
    table.sort(names)
    return names
end

-- Those that write files or on the terminal.
local writing = { save = true, film = true, plot = true }

it('what is no argument of functions is refused in words', function()
    local rooms = { { '', { zeros = mare.zeros, ones = mare.ones, full = mare.full,
        arange = mare.arange, linspace = mare.linspace, eye = mare.eye, fuse = mare.fuse,
        map = mare.map, load = mare.array.load } }, { '', functions },
        { '', require 'mare.ndarray.random' }, { 'random.', mare.random }, { 'blas.', mare.blas },
        { 'fft.', mare.fft } }
    for _, room in ipairs(rooms) do
        for _, name in ipairs(sample(names_of(room[2], writing), 6)) do
            try_all(room[1] .. name, room[2][name])
        end
    end
    try_all('array', function(...) return mare.array(...) end)
end)

it('what is no argument of methods is refused in words', function()
    for _, name in ipairs(sample(names_of(methods, writing), 12)) do
        try_all(':' .. name, methods[name], fresh)
        for k = 1, #odd do try('.' .. name, methods[name], value(k)) end
    end
    for k = 1, #odd do
        try('a()', function(x) return fresh()(x) end, value(k))
        try('a + x', function(x) return fresh() + x, fresh() ^ x, x % fresh() end, value(k))
        try('a .. x', function(x) return fresh() .. x end, value(k))
        try('a[x]', function(x) return fresh()[x] end, value(k))
        try('a[x] = 1', function(x) fresh()[x] = 1 end, value(k))
    end
end)
