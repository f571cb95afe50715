"""Searches in rounds of parallel tasks: the one loop of rounds, for searches on partitions and on labelings.

A round is planned, its tasks are performed in threads of their own, and the main thread takes their results. It takes
them in the order of the tasks, not in the order in which they end, so the result after a number of rounds is the same
on any number of threads. While it waits, it handles signals, the callback and the checkpoint.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["SERVE", "RoundSearch", "Saver", "check_seed_and_threads"]

Labels = NDArray[np.int32]
Task = TypeVar("Task")
Found = TypeVar("Found")
SERVE = 0.05  # seconds between two looks at signals and the callback


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
        return time.monotonic() >= self.when + 1.0

    def save(self, labels: Labels, now: bool = False) -> None:
        """Write these labels, unless they were written last, or, if it need not be `now`, less than a second ago."""
        if labels is not self.saved and (now or self.due):
            self.write(labels, self.path)
            self.saved, self.when = labels, time.monotonic()


class RoundSearch(ABC, Generic[Task, Found]):
    """A search in rounds. A subclass defines the tasks of a round and how their results are used.

    Parameters
    ----------
    threads : int
        Largest number of threads that perform tasks.
    slower : int
        The level rises after this number of rounds in a row without improvement.
    plus : float
        Difference between the costs of `stopping` and those of the tasks; inf if they cannot be compared.

    Attributes
    ----------
    rounds : int
        Complete rounds so far.
    idle : int
        Rounds in a row without improvement.
    level : int
        Number of times that the search has become slower. Tasks of a higher level take longer.
    stopping : Stopping
        The argument of the current call of `rounds_until`.
    serve : callable or None
        Called about every 50 ms, by the thread that made the search.
    """

    def __init__(self, threads: int, slower: int = 3, plus: float = math.inf) -> None:
        self.threads, self.slower, self.plus = threads, slower, plus
        self.rounds = self.idle = self.level = 0
        self.stopping = Stopping()
        self.serve: Callable[[], object] | None = None

    @property
    @abstractmethod
    def shown_cost(self) -> float:
        """The cost that `stopping` sees."""

    @abstractmethod
    def plan(self) -> Sequence[Task]:
        """The tasks of the next round, which depend only on the seed and on the rounds before."""

    @abstractmethod
    def perform(self, task: Task, stopping: Stopping) -> Found:
        """Do one task, in any thread; the state of the search must not change."""

    @abstractmethod
    def take(self, task: Task, found: Found) -> bool:
        """Take over the result of a task; return whether it is better than the best known one."""

    def learn(self, tasks: Sequence[Task], found: Sequence[Found]) -> None:
        """Learn from a whole round, after all of its results were taken."""

    def rounds_until(self, stopping: Stopping, patience: int | None = None, until: float = math.inf) -> None:
        """Perform rounds until one of the limits is reached.

        Parameters
        ----------
        stopping : Stopping
            Its iterations are rounds.
        patience : int, optional
            Largest number of rounds in a row without improvement.
        until : float
            Time at which no further round begins, in seconds of `stopping`.
        """
        self.stopping = stopping
        with ThreadPoolExecutor(self.threads) as executor:
            while not self._ended() and (patience is None or self.idle < patience):
                improved = self._round(self.plan(), executor)
                self.rounds += 1
                self.idle = 0 if improved else self.idle + 1
                if self.idle and self.idle % self.slower == 0:
                    self.level += 1
                if stopping.step(self.shown_cost) or stopping.seconds >= until:
                    break

    def extra_round(self, tasks: Sequence[Task], stopping: Stopping) -> None:
        """A round with given tasks, which does not count."""
        self.stopping = stopping
        with ThreadPoolExecutor(self.threads) as executor:
            self._round(tasks, executor)

    def _round(self, tasks: Sequence[Task], executor: Executor) -> bool:
        """Perform tasks and take their results, in their order; return whether any was better.

        All tasks are stopped as soon as the whole run has to end, or one of them has reached its target.
        """
        children = [self.stopping.child(plus=self.plus) for _ in tasks]
        futures = [executor.submit(self._timed, task, child) for task, child in zip(tasks, children, strict=True)]
        improved, found = False, list[Found]()
        worked, all_worked = -time.thread_time(), -time.process_time()
        while len(found) < len(tasks):
            try:
                future = futures[len(found)]
                if not wait([future], timeout=SERVE).not_done:
                    one, seconds = future.result()
                    found.append(one)
                    worked += seconds
                    improved |= self.take(tasks[len(found) - 1], one)
                ended = self._ended()
            except KeyboardInterrupt:
                self.stopping.stop(Status.INTERRUPTED)
                ended = True
            except BaseException:
                for child in children:
                    child.stop(Status.INTERRUPTED)
                raise
            if ended or any(child.reason == Status.TARGET for child in children):
                for child in children:
                    child.stop(self.stopping.reason or Status.TARGET)
        self.stopping.delayed(all_worked + time.process_time(), worked + time.thread_time())
        self.learn(tasks, found)
        return improved

    def _timed(self, task: Task, stopping: Stopping) -> tuple[Found, float]:
        """The result of a task, and the seconds of a processor that it took."""
        worked = time.thread_time()
        found = self.perform(task, stopping)
        return found, time.thread_time() - worked

    def _ended(self) -> bool:
        """Whether the run has to end; the caller is served."""
        if self.serve is not None:
            self.serve()
        return self.stopping.check(self.shown_cost)
