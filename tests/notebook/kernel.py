"""Jupyter's own tests of kernels on Mare's, and what they leave out: one session of cells, with
interrupts, input, queues and messages of strangers. Run by tests/notebook/run with the folder of
the build."""

import json
import os
import random
import re
import signal
import sys
import tempfile
import time
import unittest

import jupyter_kernel_test as jkt
import zmq
from jupyter_client.manager import KernelManager, start_new_kernel

PATIENCE = 120      # seconds, which only a hang takes
MESSAGES = 10000 if os.environ.get('MARE_TESTS') == 'long' else 500     # of strangers
SEED = int(os.environ.get('MARE_TEST_SEED', 26))


class Conformance(jkt.KernelTests):
    kernel_name = 'mare'
    language_name = 'lua'
    file_extension = '.lua'
    code_hello_world = "print 'hello, world'"
    code_stderr = "io.stderr:write 'oops'"
    completion_samples = [
        {'text': 'mare.gri', 'matches': ['gri' + 'd', 'gridded']},
        {'text': 'string.rep', 'matches': ['rep']},
        {'text': '-- don\'t\nmath.sqr', 'matches': ['sqrt']},
    ]
    complete_code_samples = ['1 + 1', 'x = 3\nx', 'for k = 1, 2 do print(k) end', '']
    incomplete_code_samples = ['for k = 1, 2 do', 'f(', 's = [[', 'function f()']
    invalid_code_samples = ['x = = 2', 'end', '1 1']
    code_page_something = 'mare.grid?'
    code_generate_error = "error 'no'"
    code_execute_result = [
        {'code': '6 * 7', 'result': '42'},
        {'code': "t = 'a'\nt .. 'b'", 'result': '"ab"'},
        {'code': '{ { a = 1 }, { a = 2 } }', 'mime': 'text/html'},
    ]
    code_display_data = [
        {'code': 'mare.plot { 1, 3, 2 }', 'mime': 'image/png'},
        {'code': 'mare.plot { 1, 3, 2 }', 'mime': 'image/svg+xml'},
        {'code': "notebook.display 'here'", 'mime': 'text/plain'},
    ]
    code_history_pattern = '6 [*] ?'
    supported_history_operations = ('tail', 'range', 'search')
    code_inspect_sample = 'mare.grid'
    code_clear_output = 'notebook.clear()'


    def test_every_attribute_is_set(self):
        """One that is not set passes in silence."""
        for name, value in vars(jkt.KernelTests).items():
            if not name.startswith('_') and isinstance(value, (str, list, tuple)):
                self.assertNotEqual(value, getattr(self, name), name)


class Welcome(jkt.IopubWelcomeTests):
    kernel_name = 'mare'
    support_iopub_welcome = True


class Client(unittest.TestCase):
    """A kernel `km` and a client `kc` of it."""

    def end(self):
        self.kc.stop_channels()
        self.km.shutdown_kernel()

    def messages(self, request):
        """What is published of a request, up to the state idle."""
        found = []
        while True:
            message = self.kc.get_iopub_msg(timeout=PATIENCE)
            if message['parent_header'].get('msg_id') != request:
                continue
            if message['content'].get('execution_state') == 'idle':
                return found
            if message['msg_type'] not in ('status', 'execute_input'):
                found.append(message)

    def reply(self, request):
        while True:
            message = self.kc.get_shell_msg(timeout=PATIENCE)
            if message['parent_header'].get('msg_id') == request:
                return message['content']

    def run_cell(self, code, **how):
        request = self.kc.execute(code, **how)
        return self.reply(request), self.messages(request)

    def value(self, code):
        reply, messages = self.run_cell(code)
        self.assertEqual('ok', reply['status'], reply)
        return messages[-1]['content']['data']['text/plain']

    def printed(self, messages, name='stdout'):
        return ''.join(m['content']['text'] for m in messages
                       if m['msg_type'] == 'stream' and m['content']['name'] == name)

    def runs_kernels(self):
        return self.value('select(2, pcall(function() return mare.device.open().info.runs_kernels '
                          'end))') == 'true'

    def wait_for_interrupt(self):
        """Waits until the kernel has taken an interrupt."""
        while True:
            message = self.kc.get_iopub_msg(timeout=PATIENCE)
            if (message['parent_header'].get('msg_type') == 'interrupt_request'
                    and message['content'].get('execution_state') == 'idle'):
                return

    def wait_for(self, request, kind):
        while True:
            message = self.kc.get_iopub_msg(timeout=PATIENCE)
            if message['parent_header'].get('msg_id') == request and message['msg_type'] == kind:
                return


