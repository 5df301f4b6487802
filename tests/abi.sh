#!/usr/bin/env bash
# abi.sh BUILD: both libraries against embed/*.abi.xz, which abidw has written of them when their
# API got its number: a function or type that programs were built with, and that is another now,
# fails. BUILD has debug information, as that for the address sanitizer. A new number of an API
# wants the files written anew: `MARE_ABI=write tests/abi.sh BUILD`.
set -euo pipefail

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "skipped: $1"; exit 77; }
command -v abidiff >/dev/null || skip "no abidiff, which Debian has in abigail-tools"
readelf -S "$build/libmare.so" | grep -q debug_info || skip "$build has no debug information"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

bad='size changed|offset changed|return type changed|parameter [0-9]+ of type .* changed'
bad+='|^ *\[D\]|[1-9][0-9]* Removed'
failed=0
for name in libmare libmare_engine; do
    recorded=$here/embed/$name.abi.xz
    library=$(realpath "$build/$name.so")
    if [ "${MARE_ABI-}" = write ]; then
        abidw --no-corpus-path --no-show-locs --no-comp-dir-path --drop-private-types \
            --type-id-style hash --hf "$here/../core/mare.h" \
            --hf "$here/../bindings/mare_engine.h" "$library" |
            grep -vE "<dependency name='lib(asan|ubsan|gcc_s)" | xz -9e >"$recorded"
        continue
    fi
    xz -dc "$recorded" >"$place/$name.abi"
    status=0
    abidiff --no-added-syms --drop-private-types --hf2 "$here/../core/mare.h" \
        --hf2 "$here/../bindings/mare_engine.h" "$place/$name.abi" "$library" \
        >"$place/report" || status=$?
    if ((status & 8)) || ((status & 3)) || grep -qE "$bad" "$place/report"; then
        echo "$name is not what programs were built with:"
        cat "$place/report"
        failed=1
    fi
done
exit $failed
