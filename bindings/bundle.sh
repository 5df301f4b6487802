#!/usr/bin/env bash
# bundle.sh BUILD [TEST PROGRAM...] - makes BUILD/bundle, a folder that runs wherever it is put:
# bin/mare, lib/ and include/ (libmare, the engine, every library they may load, but neither the C
# library nor a driver, and what benchmarks compare it with; lib/fakes/ those of tests/fake; headers
# and what else programs in C are built with), libexec/ (tests),
# share/mare/ (Lua, kernels, scenarios, specs; vendor/ holds the Lua modules of others) and
# share/doc/ (the notices of what is shipped). The libraries are those of this system, so the bundle
# runs where glibc is at least as new as here.
set -euo pipefail

build=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
out=$build/bundle.new
mare=$out/share/mare
declare -A system=()    # name of a library -> its file on this system
shipped=()              # files of this system that went into the bundle

# The file behind the name that a program would load: libz -> /usr/lib/.../libz.so.1
find_library() {
    local path
    path=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p |
        awk -v name="^$1[.]so[.][0-9]" '$1 ~ name && /x86-64/ { print $NF }' | head -n 1)
    [ -n "$path" ] || { echo "bundle.sh: $1 is not installed" >&2; return 1; }
    echo "$path"
}

# Part of the C library, of which a process has one; or ICU, see stub_icu.
is_left_out() {
    [[ $1 =~ ^(ld-linux|lib(c|m|dl|rt|pthread|resolv|util|anl|mvec|icuuc))[.-] ]]
}

# The names of the libraries that a file was linked with.
needed_by() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'; }

# add_library FILE NAME: with all that it needs; the path in bin/mare holds for them, too.
add_library() {
    install -m 755 "$1" "$out/lib/$2"
    shipped+=("$(readlink -f "$1")")
    add_needed "$1"
}

add_needed() {
    local name
    for name in $(needed_by "$1"); do
        if ! is_left_out "$name" && [ ! -e "$out/lib/$name" ]; then
            add_library "${system[$name]}" "$name"
        fi
    done
}

# libxml2, which NetCDF links for remote data sets, wants ICU for rare encodings: 36 MB with the C++
# library behind it. The stub answers that there is no such encoding.
stub_icu() {
    local xml name version
    xml=$(compgen -G "$out/lib/libxml2.so.*") || return 0
    name=$(needed_by "$xml" | grep '^libicuuc') || return 0
    version=${name##*.}
    {
        nm -D --undefined-only "$xml" |
            awk -v ours="_$version\$" '$2 ~ ours && !/ucnv_open_/ { print "void " $2 "(void) {}" }'
        # UConverter *ucnv_open(const char *name, UErrorCode *status); 16 is U_UNSUPPORTED_ERROR
        echo "void *ucnv_open_$version(const char *n, int *s) { (void)n; *s = 16; return 0; }"
    } | cc -x c -shared -fPIC -w -Wl,-soname,"$name" -o "$out/lib/$name" -
}

# add_module NAME: a Lua module with its submodules, or a C module (a.b is b.so in folder a).
add_module() {
    local to=$mare/vendor/${1//./\/} path
    path=$(luajit -e "local paths = package.path .. ';' .. package.cpath
                      print(assert(package.searchpath('$1', paths)))")
    shipped+=("$(readlink -f "$path")")
    mkdir -p "$(dirname "$to")"
    case $path in
        *.so) cp -L "$path" "$to.so" ;;
        */init.lua) cp -RL "${path%/init.lua}" "$to" ;;
        *) cp -L "$path" "$to.lua"
           if [ -d "${path%.lua}" ]; then cp -RL "${path%.lua}" "$to"; fi ;;
    esac
}

