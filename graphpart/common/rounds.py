"""Searches in rounds of parallel tasks: the part that does not depend on the problem.

The main thread waits for the tasks of a round. It takes their results in the order of the tasks, not in the order in
which they end. While it waits, it handles signals, the callback and the checkpoint.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Saver", "attend", "check_seed_and_threads"]

Labels = NDArray[np.int32]
Found = TypeVar("Found")
SERVE = 0.05  # seconds between two looks at signals and the callback
SAVE = 1.0  # seconds between two writes of a checkpoint


def check_seed_and_threads(seed: Any, threads: Any) -> None:
    """Raise InvalidOption unless each is None or a valid integer."""
    for name, value, least in (("seed", seed, 0), ("threads", threads, 1)):
        if value is not None and (not hasattr(value, "__index__") or value < least):
            raise InvalidOption(f"{name} is {value!r}: expected a whole number of at least {least}")


class Saver:
    """Writes the best labels to a file, about once a second.

    Parameters
    ----------
    path : str or path-like
    write : callable
        ``write(labels, path)``.
    """

    def __init__(self, path: str | os.PathLike[str], write: Callable[[Labels, str], None]) -> None:
        self.path, self.write = os.fspath(path), write
        self.saved: Labels | None = None
        self.when = -np.inf

    @property
    def due(self) -> bool:
        """Whether nothing was written for a second."""
        return time.monotonic() >= self.when + SAVE

    def save(self, labels: Labels, now: bool = False) -> None:
        """Write these labels, unless they were written last, or, if it need not be `now`, less than a second ago."""
        if labels is not self.saved and (now or self.due):
            self.write(labels, self.path)
            self.saved, self.when = labels, time.monotonic()


def attend(
    futures: Sequence[Future[Found]],
    children: Sequence[Stopping],
    stopping: Stopping,
    take: Callable[[int, Found], bool],
    check: Callable[[], bool],
) -> bool:
    """Take the results of tasks, in their order; return whether any was better.

    Parameters
    ----------
    futures : sequence of Future
    children : sequence of Stopping
        Of the tasks; all of them are stopped as soon as `check` says so, or one has reached its target.
    stopping : Stopping
        Of the whole run.
    take : callable
        ``take(k, found)`` takes the result of task k, and returns whether it is better than the best known one.
    check : callable
        Whether the whole run has to end; called about every 50 ms.
    """
    improved, taken = False, 0
    while taken < len(futures):
        try:
            if not wait(futures[taken : taken + 1], timeout=SERVE).not_done:
                improved |= take(taken, futures[taken].result())
                taken += 1
            ended = check()
        except KeyboardInterrupt:
            stopping.stop(Status.INTERRUPTED)
            ended = True
        except BaseException:
            for child in children:
                child.stop(Status.INTERRUPTED)
            raise
        if ended or any(child.reason == Status.TARGET for child in children):
            for child in children:
                child.stop(stopping.reason or Status.TARGET)
    return improved
