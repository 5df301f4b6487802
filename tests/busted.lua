-- busted.lua - runs busted inside the launcher: `build/mare tests/busted.lua [busted's arguments]`.
require 'busted.runner' { standalone = false }
