-- mpi_link.lua - a message between two ranks that is sent again and again from, or into, the same
-- memory: everything is settled when the link is made, and begin() and finish() make no garbage.
--
--     local out = link.new(world, 'send', data, bytes, 1, tag)     -- rank 1 makes 'receive'
--     out:begin()
--     out:finish 'halo of part 2'      -- the memory may be changed again

local ffi = require 'ffi'
local errors = require 'bindings.errors'

ffi.cdef [[
    int MPI_Send_init(const void *data, int count, uintptr_t type, int to, int tag, uintptr_t comm,
                      uintptr_t *request);
    int MPI_Recv_init(void *data, int count, uintptr_t type, int from, int tag, uintptr_t comm,
                      uintptr_t *request);
    int MPI_Start(uintptr_t *request);
    int MPI_Request_free(uintptr_t *request);
]]

local Link = {}
Link.__index = Link

local M = { methods = Link }

local calls = { send = 'MPI_Send_init', receive = 'MPI_Recv_init' }
local most = 2 ^ 31 - 1         -- bytes: MPI counts in 32 bits

-- way: 'send' or 'receive'; data: the host memory; peer: the other rank
function M.new(world, way, data, bytes, peer, tag)
    if bytes > most then
        errors.argument('a message between ranks has %.0f bytes, at most %.0f', bytes, most)
    end
    local self = setmetatable({ world = world, data = data, way = way, bytes = bytes, peer = peer,
        request = ffi.new 'uintptr_t[1]' }, Link)
    self.list = { self, peer = peer }
    world:check(world.library[calls[way]](data, bytes, world.abi.byte, peer, tag, world.comm,
        self.request), calls[way])
    return self
end

function Link:begin()
    self.world.pending[self] = true     -- and so its memory stays, whatever error comes
    self.world:check(self.world.library.MPI_Start(self.request), 'MPI_Start')
end

-- Waits if it was begun. what: for the message of a failure
function Link:finish(what)
    if self.world.pending[self] then self.world:wait(self.list, what) end
end

function Link:release()
    self:finish 'the last message'
    if not self.world:is_closed() then self.world.library.MPI_Request_free(self.request) end
end

return M
