-- sodium.lua - signatures of messages by a shared key (HMAC with SHA-256), and random names, by
-- libsodium, which ZeroMQ brings along.

local ffi = require 'ffi'
local foreign = require 'bindings.foreign'

ffi.cdef [[
    int sodium_init(void);
    const char *sodium_version_string(void);
    size_t crypto_auth_hmacsha256_statebytes(void);
    int crypto_auth_hmacsha256_init(void *state, const char *key, size_t size);
    int crypto_auth_hmacsha256_update(void *state, const char *data, unsigned long long size);
    int crypto_auth_hmacsha256_final(void *state, unsigned char *out);
    int sodium_memcmp(const void *a, const void *b, size_t size);
    void randombytes_buf(void *out, size_t size);
]]

local sodium = {}

local bytes = 32        -- of a signature
local library, state

-- Loads the library or raises an error that says what to install; names replace the usual ones.
function sodium.load(names)
    library = foreign.load('libsodium', names or { 'libsodium.so.23', 'libsodium.so.26' },
        'libsodium23')
    if library.sodium_init() < 0 then error('libsodium cannot be initialised', 0) end
    state = ffi.new('uint64_t[?]', math.ceil(
        tonumber(library.crypto_auth_hmacsha256_statebytes()) / 8))
    return library
end

local function C()
    return library or sodium.load()
end

function sodium.version()
    return ffi.string(C().sodium_version_string())
end

local function hexadecimal(data, size)
    local digits = {}
    for k = 0, size - 1 do digits[k + 1] = ('%02x'):format(data[k]) end
    return table.concat(digits)
end

-- Returns the signature of texts one after the other, in 64 hexadecimal digits.
function sodium.sign(key, texts)
    C().crypto_auth_hmacsha256_init(state, key, #key)
    for _, text in ipairs(texts) do library.crypto_auth_hmacsha256_update(state, text, #text) end
    local out = ffi.new('unsigned char[?]', bytes)
    library.crypto_auth_hmacsha256_final(state, out)
    return hexadecimal(out, bytes)
end

-- Returns whether two texts are the same, in a time that does not tell where they differ.
function sodium.same(a, b)
    return #a == #b and C().sodium_memcmp(a, b, #a) == 0
end

-- Returns a name of 32 hexadecimal digits that nobody else has.
function sodium.name()
    local out = ffi.new 'unsigned char[16]'
    C().randombytes_buf(out, 16)
    return hexadecimal(out, 16)
end

return sodium
