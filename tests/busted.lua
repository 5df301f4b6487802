-- busted.lua - runs busted inside the launcher: `build/mare tests/busted.lua [busted's arguments]`.
-- Files are not insulated from each other, because that loads LuaJIT's ffi again and with it a
-- second set of C types; nor does busted put its memoising wrappers, which allow for that, around
-- ffi.typeof and ffi.cdef. Its look-up of globals, which calls itself, is not compiled: LuaJIT
-- gives up on that again and again, and now and then it found nil where there is a value. A failing
-- run ends with error(nil), which becomes an exit status without a message.
require 'ffi'
package.loaded['busted.luajit'] = function() end
jit.off(require 'busted.environment', true)
table.insert(arg, 1, '--no-auto-insulate')
local ok, failure = pcall(require 'busted.runner', { standalone = false })
if not ok and failure == nil then os.exit(1, true) end
assert(ok, failure)
