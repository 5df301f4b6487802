#!/usr/bin/env bash
# install.sh BUILD: what `cmake --install` puts into an empty prefix serves by itself: the launcher
# by a scenario's name, C99 and C++ programs by pkg-config and by find_package, a stock LuaJIT. The
# symbols of the libraries are those of symbols.txt: a name that goes, or comes unlisted, fails.
set -euo pipefail

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
prefix="$place/some where"
cmake --install "$build" --prefix "$prefix" >/dev/null
cd "$place"
export MARE_CACHE=${MARE_CACHE:-$place/cache}

fail() { echo "$*"; exit 1; }
expect() {      # WHAT TEXT ACTUAL
    [[ $3 == *"$2"* ]] || fail "$1: expected '$2', got: $3"
}

# ---- symbols ----

api() { sed -n "s/^#define $2 \([0-9]*\).*/\1/p" "$prefix/include/$1"; }
mare=libmare.so.$(api mare.h MARE_API_VERSION)
engine=libmare_engine.so.$(api mare_engine.h MARE_ENGINE_API_VERSION)
for file in $mare $engine; do
    library=${file%%.*}
    nm -D --defined-only "$prefix/lib/$file" |
        awk -v l="$library" '$2 != "A" { sub(/@@.*/, "", $3); print l, $3 }'
done | LC_ALL=C sort >symbols
diff -u "$here/embed/symbols.txt" symbols || fail "the exported symbols have changed"
expect soname "$engine" "$(objdump -p "$prefix/lib/libmare_engine.so" | grep SONAME)"

# ---- programs ----

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"
examples="$prefix/share/doc/mare/examples"
strict=(-Wall -Wextra -pedantic -Werror)
flags=()
flags() { eval "flags=($(pkg-config --cflags --libs "$@"))"; }

expect pkg-config "${mare##*.}" "$(pkg-config --variable=api_version mare)"
flags mare
cc -std=c99 "${strict[@]}" "$examples/saxpy.c" "${flags[@]}" -o saxpy
cc -std=c99 "$examples/saxpy.c" -I"$prefix/include" "$prefix/lib/libmare.a" -lpthread -ldl \
    -o saxpy_static
flags mare_engine
for name in step threads begin; do
    cc -std=c99 "${strict[@]}" "$examples/$name.c" "${flags[@]}" -lpthread -o $name
done
c++ -std=c++11 "${strict[@]}" "$examples/share.cpp" "${flags[@]}" -o share
expect share 'depth[31] = 1.499676' "$(./share)"
expect begin 'North Sea: 40 m' "$(./begin)"
expect threads '5000050000; MARE_ERROR_INTERRUPTED' "$(./threads)"
# MARE_VALGRIND='share threads saxpy step' takes half an hour, in which PoCL compiles.
if command -v valgrind >/dev/null; then
    for name in ${MARE_VALGRIND-share threads}; do
        said=$("$here/valgrind.sh" "./$name" 2>&1) || fail "$name under valgrind: $said"
    done
else
    echo "skipped: no valgrind for the examples"
fi

if "$prefix/bin/mare" -e "require('mare').device.open 'auto'" 2>/dev/null; then
    expect saxpy 'y[999] = 1999' "$(./saxpy)"
    expect 'static saxpy' 'y[999] = 1999' "$(env -u LD_LIBRARY_PATH ./saxpy_static)"
    expect step 'step  12' "$(./step)"
    "$prefix/bin/mare" sod --nx=16 --steps=2 --quiet --image=sod.png
    [ -s sod.png ] || fail "mare sod drew nothing"
else
    echo "skipped: no device for the examples that compute"
fi
# Where the SDK is; without a driver the stub that it comes with stands in for linking.
cuda=${CUDA_HOME:-/usr/local/cuda}
if [ -f "$cuda/include/cuda.h" ]; then
    flags mare
    cc -std=c99 -Wall -Wextra -Werror "$examples/own_cuda.c" -isystem "$cuda/include" \
        "${flags[@]}" -L"$cuda/lib64/stubs" -lcuda -o own_cuda || fail "own_cuda.c"
    status=0
    ./own_cuda >own_cuda.txt 2>&1 || status=$?
    if [ $status = 0 ]; then expect own_cuda 'x[999] = 999' "$(cat own_cuda.txt)"
    elif [ $status != 77 ] && [ $status != 127 ]; then fail "own_cuda: $(cat own_cuda.txt)"; fi
fi
unset LD_LIBRARY_PATH

mkdir project
cat >project/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(embedding C CXX)
find_package(mare 0.1 REQUIRED)
if(NOT mare_API_VERSION EQUAL ${API})
    message(FATAL_ERROR "API ${mare_API_VERSION}")
endif()
add_executable(share ${EXAMPLES}/share.cpp)
target_link_libraries(share PRIVATE mare::engine)
add_executable(saxpy ${EXAMPLES}/saxpy.c)
target_link_libraries(saxpy PRIVATE mare::mare_static)
EOF
if ! { cmake -S project -B project/build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
        -DEXAMPLES="$examples" -DAPI="${mare##*.}" && cmake --build project/build; } >log 2>&1; then
    cat log
    fail "find_package"
fi
expect 'share by find_package' 'depth[31]' "$(project/build/share)"

# ---- Lua, and the launcher: from the prefix, not from where it was built ----

where="io.write(require('bindings.home').root, ' ', require('bindings.home').library)"
expect mare "$prefix/share/mare $prefix/lib/$mare" "$("$prefix/bin/mare" -e "$where")"
expect luajit "$prefix/share/lua/5.1/../../../share/mare" "$(
    LUA_PATH="$prefix/share/lua/5.1/?.lua;;" luajit -e "local mare = require 'mare'
        assert(mare.device.open('null').name == 'null:0' and mare.grid) $where")"
expect 'no environment' "$("$build/mare" --version)" \
    "$(env -i MARE_CACHE=off "$prefix/bin/mare" --version)"
size=$(du -sk "$prefix" | cut -f1)
echo "installed: $size KiB, libraries $(du -Lk "$prefix/lib/libmare.so" | cut -f1) and" \
    "$(du -Lk "$prefix/lib/libmare_engine.so" | cut -f1) KiB"
