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
if command -v cc >/dev/null && command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$home/lib/pkgconfig"
    flags=()
    eval "flags=($(pkg-config --cflags --libs mare_engine))"
    cc -std=c99 "$home/share/doc/examples/begin.c" "${flags[@]}" -o begin
    LD_LIBRARY_PATH="$home/lib" ./begin | grep -q '40 m'
    cc -std=c99 "$home/share/doc/examples/saxpy.c" -I"$home/include" "$home/lib/libmare.a" \
        -lpthread -ldl -lm -o saxpy
else
    echo "skipped: no compiler for programs against the bundle"
fi
size=$(du -sm "$home" | cut -f1)
echo "$(wc -l <maps) libraries loaded, $size MiB in all"
# 47.9 MB on Debian 12, without what files leave of their last blocks, and 2.3 of programs for
# processors; a newer system's libraries are larger. A library with data of its own would show here.
[ "$size" -le 57 ] || { echo "the bundle has outgrown 57 MiB"; exit 1; }
