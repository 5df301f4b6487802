-- mare.ranks: the processes that mpirun or srun has started for one run, and
-- messages between them. Started without one, there is one rank and all of this
-- works too.
--
--     local ranks = mare.ranks
--     local share = heavy_sum(ranks.rank, ranks.size)          -- rank counts from 0
--     print(ranks.reduce(share, 'sum'))                        -- on every rank
--     local west = ranks.exchange((ranks.rank + 1) % ranks.size, my_edge,
--         (ranks.rank - 1) % ranks.size)
--
-- A value is a number, text, truth value, table of these, array on a device or of the
-- host, host memory or buffer, all of whose bits are kept. Arrays on devices arrive as
-- such, of the same shape; arrays of the host, host memory and buffers as host arrays;
-- or all of them `into` a place of one's own. Where all ranks call the same function,
-- they call it in the same order. An error on one rank ends all.

local boxes = require 'mare.ranks.boxes'
local errors = require 'bindings.errors'
local events = require 'mare.base.events'
local heart = require 'mare.ranks.heart'
local here = require 'mare.ranks.here'
local home = require 'bindings.home'
local hush = require 'bindings.hush'
local mail = require 'mare.ranks.mail'
local message = require 'bindings.message'
local places = require 'mare.ranks.places'
local process = require 'mare.ranks.process'
local reduction = require 'mare.ranks.reduction'
local speaker = require 'mare.ranks.speaker'

local ranks = { rank = 0, size = 1, local_rank = 0, local_size = 1, host = nil }

-- ---- arguments ----

local function is_whole(value, least, most)
    return type(value) == 'number' and value % 1 == 0 and value >= least and value <= most
end

local function check_rank(what, name, value)
    if is_whole(value, 0, ranks.size - 1) then return value end
    errors.argument('%s: %s = %s: a rank is wanted, from 0 to %d', what, name, tostring(value),
        ranks.size - 1)
end

local function check_tag(what, tag)
    if tag == nil then return 0 end
    if is_whole(tag, 0, mail.largest_tag) then return tag end
    errors.argument('%s: tag = %s: a whole number is wanted, from 0 to %d', what, tostring(tag),
        mail.largest_tag)
end

local allowed = { into = 'any', tag = 'number' }

local function check_options(what, options)
    errors.fields(what, options or {}, allowed)
    local tag = check_tag(what, options and options.tag)
    local into = options and options.into
    if into ~= nil and not boxes.is(into) then message.check_place(what, into) end
    return tag, into
end

-- ---- from one rank to another ----

local function deliver(what, parcel, from, into)
    if into == nil then return mail.unpack(parcel) end
    local put = boxes.is(into) and boxes.put or message.put
    put(what, parcel, into, from)
    return into
end

-- Sends a value to a rank, and waits until the value may be changed again.
-- options: { tag = 0 }: messages of a tag arrive in order, at a receive() of
-- that tag
function ranks.send(to, value, options)
    local what = 'ranks.send'
    check_rank(what, 'to', to)
    errors.fields(what, options or {}, { tag = 'number' })
    local tag = check_tag(what, options and options.tag)
    mail.finish(mail.begin('send', to, mail.pack(what, value), tag))
end

-- Waits for a value from a rank, or from any other one if `from` is nil.
-- Returns the value and its rank. options: { into =, tag = 0 }; into: an array,
-- host memory or a buffer of the type and length that are sent
function ranks.receive(from, options)
    local what = 'ranks.receive'
    if from ~= nil then check_rank(what, 'from', from) end
    local tag, into = check_options(what, options)
    local parcel, sender = mail.take('send', from, tag)
    return deliver(what, parcel, sender, into), sender
end

-- Sends a value to one rank and returns the one that comes from another, which
-- may be this one. options: those of receive()
function ranks.exchange(to, value, from, options)
    local what = 'ranks.exchange'
    check_rank(what, 'to', to)
    check_rank(what, 'from', from)
    local tag, into = check_options(what, options)
    local sent = mail.begin('send', to, mail.pack(what, value), tag)
    local parcel = mail.take('send', from, tag)
    mail.finish(sent)
    return deliver(what, parcel, from, into)
end

-- ---- calls that all ranks make ----

-- Waits until all ranks have come here.
function ranks.barrier()
    mail.collect('barrier', 0, mail.pack('ranks.barrier', nil))
    mail.spread('barrier', 0, mail.pack('ranks.barrier', nil))
end

local function spread(call, value, from)
    local parcel = ranks.rank == from and mail.pack('ranks.' .. call, value) or nil
    if ranks.size == 1 then return value end
    local arrived = mail.spread(call, from, parcel)
    if parcel then return value end
    return mail.unpack(arrived)
end

-- Returns on every rank the value that rank `from` (0 if not given) has.
function ranks.broadcast(value, from)
    from = from == nil and 0 or check_rank('ranks.broadcast', 'from', from)
    return spread('broadcast', value, from)
