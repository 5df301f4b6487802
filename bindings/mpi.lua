-- mpi.lua - MPI, loaded when a launcher of it started this process and never linked: messages
-- between the ranks. One thread calls it, the one that called start().
--
--     local mpi = require 'bindings.mpi'
--     local world = mpi.start()            -- nil: started alone
--     local sent = world:send(data, bytes, to, tag)
--     world:wait(sent, 'send to rank 1')
--
-- No call waits inside the library, so Ctrl-C is heard at any time: a request is tested until it is
-- done. MARE_MPI names the library where the right one is not found.

local ffi = require 'ffi'
local abi_of = require 'bindings.mpi_abi'
local errors = require 'bindings.errors'
local launch = require 'bindings.mpi_launch'
local left = require 'bindings.mpi_left'
local posix = require 'bindings.posix'
local signal = require 'bindings.signal'
local system = require 'bindings.system'
local tables = require 'bindings.tables'

ffi.cdef [[
    int MPI_Get_library_version(char *text, int *length);
    int MPI_Initialized(int *flag);
    int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given);
    int MPI_Finalize(void);
    int MPI_Abort(uintptr_t comm, int status);
    int MPI_Comm_dup(uintptr_t comm, uintptr_t *out);
    int MPI_Comm_set_errhandler(uintptr_t comm, uintptr_t handler);
    int MPI_Comm_rank(uintptr_t comm, int *rank);
    int MPI_Comm_size(uintptr_t comm, int *size);
    int MPI_Error_string(int code, char *text, int *length);
    int MPI_Isend(const void *data, int count, uintptr_t type, int to, int tag, uintptr_t comm,
                  uintptr_t *request);
    int MPI_Irecv(void *data, int count, uintptr_t type, int from, int tag, uintptr_t comm,
                  uintptr_t *request);
    int MPI_Iallreduce(const void *data, void *out, int count, uintptr_t type, uintptr_t op,
                       uintptr_t comm, uintptr_t *request);
    int MPI_Test(uintptr_t *request, int *flag, void *status);
    int sched_yield(void);
    unsigned ualarm(unsigned microseconds, unsigned interval);
]]

local SIGALRM = 14
local M = {}

local World = {}
World.__index = World

-- ---- the library ----

local names = {
    ['Open MPI'] = { 'libmpi.so.40' },
    MPICH = { 'libmpi.so.12', 'libmpich.so.12', 'libmpi_cray.so.12', 'libmpi_abi.so.1' },
    any = { 'libmpi.so.40', 'libmpi.so.12', 'libmpich.so.12', 'libmpi_cray.so.12',
            'libmpi_abi.so.1' },
}
local packages = { ['Open MPI'] = 'openmpi-bin', MPICH = 'mpich', any = 'openmpi-bin and mpich' }

local function unavailable(message, ...)
    errors.raise('MARE_ERROR_UNAVAILABLE', message, ...)
end

local function load_named(path)
    local ok, library = pcall(ffi.load, path)
    if ok then return library, path end
    unavailable('MARE_MPI=%s: %s', path, tostring(library))
end

local function load_any(folders, list)
    local reason
    for _, folder in ipairs(folders) do
        for _, name in ipairs(list) do
            local ok, library = pcall(ffi.load, folder .. name)
            if ok then return library, folder .. name end
            reason = reason or tostring(library)
        end
    end
    return nil, reason
end

-- The library of the launcher's family: the one that MARE_MPI names, the one beside the launcher,
-- the one that the linker finds.
local function load(found)
    local given, family = system.setting 'MARE_MPI', found.family or 'any'
    if given then return load_named(given) end
    local folder = launch.library_folder()
    local library, path = load_any(folder and { folder, '' } or { '' }, names[family])
    if library then return library, path end
    unavailable('%s started this program (%s=%d), but no library of it was found (tried %s: %s): '
        .. 'Debian and Ubuntu have it in %s; MARE_MPI=FILE names one', found.name, found.variable,
        found.size, table.concat(names[family], ', '), path, packages[family])
end

-- The first line of what it says of itself, without blanks at the ends.
local function version_of(library)
    local text, length = ffi.new 'char[8193]', ffi.new 'int[1]'
    library.MPI_Get_library_version(text, length)
    local line = ffi.string(text):match '^%s*([^\n,]*)'
    return (line:gsub(' Version:', ''):gsub('%s+', ' '):gsub('%s$', ''))
end

local function family_of(version)
    return version:find 'Open MPI' and 'Open MPI' or 'MPICH'
end

local advice = 'set MARE_MPI to the library of the MPI that mpirun belongs to, or start with the '
    .. 'mpirun of that library'
local of_ubuntu = '; if both are of Ubuntu 24.04, whose ranks never see each other '
    .. '(bugs.launchpad.net/bugs/2072338), take Open MPI'

