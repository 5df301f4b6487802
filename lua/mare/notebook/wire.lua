-- wire.lua - messages of the Jupyter protocol 5.4 as the parts that go over a
-- socket, and back: identities, a mark, a signature and four texts in JSON. What
-- comes in may be anybody's: a message that is not signed by the key of this kernel,
-- that was here before, or that is no message, is refused with a reason.

local json = require 'mare.notebook.encoding'
local sodium = require 'bindings.sodium'
local utf8 = require 'bindings.utf8'

local wire = { version = '5.4' }

local mark = '<IDS|MSG>'
local kept = 32768          -- signatures in each of two sets, to know those that come again

local Wire = {}
Wire.__index = Wire

-- key: that of the connection file; empty where nothing is signed
function wire.new(key)
    return setmetatable({ key = key, session = sodium.name(), sent = 0, fresh = {}, old = {},
        count = 0 }, Wire)
end

local function sign(self, texts)
    return self.key == '' and '' or sodium.sign(self.key, texts)
end

-- ---- out ----

local function header(self, kind)
    self.sent = self.sent + 1
    return json.encode { msg_id = ('%s_%d'):format(self.session, self.sent), msg_type = kind,
        session = self.session, username = 'mare', version = wire.version,
        date = os.date '!%Y-%m-%dT%H:%M:%SZ' }
end

-- Returns the parts of a message. to: identities, or a topic; parent: the header, as
-- text, of the request that it belongs to; content, metadata: JSON
function Wire:parts(to, kind, content, parent, metadata)
    local texts = { header(self, kind), parent or '{}', metadata or '{}', (utf8.cleaned(content)) }
    local parts = { unpack(to) }
    parts[#parts + 1] = mark
    parts[#parts + 1] = sign(self, texts)
    for _, text in ipairs(texts) do parts[#parts + 1] = text end
    return parts
end

-- ---- in ----

local function place_of_mark(parts)
    for k, part in ipairs(parts) do
        if part == mark then return k end
    end
end

-- Returns whether a signature was here before, and keeps it in mind.
local function is_repeated(self, signature)
    if self.fresh[signature] or self.old[signature] then return true end
    self.fresh[signature] = true
    self.count = self.count + 1
    if self.count >= kept then self.fresh, self.old, self.count = {}, self.fresh, 0 end
    return false
end

-- Returns the value of a JSON object; nil and the reason if the text is something else.
local function object(name, text)
    if utf8.fault(text) then return nil, name .. ': not UTF-8' end
    local value, after, problem = json.decode(text)
    if type(value) ~= 'table' or not text:find '^%s*{' or text:find('%S', after) then
        return nil, ('%s: no JSON object%s'):format(name, problem and ': ' .. problem or '')
    end
    return value
end

local function check_signature(self, parts, at)
    if self.key == '' then return nil end
    local texts = { unpack(parts, at + 2, at + 5) }
    if not sodium.same(parts[at + 1], sign(self, texts)) then return 'wrong signature' end
    return is_repeated(self, parts[at + 1]) and 'it was here before' or nil
end

-- Returns { from = identities, header, kind, head = its text, content, text = that of the
-- content } of the parts of a message; nil and the reason if they are none.
function Wire:message(parts)
    local at = place_of_mark(parts)
    if not at then return nil, 'no ' .. mark end
    if #parts < at + 5 then return nil, 'too few parts' end
    local reason = check_signature(self, parts, at)
    if reason then return nil, reason end
    local found, content
    found, reason = object('header', parts[at + 2])
    if not found then return nil, reason end
    content, reason = object('content', parts[at + 5])
    if not content then return nil, reason end
    if type(found.msg_type) ~= 'string' or type(found.msg_id) ~= 'string' then
        return nil, 'header: no msg_type or msg_id'
    end
    return { from = { unpack(parts, 1, at - 1) }, header = found, kind = found.msg_type,
        head = parts[at + 2], content = content, text = parts[at + 5] }
end

return wire
