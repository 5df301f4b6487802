"""Ctrl-C while Lua runs: C code holds the main thread then, so that Python's own handler would
come only after it. A thread hears of the signal and ends what the engine runs."""

import signal
import socket
import threading
from typing import Any, Callable, Optional, Tuple


class Interrupts:
    """`with Interrupts(stop) as seen:` calls stop() from a thread when Ctrl-C comes, instead of
    raising KeyboardInterrupt; seen.came tells. Elsewhere than in the main thread it does nothing,
    and so where a program has a handler of its own."""

    _LAST = b'\0'      # the number of no signal

    _lock = threading.Lock()
    _sockets: Optional[Tuple[socket.socket, socket.socket]] = None
    _active: Optional['Interrupts'] = None
    _heard_all = threading.Event()

    def __init__(self, stop: Callable[[], None]):
        self.stop, self.came, self.is_on = stop, False, False

    @classmethod
    def _watch(cls, ears: socket.socket) -> None:
        while True:
            number = ears.recv(1)
            if number == cls._LAST:
                cls._heard_all.set()
            with cls._lock:
                active = cls._active
                if active is not None and number == bytes([signal.SIGINT]):
                    active.came = True
                    active.stop()

    @classmethod
    def _start(cls) -> int:
        if cls._sockets is None:
            cls._sockets = socket.socketpair()
            cls._sockets[1].setblocking(False)
            threading.Thread(target=cls._watch, args=cls._sockets[:1], daemon=True).start()
        return cls._sockets[1].fileno()

    def _hear(self, *_: Any) -> None:
        self.came = True

    def __enter__(self) -> 'Interrupts':
        is_main = threading.current_thread() is threading.main_thread()
        self.is_on = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self.is_on:
            number = self._start()
            with self._lock:
                Interrupts._active = self
            signal.signal(signal.SIGINT, self._hear)
            self.before = signal.set_wakeup_fd(number, warn_on_full_buffer=False)
            if self.came:       # between the two lines above, where no thread hears of it
                self.stop()
        return self

    def _settle(self) -> None:
        """Waits for the thread to hear of a signal that came, lest it end the next call."""
        if self._sockets:
            self._heard_all.clear()
            self._sockets[1].send(self._LAST)
            self._heard_all.wait(1)

    def __exit__(self, *_: Any) -> None:
        if self.is_on:
            signal.set_wakeup_fd(self.before)
            if self.came:
                self._settle()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with self._lock:
                Interrupts._active = None
