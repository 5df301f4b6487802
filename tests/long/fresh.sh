#!/usr/bin/env bash
# fresh.sh SUITE FOLDER [PART...]: Mare on a system that has nothing yet: debootstrap puts SUITE
# (bookworm, trixie, noble) into FOLDER, unless it is there, and each part is timed in it, without
# /sys but for `suite`, the tree in a folder with a space in its name. Parts, all but `suite` if
# none is named:
#
#   run      scenarios/run, and again without a network
#   user     the same by a user who cannot write to the tree
#   bundle   BUNDLE (build/bundle) on a system without any driver: the device cpu
#   deb      the packages in DEBS (build/deb/*.deb), with what they need, and C against them
#   suite    tests/run, with the options of ctest in SUITE, as '-L quick'
#
# By hand, as root, with a network: some minutes a part.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
suite=$1
mkdir -p "$2"
root=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- bundle deb run user
tree="/opt/mare tree"

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive PIP_CERT=/etc/ssl/certs/ca-certificates.crt "$@"
}
by_user() { inside setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/srv/guest "$@"; }
offline() { unshare -n chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
finish() { umount "$root/sys" "$root/dev/pts" "$root/proc" 2>/dev/null || true; }
trap finish EXIT

# timed WHAT COMMAND...: one line for the note.
timed() {
    local what=$1 begin=$SECONDS status=0
    shift
    "$@" >"$root/log" 2>&1 || status=$?
    printf '%s, %s: %s, %d s\n' "$suite" "$what" \
        "$([ $status = 0 ] && echo passed || echo "FAILED ($status)")" $((SECONDS - begin))
    [ $status = 0 ] || tail -n 5 "$root/log"
}

open_system() {
    local mirror=http://deb.debian.org/debian more=()
    if [ "$suite" = noble ]; then       # Debian does not have Ubuntu's keys
        mirror=http://archive.ubuntu.com/ubuntu more=(--no-check-gpg)
        ln -sf gutsy /usr/share/debootstrap/scripts/noble
    fi
    [ -x "$root/bin/sh" ] || debootstrap "${more[@]}" --variant=minbase "$suite" "$root" "$mirror"
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    cp /etc/resolv.conf "$root/etc/"
    [ -e "$root/etc/hosts" ] || echo '127.0.0.1 localhost' >"$root/etc/hosts"  # not in bookworm
    if [ "$suite" = noble ]; then
        echo "deb $mirror noble main universe" >"$root/etc/apt/sources.list"
    fi
    mkdir -p "$root/etc/dpkg/dpkg.cfg.d" "$root/usr/local/share/ca-certificates"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fresh"
    # What this machine trusts, for pip.
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates" || true
    inside sh -c '! command -v update-ca-certificates || update-ca-certificates'
    mkdir -p "$root$tree" "$root/srv/guest"
    chown 1000:1000 "$root/srv/guest"
    find "$root$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    git -C "$here" archive HEAD | tar -C "$root$tree" -xf -
}

small=(kelvin_helmholtz --nx 128 --ny 64 --t-end 0.05 --image /tmp/kh.png)

run_part() {
    timed 'scenarios/run' inside "$tree/scenarios/run" "${small[@]}"
    timed 'again, offline' offline "$tree/scenarios/run" "${small[@]}"
}

user_part() {
    rm -rf "$root$tree/build" "$root/tmp/kh.png"
    chmod -R go-w "$root$tree"
    timed 'by a user, read-only' by_user "$tree/scenarios/run" "${small[@]}"
}

bundle_part() {
    cp -R "${BUNDLE:-$here/build/bundle}" "$root/opt/mare bundle"
    timed 'bundle' by_user "/opt/mare bundle/bin/mare" "${small[@]}"
    inside "/opt/mare bundle/bin/mare" doctor | grep -A2 '^Devices' || true
}

# shellcheck disable=SC2016  # the shell in there expands them
deb_part() {
    local install='apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends'
    cp "${DEBS:-$here/build/deb}"/*.deb "$root/tmp/"
    inside apt-get -qq update
    inside dpkg-query -f '.\n' -W | wc -l >"$root/before"
    timed 'packages' inside sh -c "$install /tmp/*.deb"
    echo "$suite, packages: $(($(inside dpkg-query -f '.\n' -W | wc -l) - $(cat "$root/before")))" \
        "in all"
    timed 'packages, a scenario' inside mare "${small[@]}" --image none
    timed 'packages, C' inside sh -ec "$install gcc libc6-dev pkg-config
        cc /usr/share/doc/mare/examples/begin.c -o /tmp/begin \
            \$(pkg-config --cflags --libs mare_engine) && /tmp/begin"
    timed 'packages, removed' inside sh -ec "apt-get -qq -y remove mare 'libmare*' mare-common
        ! ls /usr/bin/mare /usr/lib/*/libmare* /usr/share/mare 2>/dev/null"
}

# With what tests want of a system: pseudo-terminals, and processors that launchers of MPI find.
suite_part() {
    local options
    mountpoint -q "$root/dev/pts" ||
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    ln -sf pts/ptmx "$root/dev/ptmx"
    mountpoint -q "$root/sys" || mount -t sysfs sysfs "$root/sys"
    read -ra options <<<"${SUITE-}"
    timed "tests/run ${SUITE-}" inside "$tree/tests/run" "${options[@]}"
    tail -n 1 "$root/log"
}

open_system >"$root/log" 2>&1
for part; do "${part}_part"; done
