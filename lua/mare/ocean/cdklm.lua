-- The scheme of Chertock, Dudzinski, Kurganov and Lukacova-Medvid'ova (2018): finite volumes that
-- keep lakes at rest and geostrophic flow.

local volumes = require 'mare.ocean.volumes'

local cdklm = { fields = volumes.fields }

function cdklm.setup(scheme, desc)
    volumes.setup(scheme, desc, 1)
end

return cdklm
