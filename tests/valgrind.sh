#!/usr/bin/env bash
# valgrind.sh PROGRAM...: runs it under valgrind, which fails it for a bad access or a leak that is
# not a vendor's (vendor_valgrind.txt). Skipped (77) where valgrind is missing.
command -v valgrind >/dev/null || { echo "skipped: no valgrind"; exit 77; }
exec valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --suppressions="$(dirname "$0")/vendor_valgrind.txt" "$@"
