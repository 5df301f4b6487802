-- busted.lua - runs busted inside the launcher: `build/mare tests/busted.lua
-- [busted's arguments]`. Spec files are not insulated from each other, because
-- that would load LuaJIT's ffi again, with a second set of C types. For the
-- same reason busted's memoising wrappers, which allow for that, are not put
-- around ffi.typeof and ffi.cdef. The recursive look-up of globals is not
-- compiled: LuaJIT aborts that trace again and again, and sometimes found nil
-- instead of a value. A failed run ends with error(nil), which becomes an exit
-- status without a message.
require 'ffi'
package.loaded['busted.luajit'] = function() end
jit.off(require 'busted.environment', true)
table.insert(arg, 1, '--no-auto-insulate')
local ok, failure = pcall(require 'busted.runner', { standalone = false })
if not ok and failure == nil then os.exit(1, true) end
assert(ok, failure)
