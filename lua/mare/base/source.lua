-- Reads kernel files into the table that device:program takes. Nothing else
-- opens kernels/. Core resolves includes, first relative to the including file,
-- then relative to kernels/.

local constants = require 'mare.base.constants'
local errors = require 'bindings.errors'
local files = require 'bindings.files'
local home = require 'bindings.home'
local tables = require 'bindings.tables'

local source = {}

local root = home.root .. '/kernels/'

source.folder = root:sub(1, -2)      -- the include path of all kernels

-- Returns the text of a file in kernels/.
function source.read(file)
    local text, reason = files.read(root .. file)
    return text or errors.argument('kernel file %s: %s', file, reason)
end

-- desc: the fields of device:program other than the text, name and include
-- paths, such as defines and math.
function source.program(file, desc)
    return source.text(source.read(file), file, desc)
end

-- Does the same for a text that is not in a file but may include headers of
-- kernels/. name: what messages of the compiler call it.
function source.text(text, name, desc)
    return tables.merged({ source = text, name = name, include_paths = { root } }, desc,
        { defines = tables.merged(constants, desc and desc.defines) })
end

-- Returns the text of a file with more arguments for its kernels where it has
-- PARAMETERS, and their names in a row, for the define GIVEN. Core reads the
-- arguments before the preprocessor runs, so a define cannot hold them. list:
-- of declarations such as 'real g'.
function source.with_parameters(file, list)
    local names = {}
    for k, declaration in ipairs(list) do names[k] = declaration:match '[%w_]+$' end
    local text = source.read(file):gsub('%f[%w_]PARAMETERS%f[^%w_]', table.concat(list, ', '))
    return text, table.concat(names, ', ')
end

-- Returns whether work-items of a warp exchange values by shuffles, which the
-- prelude supports on NVIDIA devices, instead of through local memory. info: of
-- the device.
function source.shuffles(info)
    return info.vendor:find 'NVIDIA' ~= nil
end

return source
