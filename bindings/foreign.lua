-- Finds an optional shared library at run time. In a bundle the copy beside libmare.so wins, so
-- that a bundle never mixes with the machine's; elsewhere the dynamic linker's search is used.
--
-- A library stays loaded as long as the process. LuaJIT would unload it with the state that loaded
-- it, such as a worker's, and the next worker would load it anew: HDF5 lost 1 MiB each time.

local ffi = require 'ffi'

ffi.cdef 'void *dlopen(const char *path, int mode);'

local LAZY, NOLOAD, NODELETE = 1, 4, 0x1000

local foreign = {}

local function folders()
    local home = package.loaded['bindings.home']
    local beside = type(home) == 'table' and home.library and home.library:match '^(.*/)'
    return beside and { beside, '' } or { '' }
end

-- what: the library's name for people; names: file names to try in order; package: Debian's
function foreign.load(what, names, package)
    local reason
    for _, folder in ipairs(folders()) do
        for _, name in ipairs(names) do
            local ok, library = pcall(ffi.load, folder .. name)
            if ok then
                ffi.C.dlopen(folder .. name, LAZY + NOLOAD + NODELETE)
                return library
            end
            if not reason or not tostring(library):find('No such file', 1, true) then
                reason = tostring(library)
            end
        end
    end
    local is_there = reason:find 'failed to map' or reason:find 'annot allocate memory'
    error(string.format('%s was not %s (tried %s: %s); %s', what, is_there and 'loaded' or 'found',
        table.concat(names, ', '), reason, is_there and 'memory is too short, or address space '
        .. '(ulimit -v)' or 'Debian and Ubuntu have it in ' .. package), 0)
end

return foreign
