-- make.lua - from the text of a program to C with a table of its kernels:
--
--   mare make.lua KEY PREPROCESSED OUT.c
--
-- PREPROCESSED is what the C preprocessor made of the text with the prelude for processors, in
-- which MR_KERNEL stands still in front of each kernel. Behind the text go functions that call a
-- kernel with the words of a launch, and the table that core's cpu.c looks into.

local key, path, out = ...

local file = assert(io.open(path))
local text = file:read '*a'
file:close()

-- Parameters of a kernel as 'type' each: what is left of a declaration without its name.
local function types_of(list)
    local types = {}
    for one in (list:gsub('%s+', ' ') .. ','):gmatch '([^,]*),' do
        local type = one:match '^%s*(.-)%s*[%w_]+%s*$'
        if type and type ~= '' then types[#types + 1] = type:gsub('restrict', '') end
    end
    return types
end

local function call_of(name, types)
    local arguments = {}
    for k, type in ipairs(types) do
        arguments[k] = ('*(%s *)(values + words[%d])'):format(
            type:find '%*' and type .. ' const' or type, k - 1)
    end
    return ('static void mr_call_%s(const uint64_t *values, const uint32_t *words) {\n'
        .. '    (void)values, (void)words;\n    %s(%s);\n}\n'):format(name, name,
        table.concat(arguments, ', '))
end

local calls, rows = {}, {}
local waits = text:match 'mr_barrier_%(%)' and 1 or 0
local is_fast = text:find 'mr_is_fast_' and 1 or 0
for name, list in text:gmatch 'MR_KERNEL[^;{]-void%s+([%w_]+)%s*(%b())%s*{' do
    calls[#calls + 1] = call_of(name, types_of(list:sub(2, -2)))
    rows[#rows + 1] = ('    { "%s", mr_call_%s, %d, %d },\n'):format(name, name,
        waits, is_fast)
end

file = assert(io.open(out, 'w'))
file:write('#define MR_KERNEL static\n', text, '\n', table.concat(calls),
    'static const mr_cpu_kernel mr_kernels_[] = {\n', table.concat(rows), '    { 0 },\n};\n',
    '__attribute__((visibility("default")))\n',
    ('const mr_cpu_program mr_program_%s = { 0x%su, mr_kernels_, mr_programs_run };\n'):format(key,
        key))
assert(file:close())
