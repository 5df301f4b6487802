-- folders.lua - what lies in folders, and folders made, left and removed.

local ffi = require 'ffi'
local posix = require 'bindings.posix'

ffi.cdef [[
    typedef struct mare_directory mare_directory;
    struct dirent {         /* on Linux with 64 bits, of glibc and of musl */
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[256];
    };
    mare_directory *opendir(const char *path);
    struct dirent *readdir(mare_directory *folder);
    int closedir(mare_directory *folder);
    int mkdir(const char *path, unsigned mode);
    int rmdir(const char *path);
    int chdir(const char *path);
    char *getcwd(char *out, size_t size);
]]

local C = posix.C
local PATH_MAX = 4096

local folders = {}

-- The names in a folder, without '.' and '..', in no order; nil and the reason where it cannot
-- be read.
function folders.list(path)
    local open = C.opendir(path)
    if open == nil then return nil, posix.reason() end
    local names = {}
    while true do
        local entry = C.readdir(open)
        if entry == nil then break end
        local name = ffi.string(entry.name)
        if name ~= '.' and name ~= '..' then names[#names + 1] = name end
    end
    C.closedir(open)
    return names
end

-- The same; raises where it cannot be read.
function folders.names(path)
    local names, reason = folders.list(path)
    if not names then error(path .. ': cannot be read: ' .. reason, 0) end
    return names
end

local function done(status)
    if status == 0 then return true end
    return false, posix.reason()
end

-- Each returns whether it could and, if not, the reason.
function folders.make(path) return done(C.mkdir(path, 0x1FF)) end     -- 0777, less the umask
function folders.remove(path) return done(C.rmdir(path)) end
function folders.enter(path) return done(C.chdir(path)) end

-- The one that names without a slash in front start from; nil if it is gone.
function folders.current()
    local path = C.getcwd(ffi.new('char[?]', PATH_MAX), PATH_MAX)
    return path ~= nil and ffi.string(path) or nil
end

return folders
