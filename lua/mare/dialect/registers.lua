-- Options of compilers that bound the registers of a work-item. The prelude then tells no group:
-- the vendor's compilers forget the bound beside it.

local errors = require 'bindings.errors'

local registers = {}

-- Returns the option for a bound of `count` (nil, 0: none), for device:program.
function registers.option(info, count)
    if not count or count == 0 then return nil end
    if info.name:find '^cuda' then
        return ('--maxrregcount=%d --define-macro=MR_REGISTERS=%d'):format(count, count)
    end
    if info.vendor:find 'NVIDIA' then
        return ('-cl-nv-maxrregcount=%d -D MR_REGISTERS=%d'):format(count, count)
    end
    errors.argument('max_registers = %s: %s has no such limit', tostring(count), info.model)
end

local on_unit, step = 65536, 8      -- of a compute unit; each work-item gets some eights
local always = 256                  -- work-items that can have 255 each, which is the most

-- Returns the option for a kernel whose source fixes a group of so many work-items, nil where the
-- compiler heeds that. NVIDIA's OpenCL (driver 580, H200) made one of 512 that ran in groups of 256
-- at most; CUDA fitted the same text to its group.
function registers.for_group(info, group)
    if group <= always or info.name:find '^cuda' or not info.vendor:find 'NVIDIA' then
        return nil
    end
    local warps = math.ceil(group / 32)
    return registers.option(info, math.floor(on_unit / (32 * warps) / step) * step)
end

return registers
