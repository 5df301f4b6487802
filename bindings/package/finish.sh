#!/usr/bin/env bash
# finish.sh FOLDER: takes out of the Debian packages in FOLDER the scripts by which CPack calls
# ldconfig, for which they have a trigger.
set -euo pipefail

for package in "$1"/libmare*.deb; do
    place=$(mktemp -d)
    dpkg-deb -R "$package" "$place/all"
    rm -f "$place"/all/DEBIAN/{postinst,postrm}
    dpkg-deb --root-owner-group -b "$place/all" "$package" >/dev/null
    rm -r "$place"
done
