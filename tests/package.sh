#!/usr/bin/env bash
# package.sh BUILD [FOLDER]: makes the Debian package and tries it on a fresh system, a chroot that
# debootstrap puts into FOLDER (which is kept) or a temporary one: apt installs it with what it
# needs, `mare` runs a scenario by its name, and a C program builds with pkg-config alone. By hand,
# as root, with a network: some minutes.
set -euo pipefail

build=$(cd "$1" && pwd)
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=${MIRROR:-http://deb.debian.org/debian}
if [ -n "${2-}" ]; then
    mkdir -p "$2"
    root=$(cd "$2" && pwd)
else
    root=$(mktemp -d)
fi
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"; }
finish() {
    umount "$root/proc" 2>/dev/null || true
    [ -n "${kept-}" ] || rm -rf "$root"
}
kept=${2-}
trap finish EXIT

(cd "$build" && rm -f ./*.deb && cpack -G DEB >/dev/null)
package=$(echo "$build"/mare_*.deb)
ls -l "$package"
dpkg-deb --field "$package" Depends

[ -x "$root/bin/sh" ] || debootstrap --variant=minbase "$release" "$root" "$mirror" >/dev/null
mount -t proc proc "$root/proc" 2>/dev/null || true
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
cp "$package" "$root/mare.deb"
inside apt-get -qq update
inside apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends /mare.deb \
    ocl-icd-libopencl1 pocl-opencl-icd >/dev/null
# PoCL wants to know the machine, which /sys would tell.
machine="HWLOC_SYNTHETIC=numa:1(memory=4294967296) pu:2"
inside env "$machine" sh -ec 'cd /tmp && mare --version &&
    mare kelvin_helmholtz --nx 64 --ny 32 --steps 20 --image kh.png && ls -l kh.png &&
    dpkg -L mare | grep -c .'
inside apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends gcc libc6-dev pkg-config \
    luajit >/dev/null
# shellcheck disable=SC2016  # the shell in there expands it
inside env "$machine" sh -ec 'cd /tmp && examples=/usr/share/doc/mare/examples
    cc -std=c99 $examples/step.c $(pkg-config --cflags --libs mare_engine) -o step && ./step
    cc -std=c99 $examples/saxpy.c $(pkg-config --cflags --libs mare) -o saxpy && ./saxpy
    luajit -e "print(require(\"mare\").version)"'
inside apt-get -qq -y remove mare >/dev/null
inside sh -c '! ls /usr/lib/libmare* /usr/bin/mare /usr/share/mare 2>/dev/null'
echo "package.sh: passed"
