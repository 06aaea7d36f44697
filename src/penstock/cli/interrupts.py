"""Ctrl-C during a long statement: Python itself handles a signal only between two of its own instructions."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C calls `interrupt` from another thread at once. Any error that follows becomes a KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received, noted = os.pipe()
    os.set_blocking(noted, False)
    pressed = threading.Event()

    def wait() -> None:
        while number := os.read(received, 1):
            if number[0] == signal.SIGINT:
                pressed.set()
                interrupt()

    waiting = threading.Thread(target=wait, name="ctrl-c", daemon=True)
    before = signal.set_wakeup_fd(noted, warn_on_full_buffer=False)
    waiting.start()
    try:
        yield
    except Exception:
        if pressed.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.set_wakeup_fd(before)
        os.close(noted)
        waiting.join()
        os.close(received)
