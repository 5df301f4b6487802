"""wheel.py BUILD: makes BUILD/wheel/mare-*.whl of BUILD/bundle. It holds the package, Mare's Lua,
and the libraries for scripts and pictures; NetCDF and drivers stay the machine's. Each library is
a file of its own; the notices are in the dist-info."""

import base64
import glob
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOTS = ('libmare_engine.so.*', 'libcairo.so.2', 'libfreetype.so.6', 'libgif.so.7',
         'libmpfr.so.6')
# What may go into a wheel: libraries whose licences are of the kinds of MIT, BSD or zlib, or, as
# those of cairo, GMP and MPFR, the LGPL. One that is not here is looked at before it is added.
KNOWN = re.compile(r'^lib(mare|mare_engine|cairo|freetype|gif|mpfr|gmp|fontconfig|pixman-1|png16|'
                   r'expat|z|bz2|brotlicommon|brotlidec|bsd|md|X11|Xau|Xdmcp|Xext|Xrender|xcb|'
                   r'xcb-render|xcb-shm)\.so\.')
OF_MACHINES = ('libgcc_s.so.1',)       # every one that runs a wheel has it
LEFT_OUT = re.compile(r'^(tests|bindings/(package|examples|python)|scenarios/(run|.*\.sh)$)')
SUMMARY = 'Simulations, arrays and kernels on GPUs and processors, in Lua and from Python'
METADATA = '''Metadata-Version: 2.4
Name: mare
Version: %s
Summary: %s
License-Expression: MIT
%sRequires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

'''
WHEEL = '''Wheel-Version: 1.0
Generator: mare
Root-Is-Purelib: false
Tag: py3-none-%s
'''


def needed(path):
    text = subprocess.run(['readelf', '-d', path], capture_output=True, text=True, check=True)
    return re.findall(r'\(NEEDED\).*\[(.*)\]', text.stdout)


def libraries(bundle):
    """Paths of the libraries by name, with all that these need of the bundle."""
    found, left = {}, [os.path.basename(path) for root in ROOTS
                       for path in glob.glob(os.path.join(bundle, 'lib', root))]
    while left:
        name = left.pop()
        path = os.path.join(bundle, 'lib', name)
        if name in found or name in OF_MACHINES or not os.path.exists(path):
            continue
        if not KNOWN.match(name):
            sys.exit('wheel.py: %s is new here: if its licence is not the GPL, name it' % name)
        found[name] = path
        left += needed(path)
    return found


def notices(bundle, found):
    """The notices of the packages that the libraries come from, and of the Lua modules."""
    names = {'mare', 'luajit', 'lua-argparse', 'lua-dkjson', 'lua-filesystem',
             'fonts-dejavu-core'}
    there = {os.path.basename(path)[:-4]: path
             for path in sorted(glob.glob(os.path.join(bundle, 'share', 'doc', '*.txt')))}
    # One pattern for all, since each takes dpkg a tenth of a second.
    answer = subprocess.run(['dpkg', '-S', '*/lib*.so.*'], capture_output=True, text=True)
    owned = [line.split(': ') for line in answer.stdout.splitlines()]
    for name in found:
        owners = {owner.split(':')[0] for owner, path in owned if path.endswith('/' + name)}
        if not (owners & set(there) or name.startswith('libmare')):
            sys.exit('wheel.py: there is no notice of the licence of %s' % name)
        names |= owners
    return [there[name] for name in sorted(names & set(there))]


def glibc():
    """The tag of the platform: that of the C library here, since libraries come from here."""
    version = platform.libc_ver()[1].split('.')
    return 'manylinux_%s_%s_%s' % (version[0], version[1], platform.machine())


def add_tree(files, folder, to):
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            inner = os.path.relpath(path, folder)
            if not LEFT_OUT.match(inner):
                files[to + inner] = path


def collect(build, info):
    bundle, files = os.path.join(build, 'bundle'), {}
    found = libraries(bundle)
    add_tree(files, os.path.join(bundle, 'share', 'mare'), 'mare/share/mare/')
    for name, path in found.items():
        files['mare/lib/' + name] = path
    for path in glob.glob(os.path.join(HERE, 'mare', '*')):
        if os.path.isfile(path):
            files['mare/' + os.path.basename(path)] = path
    for path in notices(bundle, found):
        files[info + 'licenses/' + os.path.basename(path)] = path
    return files


def write(path, info, version, tag, files):
    record = []

    def add(name, data, mode=0o644):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        record.append('%s,sha256=%s,%d' % (name, digest, len(data)))
        entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
        out.writestr(entry, data)

    with open(os.path.join(HERE, 'README.md'), encoding='utf-8') as file:
        page = file.read()
    with zipfile.ZipFile(path, 'w') as out:
        for name in sorted(files):
            with open(files[name], 'rb') as file:
                add(name, file.read(), 0o755 if '.so' in name else 0o644)
        told = ''.join('License-File: %s\n' % os.path.basename(name) for name in sorted(files)
                       if name.startswith(info + 'licenses/'))
        add(info + 'METADATA', (METADATA % (version, SUMMARY, told) + page).encode())
        add(info + 'WHEEL', (WHEEL % tag).encode())
        record.append(info + 'RECORD,,')
        out.writestr(info + 'RECORD', '\n'.join(record) + '\n')


def main(build):
    answer = subprocess.run([os.path.join(build, 'mare'), '--version'], capture_output=True,
                            text=True, check=True)
    version = re.search(r'\d+\.\d+\.\d+', answer.stdout).group()
    info, tag = 'mare-%s.dist-info/' % version, glibc()
    os.makedirs(os.path.join(build, 'wheel'), exist_ok=True)
    path = os.path.join(build, 'wheel', 'mare-%s-py3-none-%s.whl' % (version, tag))
    write(path, info, version, tag, collect(build, info))
    print('%s: %.1f MB' % (path, os.path.getsize(path) / 1e6))


if __name__ == '__main__':
    main(os.path.abspath(sys.argv[1]))
