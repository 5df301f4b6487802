#!/usr/bin/env bash
# processor.sh BUILD: simulations on the device cpu, which has the programs of shipped scenarios
# compiled ahead (bindings/programs), in BUILD/cpu, and on PoCL: in float the same within 1e-5 of
# the largest value, in double within 1e-13. What was not compiled is refused by name.
set -euo pipefail

build=$(cd "$1" && pwd)
kinds=(x86-64-v3 x86-64 aarch64)
for kind in "${kinds[@]}"; do
    library=$build/cpu/programs/$kind.so
    [ ! -e "$library" ] || break
done
[ -e "$library" ] || { echo "skipped: no $build/cpu; build the target bundle"; exit 77; }
if [ "$kind" = x86-64-v3 ] && ! grep -q 'avx2' /proc/cpuinfo; then library=${library/-v3/}; fi
export MARE_PROGRAMS=$library MARE_CACHE=${MARE_CACHE:-off}

"$build/mare" - <<'EOF'
local mare = require 'mare'
local cases = {
    { 'kelvin_helmholtz', { nx = 130, ny = 70, t_end = 0.02 }, 'rho', 1e-5 },
    { 'kelvin_helmholtz', { nx = 130, ny = 70, t_end = 0.02, precision = 'double' }, 'E', 1e-13 },
    { 'kelvin_wave', { nx = 96, ny = 40, steps = 5 }, 'eta', 1e-5 },
}
local function field_of(case, device)
    local options = { device = device }
    for name, value in pairs(case[2]) do options[name] = value end
    local sim = mare.simulation(case[1])(options)
    sim:run()
    return sim:field(case[3])
end
local function compare(case)
    local ours, theirs = field_of(case, 'cpu'), field_of(case, 'opencl')
    local worst, most = 0, 0
    for k = 0, ours.nx * ours.ny - 1 do
        worst = math.max(worst, math.abs(ours.data[k] - theirs.data[k]))
        most = math.max(most, math.abs(theirs.data[k]))
    end
    print(('%s %s: %.3g of %.3g'):format(case[1], case[3], worst, most))
    assert(worst <= case[4] * most and most > 0)
end
local has_other = pcall(mare.device.open, 'opencl')
for _, case in ipairs(cases) do
    if has_other then compare(case) else assert(field_of(case, 'cpu')) end
end
local device = mare.device.open 'cpu'
assert(device.info.kind == 'cpu' and not device.info.has_compiler)
local done, failure = pcall(device.program, device, { name = 'own.krn', source = '// none' })
assert(not done and tostring(failure):find('own.krn is not among the programs', 1, true), failure)
EOF
