# shellcheck shell=bash
# Sourced by scenarios/run and tests/run: installs what is missing and builds Mare into build/.
# This is the one list of packages. A package counts as missing when its probe fails, so that a
# compiler or a library that came by other means is left alone; nothing missing needs no network.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$PATH:/usr/sbin:/sbin      # ldconfig, for users other than root
missing=()

has() { command -v "$1"; }
has_header() { echo "#include <$1>" | cc -E -; }
has_library() { ldconfig -p | grep "/lib$1\.so"; }
has_module() { luajit -e "require '$1'"; }
has_python() { python3 -c "import $1" || /usr/bin/python3 -c "import $1"; }
has_file() { compgen -G "$1"; }

# need PACKAGE PROBE...
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || [[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
}

need_for_running() {
    need cmake has cmake
    need ninja-build has ninja
    need gcc has cc
    need libc6-dev has_header stdio.h
    need pkg-config has pkg-config
    need luajit has luajit
    need lua-argparse has_module argparse
    need lua-dkjson has_module dkjson
    need netcdf-bin has_library netcdf      # its run-time library has another name in each release
    need libcairo2 has_library cairo
    need libgif7 has_library gif
    need libedit2 has_library edit
    need libmpfr6 has_library mpfr
    need fonts-dejavu-core has_file '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'
    need ocl-icd-libopencl1 has_library OpenCL
    # A processor is a device too, for machines without a GPU.
    need pocl-opencl-icd has_file '/etc/OpenCL/vendors/*.icd'
}

need_for_testing() {
    need_for_running
    need pocl-opencl-icd has_file '/etc/OpenCL/vendors/pocl*.icd'
    need opencl-headers has_header CL/cl.h
    need libopenblas0 has_library openblas
    need libzmq5 has_library zmq
    need libsodium23 has_library sodium
    need lua-busted has_module busted
    need lua-filesystem has_module lfs
    # Programs with a Lua of their own that embed Mare.
    need liblua5.1-0-dev has_header lua5.1/lua.h
    need liblua5.2-dev has_header lua5.2/lua.h
    need liblua5.3-dev has_header lua5.3/lua.h
    need liblua5.4-dev has_header lua5.4/lua.h
    need libluajit-5.1-dev has_header luajit-2.1/luajit.h
    need lua-check has luacheck
    need shellcheck has shellcheck
    need abigail-tools has abidiff
    need xz-utils has xz
    need g++ has c++
    need valgrind has valgrind
    # Programs that read what runs write; python3-venv is for the CF checker and Jupyter.
    need netcdf-bin has ncdump
    need cdo has cdo
    need python3-xarray has_python xarray
    need python3-netcdf4 has_python netCDF4
    need python3-venv has_python ensurepip
    need tmux has tmux
    # JupyterLab in a browser; Ubuntu has Chromium as a snap alone.
    if grep -qsx 'ID=debian' /etc/os-release; then
        need chromium has chromium
        need chromium-driver has chromedriver
    fi
    # MPI of two families, each with its launcher, which brings its library.
    need openmpi-bin has mpirun.openmpi
    need mpich has mpirun.mpich
    # Tests start more ranks than there are cores, and run as root in containers.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_missing() {
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "Installing ${missing[*]}" >&2
    if ! has apt-get >/dev/null || { [ "$(id -u)" != 0 ] && ! has sudo >/dev/null; }; then
        echo "This needs apt-get and root or sudo; or install these by other means." >&2
        return 1
    fi
    local get=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold)     # asks nothing
    as_root "${get[@]}" update >/dev/null 2>&1 || true     # lists may be old and good enough
    one_line "apt-get cannot install them" \
        as_root "${get[@]}" install -y --no-install-recommends "${missing[@]}"
}

# one_line WHAT COMMAND...: runs a command that fetches; where it fails, says so in one line.
one_line() {
    local what=$1 said
    shift
    said=$("$@" 2>&1 </dev/null) && return
    echo "$what; is there a network? $(grep -m 1 -iE '^E:|error|fail' <<<"$said" || true)" >&2
    return 1
}

# Where to build: in the tree, or where that cannot be written to in the cache of this user, by the
# path of the tree.
build_folder() {
    local made=$root
    [ ! -e "$root/build" ] || made=$root/build
    if [ -w "$made" ]; then
        echo "$root/build"
        return
    fi
    made=${XDG_CACHE_HOME:-$HOME/.cache}/mare/build-$(cksum <<<"$root" | cut -d ' ' -f 1)
    mkdir -p "$made"
    echo "$made"
}

# build FOLDER [CMAKE OPTION...]; from scratch when headers or libraries have come, or when the
# folder came here with a copy of another tree
build() {
    local folder=$1
    shift
    if [ -f "$folder/CMakeCache.txt" ] &&
        ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
        echo "$folder was built for another tree: building anew" >&2
        rm -rf "$folder"
    fi
    if [ ! -f "$folder/build.ninja" ] || [ ${#missing[@]} -gt 0 ]; then
        echo 'building Mare, once, in a minute or two' >&2
        cmake --log-level=NOTICE -S "$root" -B "$folder" -G Ninja "$@" >&2
    fi
    cmake --build "$folder" ${missing[0]:+--clean-first} -- --quiet >&2
}