local function check_family(found, version, path)
    if found.family and family_of(version) ~= found.family then
        unavailable('%s started this program, but %s is %s: %s', found.name, path, version, advice)
    end
end

-- ---- the start ----

local function fail(self, code, what)
    local text, length = ffi.new 'char[8193]', ffi.new 'int[1]'
    self.library.MPI_Error_string(code, text, length)
    errors.raise('MARE_ERROR_DEVICE', 'rank %d: %s: %s', self.rank, what, ffi.string(text))
end

local function check(self, code, what)
    if code ~= 0 then fail(self, code, what) end
end
World.check = check

local function number(self, call)
    local out = ffi.new 'int[1]'
    check(self, self.library[call](self.comm, out), call)
    return out[0]
end

local function duplicate(self, comm)
    local library, abi, out = self.library, self.abi, ffi.new 'uintptr_t[1]'
    check(self, library.MPI_Comm_set_errhandler(comm, abi.errors_return), 'start')
    check(self, library.MPI_Comm_dup(comm, out), 'start')
    check(self, library.MPI_Comm_set_errhandler(out[0], abi.errors_return), 'start')
    return out[0]
end

-- A communicator of Mare's own, so that no message of an embedding program is taken for ours.
local function open(self)
    self.comm = duplicate(self, self.abi.world)
    self.rank, self.size = number(self, 'MPI_Comm_rank'), number(self, 'MPI_Comm_size')
end

-- The same ranks, whose messages are never taken for those of this one. All ranks call it.
function World:duplicate()
    local other = tables.merged(self)
    other.comm, other.pending, other.origin = duplicate(self, self.comm), {}, self
    other.reduced = nil
    return setmetatable(other, World)
end

local function check_size(self, found)
    if found.size == self.size then return end
    unavailable('%s started %d ranks (%s), but %s (%s) sees %d: %s%s', found.name, found.size,
        found.variable, self.path, self.version, self.size, advice,
        self.version == 'MPICH 4.2.0' and of_ubuntu or '')
end

local function check_thread()
    if system.setting(launch.mark) then
        unavailable('the ranks belong to another thread, or Lua state, of this program')
    end
end

local function begin(self)
    local flag, given = ffi.new 'int[1]', ffi.new 'int[1]'
    self.library.MPI_Initialized(flag)
    self.is_guest = flag[0] ~= 0        -- the embedding program has started it, and will end it
    if self.is_guest then return end
    local code = self.library.MPI_Init_thread(nil, nil, self.abi.funneled, given)
    check(self, code, 'MPI_Init_thread')
    if given[0] < self.abi.funneled then
        unavailable('%s (%s) works in programs of one thread only, and Mare has more', self.path,
            self.version)
    end
end

-- Tests of a request before the first pause: where ranks have a core each, and where they share.
local patient_spins, crowded_spins = 2000, 20

-- Says that there are more ranks than cores: who waits leaves them to others soon.
function World:give_cores()
    self.spins = crowded_spins
end

-- Says that ranks share this machine: one of those that want a kernel compiles it (core/turn.c).
function World.take_turns()
    posix.C.setenv('MARE_TURNS', '1', 1)
end

local function new_world(found, library, path)
    return setmetatable({ library = library, path = path, rank = found.rank, size = found.size,
        version = version_of(library), launcher = found.name, abi = abi_of.of(library),
        flag = ffi.new 'int[1]', status = ffi.new 'uint64_t[16]', pending = {},
        spins = patient_spins }, World)
end

-- Joins the ranks that a launcher started; nil for a process that was started alone.
function M.start()
    local found = launch.find()
    if not found then return nil end
    if not found.is_wired then
        unavailable('srun started %d tasks that know nothing of each other: srun --mpi=pmix or '
            .. '--mpi=pmi2, whichever the MPI was built for (srun --mpi=list)', found.size)
    end
    check_thread()
    local self = new_world(found, load(found))
    check_family(found, self.version, self.path)
    begin(self)
    open(self)
    check_size(self, found)
    posix.C.setenv(launch.mark, tostring(system.process()), 1)
    return self
end

-- ---- messages ----

local largest_piece = 2 ^ 30        -- bytes of a message: MPI counts in 32 bits

