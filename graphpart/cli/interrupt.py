"""Ctrl-C, or SIGTERM, while a method runs: it ends at its next check, and its best result so far is kept.

Schedulers of clusters and containers send SIGTERM some seconds before they kill a process.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupt", "termination"]


class Interrupt:
    """Within this context the first Ctrl-C, or SIGTERM, only asks the method to end; the second one raises.

    The object is the callback of the method: it returns true once the method has to end.

    A KeyboardInterrupt can occur between any two instructions of Python, and the result would be lost. A method checks
    for a request about every 50 ms. The context has no effect outside the main thread, or if Ctrl-C is ignored.

    Parameters
    ----------
    callback : callable, optional
        Is called as well, with (seconds, cost); and its `on_bound`, if it has one, with (seconds, bound).
    on_ask : callable, optional
        Is called once the end is asked for.
    """

    def __init__(
        self, callback: Callable[[float, float], object] | None, on_ask: Callable[[], object] | None = None
    ) -> None:
        self._on_ask = on_ask
        self._callback = callback
        self._on_bound = getattr(callback, "on_bound", None)
        self._asked = False
        self._before: dict[int, Any] = {}

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
        if self._on_ask is not None:
            self._on_ask()

    @property
    def asked(self) -> bool:
        """Whether the end was asked for."""
        return self._asked

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL, terminated):
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def terminated(number: int, frame: FrameType | None) -> None:
    """The handler of SIGTERM while no method runs: the process ends like after Ctrl-C, and files stay whole."""
    raise KeyboardInterrupt


@contextmanager
def termination() -> Iterator[None]:
    """Within this context, SIGTERM ends the process like Ctrl-C."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminated) if is_main else None
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)