# The copyright file of every package that a shipped file belongs to, and their list.
add_notices() {
    local line file package
    local -A owner=()
    mkdir -p "$out/share/doc"
    while read -r line; do owner[${line##*: }]=${line%%:*}; done \
        < <(printf '%s\n' "${shipped[@]}" | sed 's|^/usr||; p; s|^|/usr|' |
            xargs dpkg -S 2>/dev/null)
    for file in "${shipped[@]}"; do
        file=${file#/usr}       # which of /lib and /usr/lib a package names differs
        package=${owner[$file]-${owner[/usr$file]-}}
        [ -n "$package" ] || { echo "bundle.sh: no package owns $file" >&2; return 1; }
        cp -L "/usr/share/doc/$package/copyright" "$out/share/doc/$package.txt"
        # shellcheck disable=SC2016  # the fields are dpkg-query's
        dpkg-query -W -f '${Package} ${Version}, source ${source:Package} ${source:Version}\n' \
            "$package"
    done | sort -u >"$out/share/doc/PACKAGES"
    cp "$root/LICENSE" "$out/share/doc/mare.txt"
    if ! needed_by "$build/mare" | grep -q libluajit; then
        cp "$root/bindings/luajit/COPYRIGHT" "$out/share/doc/luajit.txt"
        basename "$root"/bindings/luajit/luajit-*.tar.xz .tar.xz | sed 's/$/, in bin\/mare/' \
            >>"$out/share/doc/PACKAGES"
    fi
}

add_tree() {
    (cd "$root" && find core/mare.h core/commit.cmake bindings lua kernels scenarios tests -type f \
        \( ! -name '*.c' -o -name 'table1_*.c' -o -name '*_openmp.c' \) \
        \( ! -name '*.nc' -o -path 'scenarios/data/*' \) ! -name '*.tar.xz' \
        ! -path '*/.*' ! -path '*/__pycache__/*' -print0 |
        tar --null -T - -cf -) | tar -C "$mare" -xf -
}

# What programs in C are built with. The libraries' plain names are scripts of the linker, as the
# bundle has no links.
add_development() {
    local name
    install -D -m 644 -t "$out/include" "$root/core/mare.h" "$root/bindings/mare_engine.h"
    install -m 644 "$build/libmare.a" "$out/lib/"
    strip -g "$out/lib/libmare.a"
    echo "INPUT(-l:$soname)" >"$out/lib/libmare.so"
    echo "INPUT(-l:$engine)" >"$out/lib/libmare_engine.so"
    mkdir -p "$out/lib/pkgconfig" "$out/share/doc/examples"
    for name in mare mare_engine; do
        # shellcheck disable=SC2016  # pkg-config expands it
        sed 's|^libdir=.*|libdir=${prefix}/lib|; s|^prefix=.*|prefix=${pcfiledir}/../..|
             s|^includedir=.*|includedir=${prefix}/include|' "$build/generated/$name.pc" \
            >"$out/lib/pkgconfig/$name.pc"
    done
    install -m 644 -t "$out/share/doc/examples" "$root"/bindings/examples/*
}

# Programs for processors; those of other kernels than these would be refused, one by one.
add_programs() {
    local newer
    [ -d "$build/cpu/programs" ] || return 0
    newer=$(cd "$root" && find kernels lua/mare scenarios -name '*.[hkl]*' -type f \
        -newer "$build/cpu/made" -print -quit)
    [ -z "$newer" ] || echo "bundle.sh: $newer is newer than the programs for processors: build" \
        "the target cpu_programs first" >&2
    cp -R "$build/cpu/programs" "$out/lib/programs"
}

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/libexec" "$mare"
add_tree

# ZeroMQ and libsodium, for notebooks, stay the machine's: libzmq5 links a dozen more, of Kerberos
# and of C++, and Jupyter does not come with the bundle either.
libraries=("$(find_library libnetcdf)" "$(find_library libcairo)" "$(find_library libgif)"
    "$(find_library libedit)" "$(find_library libmpfr)")
while read -r name path; do system[$name]=$path; done \
    < <(ldd "${libraries[@]}" "$build/mare" | awk '$2 == "=>" { print $1, $3 }')
for path in "${libraries[@]}"; do add_library "$path" "${path##*/}"; done
stub_icu
soname=$(needed_by "$build/mare" | grep '^libmare[.]so')
engine=$(readelf -d "$build/libmare_engine.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
cp "$build/$soname" "$build/$engine" "$build"/peer_{cuda,opencl}.so "$out/lib/"
add_needed "$build/mare"
install -D -m 755 "$build/mare" "$out/bin/mare"
for program; do install -D -m 755 "$program" "$out/libexec/${program##*/}"; done
add_programs
add_development
mkdir "$out/lib/fakes"
cp -R "$build"/tests/fake_*/ "$out/lib/fakes/"

for module in argparse dkjson lfs; do add_module "$module"; done
if luajit -e "require 'busted'" 2>/dev/null; then
    for module in busted luassert say pl cliargs mediator system system.core term term.core; do
        add_module "$module"
    done
else
    echo "bundle.sh: lua-busted is not installed: the bundle runs, but not the specs in it" >&2
fi
font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
install -D -m 644 "$font" "$mare/fonts/${font##*/}"
shipped+=("$font")
add_notices

# Of ours; those of the system are stripped.
strip --strip-unneeded "$out/bin/mare" "$out/lib/$soname" "$out/lib/$engine" "$out"/libexec/* \
    "$out"/lib/peer_*.so

rm -rf "$build/bundle"
mv "$out" "$build/bundle"
du -sh "$build/bundle"
