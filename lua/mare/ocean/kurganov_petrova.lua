-- The scheme of Kurganov and Petrova (2007): finite volumes that keep lakes at rest; the earth's
-- rotation is a source like any other.

local volumes = require 'mare.ocean.volumes'

local kurganov_petrova = { fields = volumes.fields }

function kurganov_petrova.setup(scheme, desc)
    volumes.setup(scheme, desc, 0)
end

return kurganov_petrova
