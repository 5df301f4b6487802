std = 'luajit'
max_line_length = false    -- tests/tidy.lua looks after it
exclude_files = { 'build*' }
files['tests'] = { std = 'luajit+busted' }
