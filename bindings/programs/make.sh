#!/usr/bin/env bash
# make.sh - the programs of shipped scenarios for processors without a driver, compiled ahead:
#
#   make.sh all MARE FOLDER CC    FOLDER/programs/NAME.so for each kind of processor in `variants`,
#                                 by the launcher MARE and the compiler CC
#   make.sh one FOLDER KEY PID    what compile.so calls for FOLDER/KEY.PID.txt: KEY.c and KEY.so
#
# Scenarios say themselves which programs they want: each line of list.txt is run, with compile.so
# in the place of the library, which leaves each program in FOLDER/texts, compiled for the plainest
# processor. What is there already is not compiled again.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
core=$here/../../core
# An expression has the same bits on every compiler; comparisons may be vectorised.
flags=(-std=gnu11 -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math
    -fno-strict-aliasing -w -I"$core")
declare -A variants=()
case $(uname -m) in
    x86_64) plain=x86-64 variants=([x86-64-v3]="-march=x86-64-v3 -mprefer-vector-width=256") ;;
    aarch64) plain=aarch64 ;;
    *) plain=generic ;;
esac
variants[$plain]=""

make_one() {
    local folder=$1 key=$2 own=$1/$2.$3
    { echo '#include "backends/cpu_programs.h"'; cat "$own.txt"; } |
        "$MARE_PROGRAMS_CC" -E -P -x c "${flags[@]}" - -o "$own.i"
    "$MARE_PROGRAMS_MARE" "$here/make.lua" "$key" "$own.i" "$own.c"
    "$MARE_PROGRAMS_CC" -O3 "${flags[@]}" -c "$own.c" -o "$own.o"
    "$MARE_PROGRAMS_CC" -O3 -shared "${flags[@]}" "$own.o" "$here/run.c" -o "$own.so" -lm
    mv "$own.c" "$folder/$key.c"
    mkdir -p "$folder/../$plain"
    mv "$own.o" "$folder/../$plain/$key.o"
    mv "$own.so" "$folder/$key.so"
    rm "$own".*
}

# choices WORD...: lines, of which each takes another part of words as a|b.
choices() {
    local k word
    for ((k = 1; k <= $#; k++)); do
        [[ ${!k} == *"|"* ]] || continue
        while read -r word; do choices "${@:1:k - 1}" "$word" "${@:k + 1}"; done \
            <<<"${!k//|/$'\n'}"
        return
    done
    echo "$*"
}

# Runs what list.txt says, side by side. Words after -- there are for all lines that follow.
find_programs() {
    local words common=()
    while read -ra words; do
        [[ ${#words[@]} -gt 0 && ${words[0]} != \#* ]] || continue
        if [[ ${words[0]} == -- ]]; then common=("${words[@]:1}")
        else choices "${words[@]}" "${common[@]+"${common[@]}"}"
        fi
    done <"$here/list.txt" | xargs -P "$(nproc)" -I {} "$0" run {}
}

run_scenario() {
    local place words
    read -ra words <<<"$1"
    place=$(mktemp -d)
    if ! (cd "$place" && "$MARE_PROGRAMS_MARE" "${words[@]}" --device cpu) >"$place/log" 2>&1; then
        echo "make.sh: mare $1: $(tail -n 1 "$place/log")" >&2
        return 255      # ends xargs
    fi
    rm -r "$place"
}

write_list() {
    local key
    echo '#include "backends/cpu_programs.h"'
    for key in "$@"; do echo "extern const mr_cpu_program mr_program_$key;"; done
    echo 'const mr_cpu_program *const mr_programs[] = {'
    for key in "$@"; do echo "    &mr_program_$key,"; done
    echo '    0 };'
}

# make_variant FOLDER NAME KEY...
make_variant() {
    local folder=$1 name=$2 more objects=$1/$2 key files=()
    shift 2
    read -ra more <<<"${variants[$name]}"
    mkdir -p "$objects"
    for key; do files+=("$objects/$key.o"); done
    for key; do [ -e "$objects/$key.o" ] || echo "$key"; done | xargs -P "$(nproc)" -I {} \
        "$MARE_PROGRAMS_CC" -O3 "${flags[@]}" "${more[@]}" -c "$folder/texts/{}.c" \
        -o "$objects/{}.o"
    write_list "$@" >"$objects/list.c"
    "$MARE_PROGRAMS_CC" -O3 -shared "${flags[@]}" "${more[@]}" "${files[@]}" \
        "$objects/list.c" "$here/find.c" "$here/run.c" -o "$folder/programs/$name.so" -lm -s \
        -Wl,--version-script="$here/shown.map"
}

make_all() {
    local folder=$1 name keys
    mkdir -p "$folder/texts" "$folder/programs"
    "$MARE_PROGRAMS_CC" -O1 -shared "${flags[@]}" "$here/compile.c" -o "$folder/compile.so" -ldl
    export MARE_PROGRAMS_FOLDER=$folder/texts MARE_PROGRAMS=$folder/compile.so MARE_CACHE=off
    touch "$folder/began"
    find_programs
    mapfile -t keys < <(find "$folder/texts" -name '*.used' -newer "$folder/began" \
        -printf '%f\n' | sed 's/\.used$//' | sort)
    for name in "${!variants[@]}"; do make_variant "$folder" "$name" "${keys[@]}"; done
    echo "${#keys[@]} programs; $(du -ch "$folder"/programs/*.so | tail -n 1)" >&2
}

case ${1-} in
    one) make_one "$2" "$3" "$4" ;;
    run) run_scenario "$2" ;;
    all)
        MARE_PROGRAMS_MARE=$(realpath "$2")
        export MARE_PROGRAMS_MARE MARE_PROGRAMS_CC=$4 MARE_PROGRAMS_MAKE=$here/make.sh
        mkdir -p "$3"
        make_all "$(cd "$3" && pwd)" ;;
    *) sed -n '2,/^set/ { /^#/ s/^# \?//p }' "$0" >&2; exit 2 ;;
esac
