#!/usr/bin/env bash
# bundle.sh BUNDLE: a copy of the bundle under another name, without environment, must start, draw,
# write NetCDF, run a spec, and take all but the C library and the drivers from itself.
set -euo pipefail

[ -d "$1" ] || { echo "skipped: $1 is not there; build the target bundle"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
home="$place/mare elsewhere"
cp -R "$1" "$home"
cd "$place"

clean() { env -i MARE_CACHE=off MARE_DEVICE=null "$@"; }

clean "$home/bin/mare" --version | grep -E '^mare [0-9.]+, commit ([0-9a-f]{12}|unknown)'
tests=$home/share/mare/tests
clean "$home/bin/mare" "$tests/busted.lua" "$tests/lua/grid_spec.lua"
clean "$home/bin/mare" -e '
    require("bindings.netcdf").load()
    require("bindings.cairo").load_font()
    require("bindings.gif").load()
    require("bindings.editline").load()
    require("bindings.mpfr").version()
    for _, name in ipairs { "lfs", "system", "term", "argparse", "dkjson" } do require(name) end
    for line in io.lines "/proc/self/maps" do
        local path = line:match "%s(/.*%.so.*)$"
        if path then print(path) end
    end' | sort -u >maps

foreign=$(grep -vF "$home/" maps |
    grep -vE '/(ld-linux|lib(c|m|dl|rt|pthread|resolv|util))[-.]' || true)
if [ -n "$foreign" ] || ! grep -qF "$home/lib/libnetcdf" maps; then
    printf 'from outside the bundle:\n%s\n' "$foreign"
    exit 1
fi
size=$(du -sm "$home" | cut -f1)
echo "$(wc -l <maps) libraries loaded, $size MiB in all"
# 43 on Debian 12, 48 on Debian 13; a library with data of its own would show here.
[ "$size" -lt 54 ] || { echo "the bundle has outgrown 54 MiB"; exit 1; }
