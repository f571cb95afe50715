"""Ctrl-C while a method runs: the method ends at its next check, and its best result so far is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

__all__ = ["Interrupt"]


class Interrupt:
    """Within this context the first Ctrl-C only asks the method to end; the second one raises.

    The object is the callback of the method: it returns true once the method has to end.

    A KeyboardInterrupt can occur between any two instructions of Python, and the result would be lost. A method checks
    for a request about every 50 ms. The context has no effect outside the main thread, or if Ctrl-C is ignored.

    Parameters
    ----------
    callback : callable, optional
        Is called as well, with (seconds, cost); and its `on_bound`, if it has one, with (seconds, bound).
    """

    def __init__(self, callback: Callable[[float, float], object] | None) -> None:
        self._callback = callback
        self._on_bound = getattr(callback, "on_bound", None)
        self._asked = self._installed = False

    def on_bound(self, seconds: float, bound: float) -> None:
        """A better lower bound."""
        if self._on_bound is not None:
            self._on_bound(seconds, bound)

    def __call__(self, seconds: float, cost: float) -> bool:
        if self._callback is not None:
            self._callback(seconds, cost)
        return self._asked

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    def __enter__(self) -> Interrupt:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._ask)
            self._installed = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
