-- tidy.lua - the house rules, by pattern: luajit tests/tidy.lua [ROOT]
-- A rule looks at one file and reports lines. Each rule is first tried on planted texts with a
-- known number of violations, so that a rule that cannot fail, fails. The lengths of functions are
-- found by indentation, which the house style makes reliable.

local root = arg[1] or arg[0]:match '^(.*)/tests/[^/]*$' or '.'

local MAX_FILE, MAX_LINE, MAX_FUNCTION, MAX_README = 800, 100, 80, 60
local FOLDERS = { 'core', 'bindings', 'lua', 'kernels', 'scenarios', 'tests' }
local TOP_LEVEL = { 'CMakeLists.txt', 'README.md', 'LICENSE', unpack(FOLDERS) }

-- ---- files ----

local function contains(list, value)
    for _, item in ipairs(list) do if item == value then return true end end
    return false
end

local function under(path, folder)
    return path:sub(1, #folder) == folder and path:byte(#folder + 1) == 47     -- a slash
end
local function is_c(path) return path:find '%.[ch]$' ~= nil or path:find '%.krn$' ~= nil end
local function is_lua(path) return path:find '%.lua$' ~= nil end
local function is_readme(path) return path:find 'README%.md$' ~= nil end

local function split(text)
    local lines = {}
    for line in (text:find '\n$' and text or text .. '\n'):gmatch '(.-)\n' do
        lines[#lines + 1] = line
    end
    return lines
end

-- The text without comments, line for line. Strings stay: some rules look for names in them.
local function code_of(path, text)
    local function blank(comment) return (comment:gsub('[^\n]', ' ')) end
    if is_c(path) then
        text = text:gsub('/%*.-%*/', blank):gsub('//[^\n]*', blank)
    elseif is_lua(path) then
        text = text:gsub('%-%-%[%[.-%]%]', blank):gsub('%-%-[^\n]*', blank)
    end
    return split(text)
end

local function make_file(path, text)
    return { path = path, text = text, lines = split(text), code = code_of(path, text) }
end

-- ---- how a rule is applied ----

-- Array of { name, check(file, report), planted = { { path, text, violations }... } }.
local rules = {}

local function rule(name, check, planted)
    rules[#rules + 1] = { name = name, check = check, planted = planted }
end

-- A rule for single lines of 'lines' or 'code': find(line, path) returns what is wrong, or nil.
local function line_rule(name, texts, find, planted)
    rule(name, function(file, report)
        for number, line in ipairs(file[texts]) do
            local problem = find(line, file.path)
            if problem then report(number, problem) end
        end
    end, planted)
end

-- ---- layers: scenarios -> lua/mare -> bindings -> core/mare.h; public calls <- back ends ----

local FOREIGN = { '^lua[%w]*%.h', '^lauxlib', '^cuda%.h', '^cuda_runtime', '^nvrtc%.h', '^CL/',
                  '^nccl', '^nvml', '^mpi%.h', '^netcdf' }

line_rule('core includes only itself and the C library', 'code', function(line, path)
    if not (under(path, 'core') and is_c(path)) then return end
    local header = line:match '^%s*#%s*include%s*[<"]([^>"]+)[>"]'
    if not header then return end
    for _, foreign in ipairs(FOREIGN) do
        if header:find(foreign) then return 'foreign header ' .. header end
    end
    if header:find 'backends/' then return 'back ends are reached through backend.h' end
    if under(path, 'core/backends') and header:find 'internal%.h' then
        return 'back ends see of core what backend.h shows'
    end
    if header:find '^%.%./%.%.' or header:find 'bindings/' then return header .. ' is not core' end
end, {
    { 'core/a.c', '#include <lua.h>\n#include "lauxlib.h"\n', 2 },
    { 'core/backends/cuda.c', '#include <cuda.h>\n#include <CL/cl.h>\n#include <nvrtc.h>\n', 3 },
    { 'core/a.c', '#include "backends/cuda.h"\n#include "../bindings/host.h"\n', 2 },
    { 'core/backends/null.c', '#include "../backend.h"\n#include <string.h>\n', 0 },
    { 'core/backends/null.c', '#include "../internal.h"\n', 1 },
    { 'core/a.c', '/* never\n#include <lua.h> */\n', 0 },
    { 'bindings/main.c', '#include <lua.h>\n', 0 },
})

line_rule('vendor calls stay in their back end', 'code', function(line, path)
    local is_host = under(path, 'tests') or under(path, 'bindings/examples')
    if is_host or not is_c(path) then return end
    local function calls(pattern, home)
        local name = line:match('%f[%w_](' .. pattern .. '%u%w+)%s*%(')
        return name and not path:find('^core/backends/' .. home) and name
    end
    local name = calls('cu', 'cuda') or calls('nvrtc', 'nvrtc') and calls('nvrtc', 'cuda')
        or calls('cl', 'opencl')
    if name then return 'call of ' .. name end
end, {
    { 'core/buffer.c', 'x = cuMemAlloc(&p, n);\ny = api->clFinish(queue);\n', 2 },
    { 'core/backends/opencl.c', 'cuInit(0);\nclFinish(queue);\nnvrtcVersion(&a, &b);\n', 2 },
    { 'core/backends/cuda_program.c', 'cuInit(0);\nnvrtcVersion(&a, &b);\nclose(2);\n', 0 },
})

line_rule('dlopen only in core/dl.c', 'code', function(line, path)
    local is_loader = path == 'core/dl.c' or under(path, 'tests/guests')
        or path == 'bindings/programs/compile.c'
    if is_c(path) and not is_loader and line:find '%f[%w_]dlm?open%s*%(' then
        return 'call of dlopen'
    end
end, {
    { 'core/backends/cuda.c', 'void *h = dlopen("libcuda.so.1", RTLD_NOW);\n', 1 },
    { 'core/dl.c', 'void *h = dlopen(name, RTLD_NOW);\n', 0 },
    { 'tests/guests/a.c', 'void *h = dlopen(name, RTLD_LOCAL);\n', 0 },
})

line_rule("require 'ffi' only in bindings/", 'code', function(line, path)
    if not is_lua(path) or under(path, 'bindings') or under(path, 'tests') then return end
    if line:find 'require%s*%(?%s*[\'"]ffi[\'"]' then return "require 'ffi'" end
end, {
    { 'lua/mare/a.lua', "local ffi = require 'ffi'\n", 1 },
    { 'scenarios/a.lua', 'local ffi = require("ffi")\n', 1 },
    { 'bindings/a.lua', "local ffi = require 'ffi'\n", 0 },
    { 'lua/mare/a.lua', "-- not require 'ffi' here\nlocal b = require 'ffield'\n", 0 },
})

-- Under fast maths a compiler merges quotients as it likes, and bits depend on where they stand.
line_rule('kernels take reciprocals and roots by the words of the dialect', 'code',
    function(line, path)
        if under(path, 'kernels') and path:find '%.h$' and not path:find '^kernels/prelude/' then
            return (line:match 'R%([%d.e]+%) /' or line:match '%f[%w_]r?sqrtf?%(') and line
        end
    end, {
        { 'kernels/a/b.h', 'x = R(1.0) / y;\nz = sqrt(x);\n', 2 },
        { 'kernels/a/b.h', 'x = mr_rcp(y);\nz = mr_sqrt(x) / 2;\n', 0 },
        { 'kernels/prelude/cuda.h', 'return sqrt(a);\n', 0 },
    })

-- Numbers that Lua and kernels agree on.
local constants = {}
do
    local file = io.open(root .. '/lua/mare/base/constants.lua')
    for name in (file and file:read '*a' or ''):gmatch '%f[%w_](%u[%u%d_]+) = ' do
        constants[name] = true
    end
end

line_rule('a number that Lua and kernels agree on stands in base/constants.lua only', 'lines',
    function(line, path)
        if under(path, 'kernels') then
            local name = line:match '^#define ([%u%d_]+) '
            return name and constants[name] and name .. ' is in base/constants.lua'
        end
        if not under(path, 'lua/mare') or not line:find('kernel', 1, true) then return end
        return line:match '%d.*%-%-.*%f[%w_](%u[%u%d_]+%*? of %S*%s*kernels?)%f[%W]'
            or line:match '%d.*%-%-.*%f[%w_](%u[%u%d_]+%*? of kernels/)'
    end, {
        { 'kernels/a/b.h', '#define BED_DEPTH 0\n#define REACH 2\n#define MINE 2\n', 2 },
        { 'lua/mare/a/b.lua', 'local period = 16   -- PERIOD of the kernel\n'
            .. 'local land = -1e30  -- LAND of kernels/a/b.h\nlocal n = 1\n', 2 },
    })

-- What is said goes through base/events.lua, so that a journal, a session or an embedding program
-- hears it too.
line_rule('only the terminal listener, the launcher and a session print', 'code',
    function(line, path)
        if not is_lua(path) or not under(path, 'lua') then return end
        local prints = under(path, 'lua/mare/launcher') or under(path, 'lua/mare/session')
            or path == 'lua/mare/base/terminal.lua'
        if prints or not (line:find('io.', 1, true) or line:find('print', 1, true)) then return end
        return line:match '%f[%w_]io%.stderr' or line:match '%f[%w_]io%.stdout'
            or line:match '%f[%w_]io%.write%f[^%w_]' or line:match '%f[%w_.:]print%s*[%(\'"%[]'
    end, {
        { 'lua/mare/run/a.lua', "io.stderr:write('x')\nprint 'x'\nprint(x)\nio.write(x)\n", 4 },
        { 'lua/mare/run/a.lua', "self.print(x)\nlocal blueprint = 1\nfile:write(x)\n", 0 },
        { 'lua/mare/run/a.lua', "local out = io.stdout\n", 1 },
        { 'lua/mare/base/terminal.lua', "io.stderr:write('x')\n", 0 },
        { 'lua/mare/session/a.lua', "print(x)\n", 0 },
        { 'tests/lua/a.lua', "print(x)\n", 0 },
    })

line_rule('only lua/mare/base/source.lua opens kernels/', 'code', function(line, path)
    if is_lua(path) and not under(path, 'tests') and path ~= 'lua/mare/base/source.lua'
        and line:find '[\'"/]kernels[\'"/]' and not line:find 'jupyter' then
        return 'names the folder kernels'
    end
end, {
    { 'lua/mare/a.lua', "local f = io.open(root .. '/kernels/a.krn')\n", 1 },
    { 'bindings/a.lua', "local folder = 'kernels'\n", 1 },
    { 'lua/mare/base/source.lua', "local f = io.open(root .. '/kernels/a.krn')\n", 0 },
    { 'lua/mare/a.lua', "local kernels = device.kernels\n", 0 },
    { 'lua/mare/a.lua', "local theirs = '/jupyter/kernels'\n", 0 },
})

-- What each layer may require of Mare's own modules. The launcher embeds the engine: its
-- command line (bindings/cli*.lua) stands above lua/mare.
local LAYERS = {
    { folder = '^bindings/cli', allowed = { '^bindings%.', '^mare$', '^mare%.' } },
    { folder = '^bindings/', allowed = { '^bindings%.' } },
    { folder = '^lua/mare/', allowed = { '^mare$', '^mare%.', '^bindings%.' } },
    { folder = '^scenarios/', allowed = { '^mare$', '^mare%.' } },
}

local function layer_of(path)
    for _, layer in ipairs(LAYERS) do if path:find(layer.folder) then return layer end end
end

line_rule('requires point down the layers', 'code', function(line, path)
    local layer = is_lua(path) and layer_of(path)
    if not layer then return end
    for module in line:gmatch 'require%s*%(?%s*[\'"]([%w_.]+)[\'"]' do
        local own = contains({ 'mare', 'bindings', 'scenarios', 'tests' }, module:match '^[^.]+')
        for _, allowed in ipairs(layer.allowed) do own = own and not module:find(allowed) end
        if own then return 'requires ' .. module end
    end
end, {
    { 'bindings/device.lua', "local grid = require 'mare.grid'\n", 1 },
    { 'scenarios/a.lua', "local device = require 'bindings.device'\n", 1 },
    { 'lua/mare/a.lua', "local s = require('tests.helper')\n", 1 },
    { 'bindings/device.lua', "local a, b = require 'bindings.home', require 'bindings.ffi'\n", 0 },
    { 'lua/mare/a.lua', "local d = require 'bindings.device'\nlocal lfs = require 'lfs'\n", 0 },
})

-- The rooms of lua/mare, from the top. init.lua, the table of all modules, stands in none but
-- between the launcher and the rest.
local ROOMS = { 'launcher', 'notebook', 'init', 'session', 'tune', 'mandelbrot', 'tide', 'live',
                'volume', 'run', 'ocean', 'forcing', 'schemes', 'shapes', 'divided', 'array',
                'links', 'spectra', 'fft', 'stages', 'ndarray', 'products', 'ordering',
                'expression', 'algebra', 'translate', 'parse', 'dialect', 'draw', 'files',
                'measure', 'ranks', 'base' }
local MAX_ROOM_LINES, MAX_ROOM_FILES, MAX_LEAF_LINES = 3500, 25, 1600

local function rank_of(room)
    for k, name in ipairs(ROOMS) do if name == room then return k end end
end

local function room_of(path)
    return path:match '^lua/mare/([^/]+)/' or path == 'lua/mare/init.lua' and 'init' or nil
end

line_rule('requires point down the rooms', 'code', function(line, path)
    local rank = is_lua(path) and rank_of(room_of(path))
    if not rank then return end
    for module in line:gmatch 'require%s*%(?%s*[\'"]mare([%w_.]*)[\'"]' do
        local room = module == '' and 'init' or module:match '^%.([%w_]+)'
        if not rank_of(room) then return 'requires a room that is not: mare' .. module end
        if rank_of(room) < rank then return 'requires mare' .. module .. ' from above' end
    end
end, {
    { 'lua/mare/array/a.lua', "local o = require 'mare.ocean.open'\n", 1 },
    { 'lua/mare/run/a.lua', "local m = require 'mare'\nreturn require('mare.attic.b')\n", 2 },
    { 'lua/mare/launcher/a.lua', "local m, r = require 'mare', require 'mare.run'\n", 0 },
    { 'lua/mare/run/a.lua', "local a = require 'mare.base.words'\n", 0 },
})

line_rule('modules are required by their names', 'code', function(line, path)
    if not under(path, 'lua/mare') or not line:find('require', 1, true) then return end
    if line:find '%f[%w_]require%s*%(%s*[^\'"%s]' or line:find '%f[%w_]require%s*%(?[^()]*%.%.' then
        return 'a computed require'
    end
end, {
    { 'lua/mare/run/a.lua', "local a = require(name)\nrequire('mare.' .. name)\n", 2 },
    { 'lua/mare/run/a.lua', "local a = require('mare.run.b').c(name)\n", 0 },
})

-- Ranks of MPI will change the exchange of halos, reductions and gathering alone: nothing else may
-- ask which parts there are, or whether two of them share a device.
local function knows_parts(path)
    return under(path, 'lua/mare/array') or path == 'lua/mare/run/simulation.lua'
end

line_rule('only the array room and the simulation go through parts', 'code', function(line, path)
    if not under(path, 'lua/mare') then return end
    local is_asked = line:find('.device', 1, true)
        and (line:find '[~=]=%s*[%w_]+%.device%f[^%w_.]'
            or line:find '%f[%w_][%w_]+%.device%s*[~=]=%s*device%f[^%w_.]')
    if is_asked and path ~= 'lua/mare/array/state.lua' then
        return 'asks where a part is; see array/state.lua'
    end
    if knows_parts(path) then return end
    for _, name in ipairs { 'states', 'members', 'parts' } do
        local pattern = '%f[%w_]' .. name .. '%f[^%w_]'
        local is_list = name ~= 'parts' and line:find('pairs%(%s*' .. pattern)
        if line:find('%.' .. pattern) or is_list then
            return 'goes through ' .. name .. '; see array/fields.lua'
        end
    end
end, {
    { 'lua/mare/run/a.lua', 'for _, s in ipairs(sim.states) do\nlocal m = sim.members[1]\n', 2 },
    { 'lua/mare/ocean/a.lua', 'for _, s in ipairs(states) do\nreturn #self.fields.parts\n', 2 },
    { 'lua/mare/tide/a.lua', 'if a.device == b.device then\nif other ~= s.device then\n', 2 },
    { 'lua/mare/array/a.lua', 'if a.device == b.device then\nif s.device ~= device then\n', 2 },
    { 'lua/mare/array/state.lua', 'return self.device == device\n', 0 },
    { 'lua/mare/array/a.lua', 'for _, s in ipairs(fields.states) do\n', 0 },
    { 'lua/mare/run/simulation.lua', 'local m = self.members[1]\n', 0 },
    { 'lua/mare/tune/a.lua', 'local states = entry.device == device.info.model\n', 0 },
})

-- Any equation goes over the state in the same way, and fields hold any equation's unknowns.
line_rule('traversals and fields name nothing of one equation', 'lines', function(line, path)
    if not (under(path, 'kernels/traverse') or under(path, 'kernels/array')
        or under(path, 'lua/mare/array')) then return end
    return line:match '%f[%w]rho' or line:match 'energy' or line:match 'gravity'
        or line:match 'momentum' or line:match 'momenta'
end, {
    { 'kernels/traverse/a.h', 'q.rho = 1;\n/* gravity and energy */\nx = momentum;\n', 3 },
    { 'lua/mare/array/a.lua', "local name = 'rho_u'\nlocal threshold = 1\n", 1 },
    { 'kernels/physics/a.h', 'q.rho = 1;\n', 0 },
})

line_rule('no place of one machine', 'lines', function(line, path)
    if path == 'tests/tidy.lua' or not line:find('/', 1, true) then return end  -- planted below
    local place = line:match '%f[/]/work/' or line:match '%f[/]/home/%w' or line:match '%f[/]/root/'
        or not path:find '^tests/scenarios/' and line:match '%.%./shared'  -- these skip without it
    if place then return 'names ' .. place end
end, {
    { 'lua/mare/a.lua', "local a = '/work/main/x'\n", 1 },
    { 'core/a.c', '/* see ../shared/DESIGN.md */\n', 1 },
    { 'tests/scenarios/a_spec.lua', "local data = '../shared/data'\n", 0 },
    { 'tests/run', 'cd /home/someone\n', 1 },
    { 'lua/mare/a.lua', "local font = '/usr/share/fonts/a.ttf'\nlocal w = 'a/work'\n", 0 },
})

-- ---- size and form ----

line_rule('lines of at most ' .. MAX_LINE .. ' columns', 'lines', function(line, path)
    if #line <= MAX_LINE then return end
    local columns = #line:gsub('[\128-\191]', '')       -- count characters, not bytes
    local is_table = path:find '%.md$' and line:find '^|'
    local is_data = path:find '%.jsonl?$' or path:find '%.csv$'
    if columns > MAX_LINE and not is_table and not is_data then return columns .. ' columns' end
end, {
    { 'core/a.c', ('x'):rep(MAX_LINE + 1) .. '\n', 1 },
    { 'core/a.c', ('x'):rep(MAX_LINE) .. '\n', 0 },
    { 'tests/bench/records/a.jsonl', ('x'):rep(MAX_LINE + 1) .. '\n', 0 },
    { 'lua/mare/a.lua', ('\195\169'):rep(MAX_LINE) .. '\n', 0 },
})

line_rule('no tabs, no trailing blanks', 'lines', function(line)
    if line:find '\t' then return 'tab' end
    if line:sub(-1):find '%s' then return 'trailing blank' end
end, {
    { 'core/a.c', 'int a;\t/* a */\nint b; \n', 2 },
    { 'core/a.c', 'int a;\n', 0 },
})

rule('files end with one newline', function(file, report)
    if file.text ~= '' and (not file.text:find '\n$' or file.text:find '\n\n$') then
        report(#file.lines, 'end of file')
    end
end, {
    { 'core/a.c', 'int a;', 1 }, { 'core/a.c', 'int a;\n\n', 1 }, { 'core/a.c', 'int a;\n', 0 },
})

rule('files of at most ' .. MAX_FILE .. ' lines', function(file, report)
    if #file.lines > MAX_FILE then report(MAX_FILE + 1, #file.lines .. ' lines') end
end, {
    { 'core/a.c', ('x\n'):rep(MAX_FILE + 1), 1 }, { 'core/a.c', ('x\n'):rep(MAX_FILE), 0 },
})

-- A C function ends at a '}' in column one. Its head begins after the last line that is empty or
-- ends a declaration, and is followed by a '{' in column one or behind its ')'.
local function c_functions(code, found)
    local head, open
    for number, line in ipairs(code) do
        if line:find '^}' then
            if open then found(open, number) end
            head, open = nil, nil
        elseif not open then
            if line:find '^%s*$' or line:find ';%s*$' or line:find '^#' then head = nil
            else head = head or number end
            if head and (line:find '^{' or line:find '%)%s*{$') then open = head end
        end
    end
end

-- A Lua function that spans lines ends at the first 'end' as far to the left as its first line.
local function lua_functions(code, found)
    local open = {}     -- stack of { line, indent }
    for number, line in ipairs(code) do
        local indent = #line:match '^%s*'
        while #open > 0 and indent <= open[#open].indent and line:find '^%s*end%f[%W]' do
            found(table.remove(open).line, number)
        end
        if line:find '%f[%w_]function%f[^%w_][^(]*%(' and not line:find '%f[%w_]end%f[^%w_]' then
            open[#open + 1] = { line = number, indent = indent }
        end
    end
end

rule('functions of at most ' .. MAX_FUNCTION .. ' lines', function(file, report)
    local scan = is_c(file.path) and c_functions or is_lua(file.path) and lua_functions
    if not scan or file.path:find '_spec%.lua$' then return end     -- a describe is no function
    scan(file.code, function(first, last)
        local lines = last - first + 1
        if lines > MAX_FUNCTION then report(first, 'function of ' .. lines .. ' lines') end
    end)
end, {
    { 'core/a.c', 'int f(void)\n{\n' .. ('    g();\n'):rep(MAX_FUNCTION) .. '}\n', 1 },
    { 'core/a.c', 'int f(int a,\n      int b) {\n' .. ('    g();\n'):rep(MAX_FUNCTION - 2)
        .. '}\n', 1 },
    { 'core/a.c', 'static int t[] = {\n' .. ('    1,\n'):rep(MAX_FUNCTION) .. '};\n', 0 },
    { 'core/a.c', 'int f(int a,\n      int b)\n{\n' .. ('    g();\n'):rep(MAX_FUNCTION - 4)
        .. '}\n', 0 },
    { 'core/a.c', 'int g(void);\n\nint f(void)\n{\n' .. ('    g();\n'):rep(MAX_FUNCTION - 3)
        .. '}\n', 0 },
    { 'lua/mare/a.lua', 'local function f()\n' .. ('    g()\n'):rep(MAX_FUNCTION - 1)
        .. 'end\n', 1 },
    { 'lua/mare/a.lua', 'local function f()\n' .. ('    g()\n'):rep(MAX_FUNCTION - 2) .. 'end\n'
        .. 'local t = {\n' .. ('    1,\n'):rep(MAX_FUNCTION) .. '}\n', 0 },
    { 'lua/mare/a.lua', 'local h = g(function(x)\n'
        .. ('    if x then\n    end\n'):rep(MAX_FUNCTION) .. 'end)\n', 1 },
})

rule("a room's README says how to add to it", function(file, report)
    local is_rooms = file.path:find '^lua/mare/%w+/README%.md$'
    if is_rooms and not file.text:find '\n## Adding\n' then report(1, "no '## Adding'") end
end, {
    { 'lua/mare/a/README.md', '# a\n\nB. Adding\n', 1 },
    { 'lua/mare/a/README.md', '# a\n\n## Adding\n\nD.\n', 0 },
    { 'core/README.md', '# core\n', 0 },
})

rule('a README is at most a page', function(file, report)
    if is_readme(file.path) and file.path:find '/' and #file.lines > MAX_README then
        report(MAX_README + 1, #file.lines .. ' lines')
    end
end, {
    { 'core/README.md', ('x\n'):rep(MAX_README + 1), 1 },
    { 'README.md', ('x\n'):rep(MAX_README + 1), 0 },
    { 'core/README.md', ('x\n'):rep(MAX_README), 0 },
})

-- ---- messages ----

-- A message is free to change: a spec asks for its status and its words by tests/fails.lua.
local SUBJECTS = { 'message', 'failure', 'refus', '%f[%w]err%f[%W]' }

local function has_sentence(text)
    local plain = text:gsub('%%(%p)', '%1'):gsub('%[%[.-%]%]', '')
    return plain:find '%f[%w]%l+ %l+ %l+ %l+ %l+' ~= nil
end

-- Whether the arguments of an assert name a message and hold a sentence of five words.
local function asserts_sentence(kind, arguments)
    local names = kind == 'error_matches'
    for _, subject in ipairs(SUBJECTS) do names = names or arguments:find(subject) ~= nil end
    if not names then return false end
    for text in arguments:gmatch "'([^'\n]*)'" do if has_sentence(text) then return true end end
    for text in arguments:gmatch '"([^"\n]*)"' do if has_sentence(text) then return true end end
    return false
end

rule('messages are asserted by status and words', function(file, report)
    if not file.path:find '_spec%.lua$' then return end
    local text = file.text:gsub('%%[()]', '  ')          -- parentheses of patterns do not pair
    for at, kind, arguments in text:gmatch '()assert%.([%w_]+)(%b())' do
        if asserts_sentence(kind, arguments) then
            report(select(2, file.text:sub(1, at):gsub('\n', '')) + 1,
                'a sentence of a message: see tests/fails.lua')
        end
    end
end, {
    { 'tests/lua/a_spec.lua', "assert.error_matches(f, 'it is left as it is')\n"
        .. "assert.equal('it is left as it is', failure.message)\n", 2 },
    { 'tests/lua/a_spec.lua', 'assert.truthy(failure(f):find("is used after its release", 1, '
        .. "true))\nassert.matches('a number is wanted here', err.message)\n", 2 },
    { 'tests/lua/a_spec.lua', "fails(f, nil, 'left')\nassert.error_matches(f, 'no place')\n"
        .. "assert.equal('the name of a thing here', title)\n", 0 },
    { 'tests/lua/a.lua', "assert.error_matches(f, 'it is left as it is')\n", 0 },
})

-- ---- words ----

local RETIRED = dofile(arg[0]:gsub('[^/]*$', '') .. 'retired_words.lua')

-- The words of a text: 'the theBoards' becomes ' the the boards '.
local function spaced(text)
    return ' ' .. text:gsub('(%l)(%u)', '%1 %2'):lower() .. ' '
end

local function has_meaning(entry, path)
    for _, place in ipairs(entry.where or {}) do
        if path:sub(1, #place) == place then return true end
    end
    return path:find 'GLOSSARY%.md$' ~= nil or not path:find '/'
end

local function has_word(text, entry) return text:find('%A' .. entry[1] .. 's?%A') ~= nil end

-- Returns the entries whose words stand in a file where they are retired: in most files none, which
-- spares the look at each line.
local function retired_in(file)
    local text, found = spaced(file.text), {}
    for _, entry in ipairs(RETIRED) do
        local stands = text:find(entry[1]) and has_word(text, entry)
        if stands and not has_meaning(entry, file.path) then found[#found + 1] = entry end
    end
    return found
end

-- Each word is tried where nothing is exempt and where it has its own meaning.
local function planted_words()
    local planted = { { 'tests/bench/a.lua', '-- boarding the offices of newsagents\n', 1 },
        { 'bindings/a.c', 'int theBoard, board_of, BOARDS;\n/* on board */\n', 2 },
        { 'lua/mare/draw/a.lua', 'local keyboard, posterior = 1, 2\n', 0 },
        { 'core/a.c', '/* a frame beside a stack frame */\n/* stack frames */\n', 1 },
        { 'kernels/a.h', 'sliding_window *w;\nwindow *w;\n', 1 },
        { 'lua/mare/GLOSSARY.md', 'the board of an office\n', 0 } }
    for _, entry in ipairs(RETIRED) do
        local word = entry[1]:gsub('%%', '')
        local text = ('-- the %s of it\nlocal %s_of = 1\n'):format(word, word)
        planted[#planted + 1] = { 'lua/mare/new/a.lua', text, 2 }
        for _, place in ipairs(entry.where or {}) do
            planted[#planted + 1] = { place .. (place:find '/$' and 'a.lua' or ''), text, 0 }
        end
    end
    return planted
end

rule('no retired words', function(file, report)
    local tells = file.path == 'tests/tidy.lua' or file.path == 'tests/retired_words.lua'
    local entries = tells and {} or retired_in(file)
    for number, line in ipairs(entries[1] and file.lines or {}) do
        local text = spaced(line)
        for _, entry in ipairs(entries) do
            if has_word(entry.but and text:gsub(entry.but, '') or text, entry) then
                report(number, ("'%s' is retired: %s"):format(entry[1], entry[2]))
                break
            end
        end
    end
end, planted_words())

rule('each term once in the glossary, in order', function(file, report)
    if not file.path:find 'GLOSSARY%.md$' then return end
    local last = ''
    for number, line in ipairs(file.lines) do
        local term = line:match '^| ([^|]+) | [^|]+ |$'
        if line:find '^|' and not term and not line:find '^|%-' then report(number, 'no entry') end
        if term and term ~= 'term' then
            if term:lower() <= last then report(number, term .. ' stands after ' .. last) end
            last = term:lower()
        end
    end
end, {
    { 'lua/mare/GLOSSARY.md', '| term | meaning |\n|---|---|\n| a | An a. |\n| B | A b. |\n', 0 },
    { 'lua/mare/GLOSSARY.md', '| a | An a. |\n| a | Another. |\n| A | No. |\n| c |\n', 3 },
})

-- ---- running the rules ----

local counts = { passed = 0, failed = 0, skipped = 0 }

local function conclude(name, problems)
    if #problems == 0 then counts.passed = counts.passed + 1 return end
    counts.failed = counts.failed + 1
    print('FAILED ' .. name)
    for _, problem in ipairs(problems) do print('    ' .. problem) end
end

local function apply(one, files)
    local problems = {}
    for _, file in ipairs(files) do
        one.check(file, function(line, what)
            problems[#problems + 1] = ('%s:%d: %s'):format(file.path, line, what)
        end)
    end
    return problems
end

local function self_test(one)
    local problems = #one.planted > 1 and {} or { 'has no planted violation' }
    for index, sample in ipairs(one.planted) do
        local found = #apply(one, { make_file(sample[1], sample[2]) })
        if found ~= sample[3] then
            problems[#problems + 1] =
                ('planted text %d: %d found, not %d'):format(index, found, sample[3])
        end
    end
    return problems
end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- stdout and whether the command succeeded.
local function capture(command)
    local line = 'cd ' .. quoted(root) .. ' && { ' .. command .. '; } 2>&1; echo "=$?"'
    local pipe = assert(io.popen(line))
    local text = pipe:read '*a'
    pipe:close()
    local output, status = text:match '^(.*)=(%d+)\n$'
    return output, tonumber(status)
end

-- Returns what git knows of, and new files that it does not ignore: what runs leave in the checkout
-- is no part of it. Without git, as in a tarball, returns what is there.
local function list_files()
    local list, status = capture 'git ls-files -co --exclude-standard 2>/dev/null'
    if status == 0 and list ~= '' then return list end
    return (capture [[find . \( -name '.?*' -o -path './build*' -o -path ./shared \) -prune \
        -o -type f -print]]:gsub('%f[^\n%z]%./', ''))
end

local function read_tree()
    local files, paths = {}, {}
    for path in list_files():gmatch '[^\n]+' do
        if not path:find '^%.' then paths[#paths + 1] = path end
    end
    table.sort(paths)
    for _, path in ipairs(paths) do
        local handle = io.open(root .. '/' .. path, 'rb')       -- none of one that was just removed
        local text = handle and handle:read '*a'                -- none of a link to a folder
        if handle then handle:close() end
        if text and not text:find '%z' then files[#files + 1] = make_file(path, text) end
    end
    return files
end

local function check_top_level()
    local problems = {}
    for path in capture 'git ls-files 2>/dev/null':gmatch '[^\n]+' do
        local name = path:match '^[^/]+'
        if not contains(TOP_LEVEL, name) and not name:find '^%.' then
            problems[#problems + 1] = path .. ' does not belong at the top'
        end
    end
    for _, folder in ipairs(FOLDERS) do
        if not io.open(root .. '/' .. folder .. '/README.md') then
            problems[#problems + 1] = folder .. ' has no README.md'
        end
    end
    return problems
end

-- Returns a problem for each file that a command of README.md writes and git does not ignore.
local function check_ignored()
    local problems = {}
    local _, status = capture 'git ls-files --error-unmatch README.md'
    if status ~= 0 then return problems end
    for line in io.lines(root .. '/README.md') do
        for path in line:gmatch '%-%-%l+ (%l[%w_]*%.%l[%w.]*)' do
            local _, is_kept = capture('git check-ignore ' .. path)
            if is_kept ~= 0 then problems[#problems + 1] = path .. ' is not in .gitignore' end
        end
    end
    return problems
end

-- Sizes of rooms, and circles of requires inside lua/mare, lazy ones included.
local function check_rooms(files)
    local problems, lines, count, needs = {}, {}, {}, {}
    for _, file in ipairs(files) do
        local room = under(file.path, 'lua/mare') and is_lua(file.path) and room_of(file.path)
        if room then
            lines[room] = (lines[room] or 0) + #file.lines
            count[room] = (count[room] or 0) + 1
            local module = file.path:match '^lua/(.*)%.lua$':gsub('/init$', ''):gsub('/', '.')
            needs[module] = {}
            for name in table.concat(file.code, '\n'):gmatch 'require%s*%(?%s*[\'"](mare[%w_.]*)' do
                if name ~= module then table.insert(needs[module], name) end
            end
        end
    end
    for room, n in pairs(lines) do
        local limit = room == 'base' and MAX_LEAF_LINES or MAX_ROOM_LINES
        if n > limit then problems[#problems + 1] = room .. ' has ' .. n .. ' lines' end
        if count[room] > MAX_ROOM_FILES then
            problems[#problems + 1] = room .. ' has ' .. count[room] .. ' files'
        end
    end
    local state = {}
    local function visit(module, trail)
        if state[module] == 'done' or not needs[module] then return end
        if state[module] == 'open' then
            problems[#problems + 1] = 'a circle: ' .. trail .. ' -> ' .. module
            return
        end
        state[module] = 'open'
        for _, name in ipairs(needs[module]) do visit(name, trail .. ' -> ' .. name) end
        state[module] = 'done'
    end
    for module in pairs(needs) do visit(module, module) end
    return problems
end

local function check_rooms_itself()
    local function file(path, text) return make_file(path, text) end
    local planted = check_rooms {
        file('lua/mare/run/a.lua', "local function f() return require 'mare.run.b' end\n"),
        file('lua/mare/run/b.lua', "local a = require 'mare.run.a'\n"),
        file('lua/mare/base/c.lua', ('x = 1\n'):rep(MAX_LEAF_LINES + 1)),
    }
    return #planted == 2 and {} or { #planted .. ' found, not 2' }
end

-- What generic code asks of a scheme is on the page of schemes, and what is there is asked for.
local PROTOCOL = 'lua/mare/schemes/README.md'

local function documented_names(text)
    local names = {}
    local section = text:match '## What the rooms ask of a scheme(.-)\n## '
        or text:match '## What the rooms ask of a scheme(.*)' or ''
    for cell in section:gmatch '\n| ([^|]*) |' do
        for name in cell:gmatch '`([%w_]+)' do names[name] = true end
    end
    return names
end

local function check_protocol(files)
    local problems, named, asked = {}, {}, {}
    for _, file in ipairs(files) do
        if file.path == PROTOCOL then named = documented_names(file.text) end
    end
    for _, file in ipairs(files) do
        local is_own = under(file.path, 'lua/mare/schemes') or under(file.path, 'lua/mare/ocean')
        if is_lua(file.path) and under(file.path, 'lua/mare') and not is_own then
            for number, line in ipairs(file.code) do
                for name in line:gmatch '%f[%w_]scheme[.:]([%a_][%w_]*)' do
                    asked[name] = true
                    if not named[name] then
                        problems[#problems + 1] = ('%s:%d: %s does not name scheme.%s'):format(
                            file.path, number, PROTOCOL, name)
                    end
                end
            end
        end
    end
    for name in pairs(named) do
        if not asked[name] then problems[#problems + 1] = 'nobody asks for scheme.' .. name end
    end
    return problems
end

local function check_protocol_itself()
    local page = '## What the rooms ask of a scheme\n\n| name | is |\n|---|---|\n'
        .. '| `halo`, `room()` | `this` |\n| `idle` | |\n\n## Adding\n\n| `other` | |\n'
    local planted = check_protocol {
        make_file(PROTOCOL, page),
        make_file('lua/mare/run/a.lua', 'x = sim.scheme.halo + self.scheme:room()\n'
            .. 'y = scheme.new -- scheme.never\nz = scheme:other()\n'),
        make_file('lua/mare/ocean/a.lua', 'x = scheme.own\n'),
    }
    table.sort(planted)
    local found = #planted == 3 and planted[1]:find 'a.lua:2.*new' and planted[2]:find 'a.lua:3'
        and planted[3]:find 'idle'
    return found and {} or { #planted .. ' found, not 3: ' .. table.concat(planted, '; ') }
end

-- A check by a tool that may be absent.
local function check_with(tool, command)
    local _, missing = capture('command -v ' .. tool)
    if missing ~= 0 then
        counts.skipped = counts.skipped + 1
        print(('skipped %s: it is not installed'):format(tool))
        return
    end
    local output, status = capture(command)
    conclude(tool, status == 0 and {} or { (output:gsub('\n', '\n    ')) })
end

local files = read_tree()
for _, one in ipairs(rules) do
    conclude(one.name .. ' (self-test)', self_test(one))
    conclude(one.name, apply(one, files))
end
conclude('top level', check_top_level())
conclude('what the commands of README.md write is ignored', check_ignored())
conclude('rooms (self-test)', check_rooms_itself())
conclude('rooms', check_rooms(files))
conclude('what a scheme is asked for (self-test)', check_protocol_itself())
conclude('what a scheme is asked for', check_protocol(files))
-- luacheck is a script of Lua: LuaJIT's interpreter takes half the time of the Lua it asks for, two
-- fifths with a lazy collector, and compiling its code would cost more than it saves.
check_with('luacheck', [[luajit -joff -e "collectgarbage('setpause', 1000)" \
    "$(command -v luacheck)" --no-color -q .]])
check_with('shellcheck', [[grep -rlE '^#!.*bash|^# shellcheck shell' . \
    --include=run --include=gpu --include='*.sh' --exclude-dir='build*' --exclude-dir=.git |
    xargs shellcheck -x -P SCRIPTDIR]])

print(('%d passed, %d failed, %d skipped'):format(counts.passed, counts.failed, counts.skipped))
os.exit(counts.failed == 0 and 0 or 1)