end

-- Returns on rank `to` (0 if not given) the values of all ranks as a Lua array,
-- that of rank 0 at 1; nil on others.
function ranks.gather(value, to)
    to = to == nil and 0 or check_rank('ranks.gather', 'to', to)
    local all = mail.collect('gather', to, mail.pack('ranks.gather', value))
    if not all then return nil end
    local values = {}
    for k, parcel in ipairs(all) do values[k] = mail.unpack(parcel) end
    values[to + 1] = value
    return values
end

-- Returns on every rank, to the same bits, the 'sum', 'min' or 'max' over the
-- ranks of a number, of each number of a Lua array, or of each element of an
-- array (on a device or not) or buffer of float or double. A sum is taken in the
-- order of the ranks; min and max are NaN where one of the numbers is.
function ranks.reduce(value, how)
    local what = 'ranks.reduce'
    reduction.check_name(what, how)
    local given, call = reduction.numbers(what, value), 'reduce to the ' .. how
    local all = mail.collect(call, 0, message.of_array(what, given))
    local found = all and message.of_array(what, reduction.combine(what, all, how))
    return reduction.like(value, message.array(mail.spread(call, 0, found)))
end

-- Returns the largest over the ranks of numbers that are not below 0, or NaN if
-- one of them is NaN: one call of MPI, for what is wanted in every step.
function ranks.largest(value)
    if type(value) ~= 'number' or value < 0 then
        errors.argument('ranks.largest: a number from 0 is wanted, not %s', tostring(value))
    end
    if ranks.size == 1 then return value end
    return mail.world:largest(value == 0 and 0 or value, 'ranks.largest')
end

-- Returns on every rank whether Ctrl-C or another signal has come to one of them:
-- then all stop at the same place. Where rank 0 has none, the first that has one says so.
function ranks.interrupted()
    local is_here = home.interrupted()
    if ranks.size == 1 then return is_here end
    local all = mail.collect('interrupted', 0, mail.pack('ranks.interrupted', is_here))
    local first = false
    for k, parcel in ipairs(all or {}) do
        first = first or mail.unpack(parcel) and k - 1
    end
    first = spread('interrupted', first, 0)
    if first and first > 0 and first == ranks.rank then
        events.tell('log', { level = 'warn', message = 'a signal came to this rank: all end' })
    end
    process.has_agreed = process.has_agreed or first ~= false
    return first ~= false
end

-- ---- the start ----

-- Returns how this rank is called in messages: "rank 2 (node7)".
function ranks.name()
    return ('rank %d (%s)'):format(ranks.rank, ranks.host)
end

-- Returns how the ranks were started: { launcher =, library =, version =, abi =
-- }; nil for a process that was started alone.
function ranks.start()
    local world = process.world
    return world and { launcher = world.launcher, library = world.path, version = world.version,
        abi = world.abi.name }
end

local machine

local function find_places()
    ranks.host, machine = places.here()
    local own = { machine = machine, tally = process.world and speaker.offer() }
    local all, machines = spread('broadcast', ranks.gather(own), 0), {}
    for k, other in ipairs(all) do machines[k] = other.machine end
    ranks.local_rank, ranks.local_size = places.of(ranks.rank, machines)
    speaker.choose(ranks.rank, all)
end

-- Tells what this rank waits for, if that takes long: a session waits for its user.
local function tell_late(what, seconds)
    if what:find '^ranks%.session' then return end
    events.tell('log', { level = 'warn', message = ('waits for more than %g s: %s'):format(seconds,
        what) })
end

-- Lets the rooms above know of the others.
local function settle_here()
    for _, name in ipairs { 'rank', 'size', 'local_rank', 'local_size' } do
        here[name] = ranks[name]
    end
    here.name, here.machine, here.place = ranks.name(), ranks.host, machine
    here.world = mail.world:duplicate()
    here.broadcast, here.largest, here.interrupted = ranks.broadcast, ranks.largest,
        ranks.interrupted
    function here.all(value) return ranks.broadcast(ranks.gather(value)) end
    function here.allow_silence(seconds)
        if mail.world.is_guest then return end
        heart.stop()
        heart.start(ranks, machine, seconds)
    end
    if ranks.rank > 0 then here.hush = hush end
end

local world = process.join()
if world then
    ranks.rank, ranks.size = world.rank, world.size
    mail.world, mail.rank, mail.size = world, world.rank, world.size
end
find_places()
if ranks.size > 1 then
    process.introduce(ranks.name())
    world.late = tell_late
    if ranks.local_size > places.cores() then world:give_cores() end
    if ranks.local_size > 1 then world:take_turns() end
    settle_here()
    if not world.is_guest then heart.start(ranks, machine) end
end

return ranks