class Session(Client):
    @classmethod
    def setUpClass(cls):
        cls.km, cls.kc = start_new_kernel(kernel_name='mare')

    @classmethod
    def tearDownClass(cls):
        cls.end(cls)

    def interrupted(self, code):
        """Seconds from an interrupt of the cell to its reply."""
        request = self.kc.execute("print 'runs' " + code)
        self.wait_for(request, 'stream')
        time.sleep(0.3)
        began = time.time()
        self.km.interrupt_kernel()
        reply = self.reply(request)
        took = time.time() - began
        self.assertEqual(('error', 'interrupted'), (reply['status'], reply['ename']))
        self.assertEqual('2', self.value('1 + 1'))
        print('an interrupt of %s took %.2f s' % (code[:30], took))
        self.assertLess(took, PATIENCE / 2)

    def test_interrupts(self):
        self.interrupted('while true do end')
        self.interrupted('repeat local ok = pcall(function() while true do end end) until false')
        self.interrupted("notebook.ask 'never answered: '")
        if self.runs_kernels():
            self.run_cell("s = mare.simulation 'kelvin_helmholtz' { nx = 128, ny = 128 } s:step()")
            self.interrupted('s:run { t_end = 1e6 }')
            self.interrupted('s:run { t_end = 1e6, show = "rho" }')
            self.assertGreater(float(self.value('s:step(2).t')), 0)

    def test_interrupt_between_cells(self):
        for _ in range(12):
            self.km.interrupt_kernel()
        for _ in range(12):     # a cell may overtake them: they come by a channel of their own
            self.wait_for_interrupt()
        self.assertEqual('3', self.value('1 + 2'))

    def test_heartbeat_and_control_while_a_cell_runs(self):
        request = self.kc.execute("print 'runs' while not io.open(%r) do end" % self.flag())
        self.wait_for(request, 'stream')
        socket = zmq.Context.instance().socket(zmq.REQ)
        socket.connect('tcp://127.0.0.1:%d' % self.km.hb_port)
        socket.send(b'ping')
        self.assertTrue(socket.poll(1000 * PATIENCE))
        self.assertEqual(b'ping', socket.recv())
        socket.close(0)
        message = self.kc.session.msg('kernel_info_request', {})
        self.kc.control_channel.send(message)
        answer = self.kc.get_control_msg(timeout=PATIENCE)
        self.assertEqual('5.4', answer['content']['protocol_version'])
        open(self.flag(), 'w').close()
        self.assertEqual('ok', self.reply(request)['status'])

    def flag(self):
        return os.path.join(FOLDER, 'flag')

    def test_queue_is_dropped_after_an_error(self):
        requests = [self.kc.execute(code) for code in (
            'local t = os.clock() while os.clock() < t + 0.3 do end error "stop"', 'x = 1',
            'x = 2')]
        self.kc.complete('mare.')
        states = [self.reply(r)['status'] for r in requests]
        self.assertEqual(['error', 'aborted', 'aborted'], states)
        self.assertEqual('nil', self.value('x'))
        one = self.kc.execute('error "go on"', stop_on_error=False)
        two = self.kc.execute('x = 3')
        self.assertEqual(['error', 'ok'], [self.reply(r)['status'] for r in (one, two)])

    def test_input(self):
        request = self.kc.execute("notebook.ask('Name: ', true), io.read(), io.read '*n'")
        for answer in ('Zoë', 'line', ' 7 '):
            question = self.kc.get_stdin_msg(timeout=PATIENCE)
            self.kc.input(answer)
        self.assertFalse(question['content']['password'])
        self.assertEqual('ok', self.reply(request)['status'])
        self.assertEqual('"Zoë"\t"line"\t7',
                         self.messages(request)[-1]['content']['data']['text/plain'])
        reply, _ = self.run_cell('io.read()', allow_stdin=False)
        self.assertIn('input', reply['evalue'])

    def test_output_of_all_kinds(self):
        code = ("print 'one' os.execute 'echo two; echo bad >&2' notebook.display 'three' "
                "io.write 'ü\\255' local ffi = require 'ffi' ffi.cdef 'int puts(const char *);' "
                "ffi.C.puts 'of C'")
        reply, messages = self.run_cell(code)
        self.assertEqual('ok', reply['status'], reply)
        self.assertEqual('one\ntwo\nü\ufffdof C\n', self.printed(messages))
        self.assertEqual('bad\n', self.printed(messages, 'stderr'))
        at = [m['msg_type'] for m in messages].index('display_data')
        self.assertEqual('one\ntwo\n', self.printed(messages[:at]))
        _, messages = self.run_cell("for k = 1, 200000 do print(k, 'äöü') end")
        lines = self.printed(messages).splitlines()
        self.assertEqual((200000, '200000\täöü'), (len(lines), lines[-1]))

    def test_a_kernel_that_does_not_compile(self):
        if self.runs_kernels():
            reply, _ = self.run_cell("mare.watch 'MR_KERNEL void broken(int n) { n = oops; }'")
            self.assertEqual('error', reply['status'])
            self.assertIn('oops', '\n'.join(reply['traceback']))

    def test_cursors_count_characters(self):
        text = "s = '\U0001f30a äö' string.re"
        reply = self.reply(self.kc.complete(text))
        self.assertEqual((len(text) - 2, len(text)), (reply['cursor_start'], reply['cursor_end']))
        self.assertIn('rep', reply['matches'])
        reply = self.reply(self.kc.inspect("'\U0001f30a' mare.grid { nx = 3 }", 13))
        self.assertTrue(reply['found'])
        self.assertIn('uniform grid', reply['data']['text/plain'])
        self.assertFalse(self.reply(self.kc.inspect('no_such_name'))['found'])

    def test_expressions_silence_and_pictures(self):
        reply, _ = self.run_cell('y = 4', user_expressions={'a': 'y + 1', 'b': 'error "x"'})
        self.assertEqual('5', reply['user_expressions']['a']['data']['text/plain'])
        self.assertEqual('error', reply['user_expressions']['b']['status'])
        before = reply['execution_count']
        reply, messages = self.run_cell('6', silent=True)
        self.assertEqual((before, []), (reply['execution_count'], messages))
        _, messages = self.run_cell('mare.plot { 1, 2 }')
        self.assertEqual(['display_data'], [m['msg_type'] for m in messages])
        _, messages = self.run_cell("d = notebook.display(1, true) d:update(2)")
        first, second = [m['content'] for m in messages]
        self.assertEqual(first['transient'], second['transient'])
        self.assertEqual('2', second['data']['text/plain'])

    def test_progress_of_a_run(self):
        if not self.runs_kernels():
            return
        _, messages = self.run_cell("sim = mare.simulation 'kelvin_helmholtz' { nx = 128, "
                                    "ny = 128 } sim:run { t_end = 1.5, show = 'rho' }")
        pictures = [m for m in messages if 'image/png' in m['content'].get('data', {})]
        self.assertEqual('display_data', pictures[0]['msg_type'])
        self.assertEqual({'update_display_data'}, {m['msg_type'] for m in pictures[1:]})
        bars = [m['content']['data']['text/html'] for m in messages
                if '<progress' in m['content'].get('data', {}).get('text/html', '')]
        self.assertGreater(len(bars), 1)
        self.assertIn('value="100', bars[-1])

    def test_unknown_comms_are_closed(self):
        message = self.kc.session.msg('comm_open', {'comm_id': 'c', 'target_name': 'none',
                                                    'data': {}})
        self.kc.shell_channel.send(message)
        kinds = [m['msg_type'] for m in self.messages(message['header']['msg_id'])]
        self.assertEqual(['comm_close'], kinds)
        request = self.kc.comm_info()
        self.assertNotIn('c', self.reply(request)['comms'])

    def test_a_slider_moves_while_a_cell_runs(self):
        _, messages = self.run_cell("s = notebook.slider { label = 'cfl', greatest = 0.5 }")
        opened = [m for m in messages if m['msg_type'] == 'comm_open']
        self.assertEqual('2.1.0', opened[-1]['metadata']['version'])
        state, comm = opened[-1]['content']['data']['state'], opened[-1]['content']['comm_id']
        self.assertEqual(('FloatSliderModel', 0.5), (state['_model_name'], state['max']))
        view = messages[-1]['content']['data']['application/vnd.jupyter.widget-view+json']
        self.assertEqual(comm, view['model_id'])
        self.assertIn(comm, self.reply(self.kc.comm_info())['comms'])
        request = self.kc.execute("print 'runs' repeat until s.value == 0.25 return s.value")
        self.wait_for(request, 'stream')
        for data in ({'method': 'update', 'state': {'value': 'no'}},
                     {'method': 'update', 'state': {'value': 0.25}}, {'method': 'request_state'}):
            message = self.kc.session.msg('comm_msg', {'comm_id': comm, 'data': data})
            self.kc.shell_channel.send(message)
        self.assertEqual('ok', self.reply(request)['status'])
        self.assertEqual('0.25', self.messages(request)[-1]['content']['data']['text/plain'])
        self.assertIn('value', self.run_cell("notebook.slider { value = 2 }")[0]['evalue'])

    def test_the_last_move_of_each_slider_is_kept(self):
        _, messages = self.run_cell('a, b = notebook.slider(), notebook.slider()')
        opened = [m['content'] for m in messages if m['msg_type'] == 'comm_open']
        sliders = [o['comm_id'] for o in opened
                   if o['data']['state']['_model_name'] == 'FloatSliderModel']
        for comm, value in [(sliders[0], 0.75)] + [(sliders[1], k / 2048) for k in range(1100)]:
            data = {'method': 'update', 'state': {'value': value}}
            self.kc.shell_channel.send(
                self.kc.session.msg('comm_msg', {'comm_id': comm, 'data': data}))
        self.assertEqual('0.75\t%.14g' % (1099 / 2048), self.value('a.value, b.value'))

    def test_a_front_end_that_is_loaded_anew_gets_its_sliders(self):
        _, messages = self.run_cell("r = notebook.slider { label = 'again', value = 0.5 }")
        comm = [m for m in messages if m['msg_type'] == 'comm_open'][-1]['content']['comm_id']

        def ask(data):
            message = self.kc.session.msg('comm_msg', {'comm_id': comm, 'data': data})
            self.kc.shell_channel.send(message)
            return message['header']['msg_id']

        self.messages(ask({'method': 'update', 'state': {'value': 0.75}}))
        answers = self.messages(ask({'method': 'request_state'}))
        self.assertEqual([0.75], [m['content']['data']['state']['value'] for m in answers])
        self.assertEqual('0.75', self.value('r.value'))
        busy = self.kc.execute("print 'runs' repeat until r.value == 0.25")
        self.wait_for(busy, 'stream')
        asked = ask({'method': 'request_state'})
        ask({'method': 'update', 'state': {'value': 0.25}})
        seen = []
        while not seen or seen[-1]['parent_header']['msg_id'] != busy or \
                seen[-1]['content'].get('execution_state') != 'idle':
            seen.append(self.kc.get_iopub_msg(timeout=PATIENCE))
        found = [m for m in seen if m['msg_type'] == 'comm_msg']
        self.assertEqual([asked], [m['parent_header']['msg_id'] for m in found])
        self.assertEqual('ok', self.reply(busy)['status'])

    def test_requests_without_what_they_are_about(self):
        for kind in ('is_complete', 'complete', 'inspect', 'history', 'comm_info', 'execute'):
            message = self.kc.session.msg(kind + '_request', {})
            self.kc.shell_channel.send(message)
            self.assertIn('status', self.reply(message['header']['msg_id']), kind)
        message = self.kc.session.msg('history_request', {'hist_access_type': 'range',
                                                          'session': {}, 'output': 7})
        self.kc.shell_channel.send(message)
        self.reply(message['header']['msg_id'])

    def test_memory_that_is_short(self):
        for code in ("('x'):rep(1e6):rep(1e6)", "require('ffi').new('char[?]', 2 ^ 45)",
                     'local function f() return 1 + f() end f()'):
            self.assertEqual('error', self.run_cell(code)[0]['status'], code)
        self.assertEqual('2', self.value('1 + 1'))

    def test_strangers(self):
        """Messages of one who has no key, or sends no messages."""
        random.seed(SEED)
        socket = zmq.Context.instance().socket(zmq.DEALER)
        socket.sndhwm = 0
        socket.connect('tcp://127.0.0.1:%d' % self.km.shell_port)
        control = zmq.Context.instance().socket(zmq.DEALER)
        control.sndhwm = 0
        control.connect('tcp://127.0.0.1:%d' % self.km.control_port)
        good = self.kc.session.serialize(self.kc.session.msg('execute_request', {
            'code': '_G.exited = 7', 'silent': False, 'allow_stdin': False}))
        for k in range(MESSAGES):
            (control if k % 5 == 0 else socket).send_multipart(self.strange(good))
        bad = [good[0], good[1]] + good[2:5] + [b'{"code": "\xff\xfe"}']
        bad[1] = self.kc.session.sign(bad[2:])
        socket.send_multipart(bad)
        socket.send_multipart([b'x' * (80 << 20)])
        self.assertEqual('true', self.value('rawget(_G, "exited") == nil'))
        socket.close(0)
        control.close(0)

    def strange(self, good):
        parts = [bytes(p) for p in good]
        kind = random.randrange(5)
        if kind == 0:
            return [random.randbytes(random.randrange(40)) for _ in range(random.randrange(1, 12))]
        if kind == 1:
            parts[random.randrange(1, 6)] = random.randbytes(20)
            return parts
        if kind == 2:
            return parts[:random.randrange(1, 6)]
        if kind == 3:
            parts[5] = parts[5].replace(b'exit', b'Exit')
            return parts
        return [b'<IDS|MSG>'] * random.randrange(1, 9)

    def test_odd_requests_with_a_good_signature(self):
        random.seed(SEED)
        kinds = ('execute', 'inspect', 'complete', 'history', 'is_complete', 'comm_info',
                 'kernel_info', 'interrupt', 'debug', 'input', 'no such')
        for k in range(MESSAGES // 10):
            kind = random.choice(('comm_open', 'comm_msg', 'comm_close', 'input_reply',
                                  random.choice(kinds) + '_request'))
            channel = self.kc.control_channel if k % 7 == 0 else self.kc.shell_channel
            channel.send(self.kc.session.msg(kind, self.odd_content()))
        self.reply(self.kc.kernel_info())       # until then an error may drop a cell
        self.assertEqual('7', self.value('3 + 4'))

    def odd_content(self):
        names = ('code', 'cursor_pos', 'silent', 'user_expressions', 'hist_access_type', 'n',
                 'session', 'start', 'stop', 'pattern', 'comm_id', 'target_name', 'data', 'value',
                 'stop_on_error', 'allow_stdin', 'detail_level', 'output', 'unique')
        return {name: self.odd_value(3) for name in random.sample(names, random.randrange(9))}

    def odd_value(self, depth):
        kind = random.randrange(9 if depth else 7)
        if kind < 7:
            return (None, True, -1, 1e300, 2**53, 'x = ü(', random.choice(
                ('tail', 'range', 'search', '[', '1 + 1', '\x00', 'update', '')))[kind]
        if kind == 7:
            return [self.odd_value(depth - 1) for _ in range(random.randrange(4))]
        return {random.choice(('method', 'state', 'value', 'a', '')): self.odd_value(depth - 1)
                for _ in range(random.randrange(4))}


class Faults(Client):
    """Devices that fail, by libraries that stand in for CUDA's: tests/fake."""

    def start(self, failure):
        if not os.path.exists(FAKES):
            self.skipTest('no libraries that stand in for CUDA in %s' % FAKES)
        env = {**os.environ, 'LD_LIBRARY_PATH': FAKES, 'CUDA_HOME': '', 'CUDA_PATH': '',
               'MARE_CACHE': 'off', 'MARE_FAKE_FAIL': failure, 'MARE_DEVICE': 'cuda:0'}
        self.km, self.kc = start_new_kernel(kernel_name='mare', env=env)
        self.addCleanup(self.end)

    def test_a_kernel_that_faults(self):
        self.start('cuLaunchKernel:1:700')
        reply, _ = self.run_cell(
            "d = mare.device.open() x = d:buffer { type = 'float', count = 8, label = 'x' } "
            "w = mare.watch('extern \"C\" __global__ void f(int n, float a, const float *x, float "
            "*y) {}', { device = d, language = 'cuda' })"
            "w:run('f', { n = 8, a = 1, x = x, y = x, global = 8, group = 8 })")
        self.assertIn('700', reply['evalue'])
        reply, _ = self.run_cell('x:fill(1)')
        self.assertIn('lost', reply['evalue'])
        self.assertIn('lost', self.value('x'))
        reply, _ = self.run_cell('for _, object in ipairs { x, w.program, d } do object:release() '
                                 "end w, d = nil, mare.device.open() y = d:buffer { type = 'float'"
                                 ", count = 8, label = 'y' } y:fill(7)")
        self.assertEqual('ok', reply['status'], reply)
        self.assertIn('7 to 7', self.value('y'))

    def test_a_device_without_memory(self):
        self.start('cuMemAlloc_v2:3+:2')
        code = "d = d or mare.device.open() b = d:buffer { type = 'float', count = %d }"
        states = [self.run_cell(code % (1000 * k + 1000))[0] for k in range(5)]
        failed = [reply for reply in states if reply['status'] == 'error']
        self.assertTrue(failed, states)
        self.assertTrue(all('memory' in reply['evalue'] for reply in failed), failed)
        self.assertEqual('2', self.value('1 + 1'))


class Ends(Client):
    def test_shutdown_while_a_cell_runs(self):
        km, kc = start_new_kernel(kernel_name='mare')
        kc.execute('while true do end')
        began = time.time()
        kc.shutdown()
        while km.is_alive() and time.time() < began + PATIENCE:
            time.sleep(0.05)
        self.assertFalse(km.is_alive())
        kc.stop_channels()
        km.cleanup_resources()

    def test_the_client_is_killed_while_a_cell_runs(self):
        """The client is a shell, between it and the kernel is another."""
        km = KernelManager(kernel_name='mare')
        km.kernel_spec.argv = [
            'sh', '-c', 'JPY_PARENT_PID=$$ sh -c \'"$0" jupyter run "$1"; true\' "$0" "$1"; true',
            *(km.kernel_spec.argv[k] for k in (0, 3))]
        km.start_kernel()
        self.addCleanup(km.cleanup_resources)
        self.kc = km.client()
        self.kc.start_channels()
        self.addCleanup(self.kc.stop_channels)
        self.kc.wait_for_ready()
        kernel = int(self.value("system = require 'bindings.system' return system.process()"))
        # The thread of the sockets has its say all the time.
        self.wait_for(self.kc.execute("while true do print 'runs' notebook.display 'x' "
                                      'system.sleep(0.02) end'), 'stream')
        os.kill(km.provisioner.pid, signal.SIGKILL)
        end = time.time() + PATIENCE
        while os.path.exists('/proc/%d' % kernel) and time.time() < end:
            time.sleep(0.05)
        self.assertFalse(os.path.exists('/proc/%d' % kernel))

    def test_start(self):
        best = 1e9
        for _ in range(2):
            began = time.time()
            km = KernelManager(kernel_name='mare')
            km.start_kernel()
            kc = km.client()
            kc.start_channels()
            kc.kernel_info(reply=True, timeout=PATIENCE)
            best = min(best, time.time() - began)
            kc.stop_channels()
            km.shutdown_kernel()
        print('the kernel has answered after %.2f s' % best)


def install(mare):
    os.environ['JUPYTER_DATA_DIR'] = FOLDER
    os.environ.setdefault('MARE_HISTORY', 'off')
    if os.system('"%s" jupyter install >/dev/null' % mare):
        sys.exit('mare jupyter install failed')
    with open(os.path.join(FOLDER, 'kernels', 'mare', 'kernel.json')) as file:
        assert json.load(file)['argv'][0] == mare


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as FOLDER:
        launcher = os.path.abspath(sys.argv.pop(1))
        FAKES = os.path.join(os.path.dirname(launcher), 'tests', 'fake_cuda')
        install(launcher)
        result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    for test, why in result.skipped:
        print('skipped: %s: %s' % (test, re.sub(r'\s+', ' ', why)))
    passed = result.testsRun - failed - skipped
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    sys.exit(failed > 0)