-- Queues one call for each piece of the data. Each of the results is { request, data }.
local function queue(self, call, data, bytes, peer, tag)
    local list, at = { peer = peer }, ffi.cast('char *', data)
    repeat
        local n = math.min(bytes, largest_piece)
        local made = { request = ffi.new 'uintptr_t[1]', data = data }
        check(self, self.library[call](at, n, self.abi.byte, peer, tag, self.comm, made.request),
            call)
        self.pending[made] = true       -- and so its data stay, whatever error comes
        list[#list + 1] = made
        at, bytes = at + n, bytes - n
    until bytes == 0
    return list
end

-- Begins to send memory, which must stay as it is until wait(). Returns a request.
function World:send(data, bytes, to, tag)
    return queue(self, 'MPI_Isend', data, bytes, to, tag)
end

-- Begins to receive exactly as many bytes. from: nil for any rank, of at most 1 GiB.
function World:receive(data, bytes, from, tag)
    return queue(self, 'MPI_Irecv', data, bytes, from or self.abi.any_source, tag)
end

-- Gives others the core more and more: ranks may share it. It sleeps for at most a fiftieth of the
-- time that was waited, from 50 us to 1 ms: a rank that looks every 50 us keeps a core busy.
local function pause(self, tries)
    if signal.came[0] ~= 0 then signal.heed() end
    if tries < self.spins then return end
    if tries < 2 * self.spins then
        ffi.C.sched_yield()
    else
        system.sleep(5e-5 * math.max(1, math.min((tries - 2 * self.spins) / 100, 20)))
    end
end

-- Looks at a wait that has become long. Says so once, where somebody has set late(what, seconds);
-- raises if the rank that is waited for has ended its program. seen: what the look before has
-- returned
local function look(self, what, peer, seen)
    local now = system.now()
    seen = seen or { since = now }
    if not seen.is_told and now - seen.since >= self.patience then
        if self.late then self.late(what, self.patience) end
        seen.is_told = true
    end
    if peer then left.check(self, what, peer, seen) end
    return seen
end

World.patience = 60         -- seconds

-- Waits for a request, at most so many seconds if they are given. Returns whether it is done. what:
-- the call, for the message of a failure.
function World:wait(list, what, seconds)
    local start = seconds and system.now()
    for _, made in ipairs(list) do
        local tries, seen = 0, nil
        repeat
            check(self, self.library.MPI_Test(made.request, self.flag, self.status), what)
            tries = tries + 1
            if self.flag[0] == 0 then pause(self, tries) end
            if tries % 1024 == 0 then seen = look(self, what, list.peer, seen) end
            if start and self.flag[0] == 0 and system.now() - start > seconds then return false end
        until self.flag[0] ~= 0
        self.pending[made] = nil
    end
    return true
end

-- Whether a request is done, without waiting; then it must not be asked for again.
function World:is_done(list, what)
    while #list > 0 do
        check(self, self.library.MPI_Test(list[1].request, self.flag, self.status), what)
        if self.flag[0] == 0 then return false end
        self.pending[table.remove(list, 1)] = nil
    end
    return true
end

local double = ffi.typeof 'union { double value; uint64_t bits; }'
local infinity = 0x7ff0000000000000ULL      -- its bits: those of NaN are larger

local function new_reduced()
    local made = { request = ffi.new 'uintptr_t[1]', given = double(), found = double() }
    made.list = { made, peer = 'all' }
    return made
end

-- Returns the largest over all ranks of numbers that are not below 0, or NaN if one of them is. The
-- bits of such numbers have their order as integers, and those of a NaN without a sign come last.
-- MPI_MAX of numbers with a NaN gives each rank another answer. That of MPICH 4.0 takes unsigned
-- integers for signed ones, hence the sign.
function World:largest(value, what)
    local made = self.reduced
    if not made or self.pending[made] then made = new_reduced() end     -- an error left that one
    self.reduced = made
    local given, found = made.given, made.found
    given.value = value
    if value ~= value then given.bits = infinity + 1 end
    check(self, self.library.MPI_Iallreduce(given, found, 1, self.abi.uint64, self.abi.max,
        self.comm, made.request), what)
    self.pending[made] = true
    self:wait(made.list, what)
    if found.bits > infinity then return 0 / 0 end
    return found.value
end

-- ---- the end ----

-- Waits until all ranks have come here. Raises an error if a signal comes in the meantime.
function World:finish()
    if self.is_over then return end
    if not self.is_guest then
        self.late = nil         -- one who is done may wait for as long as others work
        left.leave(self)
    end
    self.is_over = true
    if not self.is_guest then self.library.MPI_Finalize() end
end

-- Whether no call of MPI may be made any more.
function World:is_closed()
    return self.is_over or self.origin and self.origin.is_over or false
end

-- Ends all ranks with this exit status; does not return. MPI_Abort of MPICH 4.0 waits for ranks
-- that make no call of MPI or are in MPI_Finalize: then SIGALRM ends this process, whereupon the
-- launcher ends all.
function World:abort(status)
    self.is_over = true
    posix.C.signal(SIGALRM, nil)      -- a null pointer is the default action
    ffi.C.ualarm(500000, 0)
    io.stdout:flush()
    io.stderr:flush()
    self.library.MPI_Abort(self.comm or self.abi.world, status)
end

return M
