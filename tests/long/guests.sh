#!/usr/bin/env bash
# guests.sh BUILD: every program of tests/guests with its plugin, two copies of the engine, each
# with a scenario, and Python, under valgrind. Some minutes of processor time.
set -uo pipefail

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
passed=0 failed=0

# try WHAT COMMAND...
try() {
    local what=$1 said
    shift
    if said=$("$here/valgrind.sh" "$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s:\n%s\n' "$what" "$said"
    fi
}

for program in "$build"/tests/guest_*_*; do
    name=${program##*/guest_}
    try "$name" "$program" "$build/tests/plugin_${name%_*}.so"
done
try loader "$build/tests/guest_loader" "$build/libmare_engine.so" "$build/tests/copy_of_engine.so"
PYTHONMALLOC=malloc try python "$(command -v /usr/bin/python3)" \
    "$here/../bindings/examples/step.py" "$build/libmare_engine.so"
echo "$passed passed, $failed failed, 0 skipped"
exit $((failed > 0))
