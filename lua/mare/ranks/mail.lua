-- mail.lua - parcels between ranks, each with a header, so that a rank that
-- makes another call than its peer is told so instead of waiting for ever.

local boxes = require 'mare.ranks.boxes'
local errors = require 'bindings.errors'
local literal = require 'mare.base.literal'
local message = require 'bindings.message'
local tree = require 'mare.ranks.tree'

local mail = { world = nil, rank = 0, size = 1 }    -- world: of bindings.mpi, nil if alone

local calls = { 'send', 'barrier', 'broadcast', 'gather', 'reduce to the sum', 'reduce to the min',
    'reduce to the max', 'interrupted', 'session' }
local number_of = {}
for k, name in ipairs(calls) do number_of[name] = k end

local shared_tag = 32000    -- calls that all ranks make use this tag
local session_tag = 32001   -- what a session is told comes through, whatever a line has left
mail.largest_tag = 31999
local kept = {}             -- holds by tag what this rank has sent to itself, in order

-- ---- values ----

-- Returns the parcel of a value: arrays as they are, anything else as text.
function mail.pack(what, value)
    if boxes.is(value) then return boxes.pack(what, value) end
    if message.is_array(value) then return message.of_array(what, value) end
    if value == nil then return message.of_text '' end
    local ok, text = pcall(literal.encode, value)
    if not ok then errors.argument('%s: %s; arrays and buffers too', what, text) end
    return message.of_text(text)
end

-- Returns the value of a parcel that came from a rank.
function mail.unpack(parcel)
    if message.is_box(parcel) then return boxes.unpack(parcel) end
    if not message.is_text(parcel) then return message.array(parcel) end
    local text = message.text(parcel)
    if text == '' then return nil end
    return literal.decode(text)
end

-- ---- parcels ----

local function tag_of(call, tag)
    if call == 'session' then return session_tag end
    return call == 'send' and tag or shared_tag
end

local function keep(parcel, tag)
    kept[tag] = kept[tag] or {}
    table.insert(kept[tag], message.copy(parcel))
end

-- Begins to send a parcel; returns what finish() waits for.
function mail.begin(call, to, parcel, tag)
    tag = tag_of(call, tag)
    if to == mail.rank then
        keep(parcel, tag)
        return nil
    end
    local header, world = message.header(parcel, number_of[call], mail.rank), mail.world
    local sent = { to = to, call = call, header = header, parcel = parcel }
    sent.first = world:send(header, message.header_bytes, to, tag)
    if parcel.bytes > 0 then sent.rest = world:send(parcel.data, parcel.bytes, to, tag) end
    return sent
end

function mail.finish(sent)
    if not sent then return end
    local what = ('ranks.%s: to rank %d'):format(sent.call, sent.to)
    mail.world:wait(sent.first, what)
    if sent.rest then mail.world:wait(sent.rest, what) end
end

local function take_kept(tag)
    local parcel = kept[tag] and table.remove(kept[tag], 1)
    if parcel then return parcel, mail.rank end
    errors.argument('ranks.receive: rank %d waits for a message of its own with tag %d, and has '
        .. 'sent none', mail.rank, tag)
end

local function check_call(call, header, from)
    local theirs = calls[header.call]
    if theirs == call then return end
    errors.raise('MARE_ERROR_STATE', 'ranks.%s: rank %d is in ranks.%s: all ranks make these '
        .. 'calls in the same order', call, from, theirs or '?')
end

-- Waits for a parcel and returns it with the rank that sent it. from: nil for
-- any other rank; seconds: how long to wait at most, nil: for ever; returns nil then
function mail.take(call, from, tag, seconds)
    tag = tag_of(call, tag)
    if from == mail.rank or mail.size == 1 then return take_kept(tag) end
    local header, world = message.empty_header(), mail.world
    local what = ('ranks.%s: from %s'):format(call, from and 'rank ' .. from or 'any rank')
    local begun = world:receive(header, message.header_bytes, from, tag)
    if not world:wait(begun, what, seconds) then return nil end
    local sender, parcel = tonumber(header.from), message.expect(header)
    if not parcel then
        errors.raise('MARE_ERROR_STATE', '%s: what came is no message of Mare', what)
    end
    check_call(call, header, sender)
    if parcel.bytes > 0 then
        world:wait(world:receive(parcel.data, parcel.bytes, sender, tag), what)
    end
    return parcel, sender
end

-- ---- calls that all ranks make ----

-- Returns on every rank the parcel that `root` has.
function mail.spread(call, root, parcel)
    local parent, children = tree.of(mail.rank, mail.size, root)
    if parent then parcel = mail.take(call, parent) end
    local sent = {}
    for k, child in ipairs(children) do sent[k] = mail.begin(call, child, parcel) end
    for _, one in ipairs(sent) do mail.finish(one) end
    return parcel
end

-- Returns the parcels of all ranks, that of rank 0 at 1, on `root`; nil on
-- others.
function mail.collect(call, root, parcel)
    if mail.rank ~= root then
        mail.finish(mail.begin(call, root, parcel))
        return nil
    end
    local all = {}
    for from = 0, mail.size - 1 do
        all[from + 1] = from == root and parcel or mail.take(call, from)
    end
    return all
end

return mail
