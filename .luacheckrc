std = 'luajit'
max_line_length = false    -- tests/tidy.lua looks after it
exclude_files = { 'build*', 'mare-examples' }
files['tests'] = { std = 'luajit+busted' }

-- Makes a Lua state the guest of a program: its output and exits are replaced.
files['lua/mare/launcher/embed.lua'].globals = { 'io', 'os', 'print', 'dofile', 'xpcall' }
