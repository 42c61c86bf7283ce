"""Who hears Ctrl-C and being asked to end while something is under way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ASKS_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def heard_by(listener: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """These signals call the listener till the end of the block; then who had them has them.

    A process hears signals in its main thread only. In another one nothing is taken over: what
    the main thread does about them is its own affair.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, listener) for number in ASKS_TO_END}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
