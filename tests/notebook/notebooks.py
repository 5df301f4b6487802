"""Runs the notebooks in scenarios/notebooks by nbclient, and compares their pictures with recorded
ones: notebooks.py MARE [--record]. One is drawn by MARE_TEST_SEED; MARE_TESTS=long and --record
take all. What is recorded are the mean colours of 6 x 4 fields of each picture (pictures.json);
pictures that show measured times are only counted."""

import base64
import glob
import json
import os
import random
import struct
import sys
import tempfile
import zlib

import nbformat
from nbclient import NotebookClient

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, 'pictures.json')
TOLERANCE = 6       # of 255: other devices and versions of cairo draw a little differently
MEASURED = {'blocks', 'transforms'}


def unfiltered(data, width, height, channels):
    """Rows of the bytes of a picture, after PNG's filters."""
    stride, rows, above = width * channels, [], bytearray(width * channels)
    for k in range(height):
        start = k * (stride + 1)
        kind, row = data[start], bytearray(data[start + 1:start + 1 + stride])
        for i in range(stride):
            left = row[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + above[i]) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + above[i]) // 2) & 255
            elif kind == 4:
                guess = left + above[i] - corner
                best = min((left, above[i], corner), key=lambda v: abs(guess - v))
                row[i] = (row[i] + best) & 255
        rows.append(row)
        above = row
    return rows


def colours(png):
    """[width, height, mean colours of 6 x 4 fields]"""
    at, packed = 8, b''
    while at < len(png):
        length, kind = struct.unpack('>I4s', png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b'IHDR':
            width, height, _, colour = struct.unpack('>IIBB', body[:10])
        elif kind == b'IDAT':
            packed += body
        at += 12 + length
    channels = {2: 3, 6: 4}[colour]
    rows = unfiltered(zlib.decompress(packed), width, height, channels)
    means = []
    for y in range(4):
        for x in range(6):
            columns = range(x * width // 6, (x + 1) * width // 6)
            lines = rows[y * height // 4:(y + 1) * height // 4]
            count = len(columns) * len(lines)
            means.append([round(sum(line[i * channels + c] for line in lines for i in columns)
                                / count) for c in range(3)])
    return [width, height, means]


def run(path):
    """Pictures of a notebook, in their order; an error in a cell is one here."""
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=300, kernel_name='mare').execute()
    return [base64.b64decode(output['data']['image/png'])
            for cell in notebook.cells if cell.cell_type == 'code'
            for output in cell.outputs if 'image/png' in output.get('data', {})]


def differ(found, wanted):
    if found[:2] != wanted[:2]:
        return 'has %d x %d pixels, not %d x %d' % (*found[:2], *wanted[:2])
    most = max(abs(a - b) for one, other in zip(found[2], wanted[2]) for a, b in zip(one, other))
    return 'differs by %d of 255' % most if most > TOLERANCE else None


def as_text(recorded):
    """JSON with a row of fields in a line."""
    pictures = []
    for name in sorted(recorded):
        lists = []
        for width, height, means in recorded[name]:
            rows = [', '.join(map(str, means[k:k + 6])) for k in range(0, len(means), 6)]
            lists.append('[%d, %d, [\n%s]]' % (width, height, ',\n'.join(rows)))
        pictures.append('"%s": [\n%s]' % (name, ',\n'.join(lists)))
    return '{\n%s\n}\n' % ',\n'.join(pictures)


def main(mare, is_recording):
    os.environ.setdefault('MARE_HISTORY', 'off')
    if os.system('"%s" jupyter install >/dev/null' % mare):
        return 1
    with open(RECORDED) as file:
        recorded = json.load(file)
    failed = passed = 0
    paths = sorted(glob.glob(os.path.join(HERE, '../../scenarios/notebooks/*.ipynb')))
    if not is_recording and os.environ.get('MARE_TESTS') != 'long':
        paths = random.Random(int(os.environ.get('MARE_TEST_SEED', 1))).sample(paths, 1)
    for path in paths:
        name = os.path.basename(path)[:-6]
        found, problem = [colours(png) for png in run(path)], None
        if name in MEASURED:
            found = [picture[:2] + [[]] for picture in found]
        if is_recording:
            recorded[name] = found
        elif len(found) != len(recorded[name]):
            problem = '%d pictures, not %d' % (len(found), len(recorded[name]))
        for k, (one, wanted) in enumerate(zip(found, recorded[name])):
            if one[2]:
                problem = problem or differ(one, wanted) and 'picture %d %s' % (
                    k + 1, differ(one, wanted))
        print('%s: %s' % (name, problem or 'as recorded'))
        failed, passed = failed + bool(problem), passed + (not problem)
    if is_recording:
        with open(RECORDED, 'w') as file:
            file.write(as_text(recorded))
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return int(failed > 0)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        os.environ['JUPYTER_DATA_DIR'] = folder
        sys.exit(main(os.path.abspath(sys.argv[1]), '--record' in sys.argv))
