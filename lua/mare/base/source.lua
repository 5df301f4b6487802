-- The only opener of kernels/: reads a kernel file into the table that device:program takes.
-- Includes are resolved by core, relative to the including file and then to kernels/.

local errors = require 'bindings.errors'
local files = require 'bindings.files'
local host = require 'bindings.host'

local source = {}

local root = host.root .. '/kernels/'

source.folder = root:sub(1, -2)      -- for include paths

-- The text of a file of kernels/.
function source.read(file)
    local text, reason = files.read(root .. file)
    return text or errors.argument('kernel file %s: %s', file, reason)
end

-- desc: fields of device:program that are not text, name or include paths, as defines and math
function source.program(file, desc)
    local program = { source = source.read(file), name = file, include_paths = { root } }
    for key, value in pairs(desc or {}) do program[key] = value end
    return program
end

-- Whether lanes of a warp look at one another by shuffles, which the prelude knows how to say on
-- that device, rather than through local memory. info: of a device
function source.shuffles(info)
    return info.vendor:find 'NVIDIA' ~= nil
end

return source
