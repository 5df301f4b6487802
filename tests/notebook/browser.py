"""JupyterLab in Chromium: a notebook's run of Kelvin-Helmholtz shows a bar and a picture, a slider
is moved while a cell runs, which Lab's button stops; where MARE_TESTS is long, which costs 5 s of
processor time more, slider and session are there after the page is loaded anew.

    browser.py MARE [PICTURE.png]       # a screenshot is left there

It wants jupyterlab, ipywidgets and selenium in this Python, chromium and chromedriver in the path.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from notebooks import colours

PATIENCE = 60
CELLS = (
    "sim = mare.simulation 'kelvin_helmholtz' { nx = 128, ny = 128 }\n"
    "sim:run { t_end = 2, show = 'rho' }",
    "s = notebook.slider { label = 'cfl', least = 0, greatest = 0.5, value = 0.1 }",
    "repeat until s.value > 0.3\nreturn 'moved to ' .. s.value",
    "while true do end",
    "'still here: ' .. s.value")


def notebook():
    cells = [{'cell_type': 'code', 'id': 'cell-%d' % k, 'metadata': {}, 'source': source,
              'execution_count': None, 'outputs': []} for k, source in enumerate(CELLS)]
    kernel = {'name': 'mare', 'display_name': 'Mare (Lua)', 'language': 'lua'}
    return {'cells': cells, 'metadata': {'kernelspec': kernel}, 'nbformat': 4, 'nbformat_minor': 5}


class Lab:
    """A server with the notebook, and a browser on it."""

    def __init__(self, folder):
        self.page = None
        with open(os.path.join(folder, 'kh.ipynb'), 'w') as file:
            json.dump(notebook(), file)
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        self.log = open(os.path.join(folder, 'lab.log'), 'w')
        self.server = subprocess.Popen(
            [sys.executable, '-m', 'jupyterlab', '--no-browser', '--allow-root',
             '--ServerApp.root_dir=' + folder, '--ServerApp.port=%d' % self.port,
             '--IdentityProvider.token=', '--LabApp.expose_app_in_browser=True',
             '--ServerApp.jpserver_extensions=' + repr(dict.fromkeys(
                 ('jupyter_lsp', 'jupyter_server_terminals', 'notebook_shim'), False)),
             '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate'],
            stdout=self.log, stderr=self.log)
        try:
            self.wait(self.answers, 'the server')
            self.start_browser(folder)
        except BaseException:
            self.end()
            raise

    def start_browser(self, folder):
        options = webdriver.ChromeOptions()
        for word in ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu',
                     '--window-size=1000,1300', '--user-data-dir=' + os.path.join(folder, 'user')):
            options.add_argument(word)
        options.binary_location = shutil.which('chromium')
        service = webdriver.ChromeService(shutil.which('chromedriver'))
        self.page = webdriver.Chrome(options=options, service=service)

    def answers(self):
        try:
            urllib.request.urlopen('http://127.0.0.1:%d/api' % self.port, timeout=5).close()
            return True
        except OSError:
            return False

    def end(self):
        if self.page:
            self.page.quit()
        self.server.terminate()
        self.server.wait()
        self.log.close()

    @staticmethod
    def wait(holds, what):
        ends = time.time() + PATIENCE
        while time.time() < ends:
            found = holds()
            if found:
                return found
            time.sleep(0.1)
        raise TimeoutError('%s did not come' % what)

    def script(self, text, *values):
        return self.page.execute_script(text, *values)

    def open(self):
        self.page.get('http://127.0.0.1:%d/lab/tree/kh.ipynb?reset' % self.port)
        self.wait(lambda: self.script(
            # currentWidget is none where the browser gives the page no focus
            "const w = [...window.jupyterapp?.shell.widgets('main') ?? []][0];"
            "return w?.sessionContext?.session?.kernel?.status == 'idle'"
            " && document.querySelectorAll('.jp-CodeCell').length == %d" % len(CELLS)),
            'the notebook')

    def follow_bars(self):
        """From now on keeps the values that bars have had, by and by."""
        self.script(
            "window.bars = [];"
            "new MutationObserver(() => document.querySelectorAll('progress').forEach(each => {"
            "    if (each.value != window.bars.at(-1)) window.bars.push(each.value) }))"
            ".observe(document.body, { subtree: true, childList: true, attributes: true })")

    def run(self, cell):
        """Begins to run a cell."""
        self.command('notebook:move-cursor-up', len(CELLS))
        self.command('notebook:move-cursor-down', cell)
        self.command('notebook:run-cell')

    def command(self, name, times=1):
        for _ in range(times):
            self.script('window.jupyterapp.commands.execute(arguments[0]); return 0', name)

    def values(self, cell, what, name):
        """A property of all elements of a kind in the output of a cell."""
        return self.script(
            "const cell = document.querySelectorAll('.jp-Notebook .jp-CodeCell')[arguments[0]];"
            "const found = cell?.querySelectorAll('.jp-OutputArea-output ' + arguments[1]) ?? [];"
            "return Array.from(found).map(each => each[arguments[2]])", cell, what, name)

    def element(self, cell, what):
        return self.page.find_elements(By.CSS_SELECTOR, '.jp-Notebook .jp-CodeCell')[
            cell].find_element(By.CSS_SELECTOR, '.jp-OutputArea-output ' + what)

    def text(self, cell):
        return ' '.join(self.values(cell, '*', 'textContent'))


def check_run(lab):
    lab.follow_bars()
    lab.run(0)
    lab.wait(lambda: lab.script('return window.bars.at(-1)') == 100, 'the bar, to its end')
    seen = lab.script('return window.bars')
    assert seen == sorted(seen) and len(seen) > 1, seen
    lab.wait(lambda: lab.values(0, 'img', 'naturalWidth'), 'a picture')
    widths = lab.values(0, 'img', 'naturalWidth')
    assert len(widths) == 1 and widths[0] > 100, 'the frames follow each other in one place'
    width, height, means = colours(lab.element(0, 'img').screenshot_as_png)
    spread = max(max(one[c] for one in means) - min(one[c] for one in means) for c in range(3))
    assert spread > 60, means
    print('the bar was seen at %s; a picture of %d x %d'
          % (', '.join('%.0f' % v for v in seen), width, height))


def check_slider(lab):
    lab.run(1)
    lab.wait(lambda: lab.values(1, '.noUi-handle', 'tagName'), 'a slider')
    lab.run(2)
    time.sleep(0.5)
    lab.element(1, '.noUi-handle').send_keys(*[Keys.ARROW_RIGHT] * 45)
    lab.wait(lambda: 'moved to 0.3' in lab.text(2), 'what the cell says of the slider')
    print('the slider was moved while a cell ran')


def check_stop(lab):
    lab.run(3)
    time.sleep(1)
    lab.command('notebook:interrupt-kernel')
    lab.wait(lambda: 'interrupted' in lab.text(3), 'the end of an endless cell')


def check_reload(lab):
    lab.command('docmanager:save')
    time.sleep(1)
    lab.open()
    lab.wait(lambda: lab.values(1, '.noUi-handle', 'tagName'), 'the slider, after a reload')
    lab.run(4)
    lab.wait(lambda: 'still here: 0.3' in lab.text(4), 'the session, after a reload')
    print('after a reload the slider and the session are there')


def main(mare, picture):
    checks = [check_run, check_slider, check_stop]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ['JUPYTER_DATA_DIR'] = os.path.join(folder, 'data')
        os.environ['HOME'] = os.environ['JUPYTER_CONFIG_DIR'] = folder
        os.environ.setdefault('MARE_HISTORY', 'off')
        subprocess.run([mare, 'jupyter', 'install'], check=True, stdout=subprocess.DEVNULL)
        lab = Lab(folder)
        try:
            lab.open()
            for check in checks:
                check(lab)
            lab.page.save_screenshot(picture)
            if os.environ.get('MARE_TESTS') == 'long':
                checks.append(check_reload)
                check_reload(lab)
        except BaseException:
            lab.page.save_screenshot(picture)
            print('the page as it was: %s' % picture)
            raise
        finally:
            lab.end()
    assert os.path.getsize(picture) > 20000
    print('a screenshot: %s\n%d passed, 0 failed, 0 skipped' % (picture, len(checks)))


if __name__ == '__main__':
    main(os.path.abspath(sys.argv[1]), os.path.abspath((sys.argv + ['jupyterlab.png'])[2]))
