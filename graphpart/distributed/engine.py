"""The execution of tasks by workers of Dask, or by this process.

A task is a function of its place in the work folder (`Work`) and some small arguments. It writes arrays and returns a
small answer. It is pure: the answer does not depend on the worker, or on how often the task is performed. So a task
that is lost with its worker is performed again. A stage whose answers are already in the folder is not performed again.

The workers of an engine start with its first task, which takes some seconds. An engine that is `alone` starts none:
this process performs the tasks. When the run has to end, the method in the present task returns the best it has. The
answer of this task is kept in memory only, so another run with the same work folder performs the task again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from graphpart.distributed.folder import Folder, Work
from graphpart.errors import InvalidOption, MissingDependency, SolverError
from graphpart.machine import can_limit, forget_peak, limited, peak, scarce
from graphpart.stopping import Stopping

__all__ = ["Ended", "Engine", "OutOfMemory", "Performed", "check_workers", "memory_of"]

DESERTED = 120.0  # seconds without workers after which our own cluster is replaced, or the user's is given up
UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 2.0**10, "MIB": 2.0**20, "GIB": 2.0**30, "TIB": 2.0**40}

Task = Callable[..., Any]


class Performed(NamedTuple):
    """A task that is done: its answer, processor seconds, bytes written, and the largest memory of its process."""

    answer: Any
    processor: float
    bytes: int
    memory: int


class OutOfMemory(SolverError):
    """A task needs more memory than its worker has."""


class Ended(Exception):
    """The time is over, or the run was interrupted."""


class Engine:
    """Performs the tasks of stages.

    Parameters
    ----------
    folder : Folder
    client : distributed.Client, optional
        Default: a cluster of processes on this machine.
    workers : int
        Processes of that cluster, which start with the first task; 0: this process does it all, without Dask.
    memory : int
        Bytes of each worker.
    stopping : Stopping or None
        When to end; None: not before all is done.
    report : callable
        ``report(stage, done, all)``, after every task.
    """

    def __init__(
        self,
        folder: Folder,
        client: Any,
        workers: int,
        memory: int,
        stopping: Stopping | None,
        report: Callable[[str, int, int], None],
    ) -> None:
        self.folder, self.memory, self.stopping, self.report = folder, memory, stopping, report
        folder.ended = self.ended
        self.early: dict[tuple[str, int], Any] = {}  # answers of tasks of this process that had to end
        self.stages: dict[str, dict[str, Any]] = {}
        self.client, self.own = client, False
        self.cluster: Any = None
        self.workers, self.seen = workers, time.monotonic()
        self.alone = client is None and not workers  # whether this process performs the tasks from now on

    def _begin(self) -> None:
        # Dask counts mapped files, and pauses workers whose memory is not given back.
        limit = 0 if can_limit() else self.memory
        dask = _distributed()
        self.own, self.client = True, None
        self.cluster = dask.LocalCluster(
            n_workers=self.workers, threads_per_worker=1, memory_limit=limit, dashboard_address=":0", silence_logs=50
        )
        self.client, self.seen = dask.Client(self.cluster), time.monotonic()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *what: object) -> None:
        if self.own:
            self._end()

    def _end(self) -> None:
        for one in (self.client, self.cluster):
            if one is not None:
                one.close()

    def ended(self, seconds: float = 0.0, cost: float = math.inf) -> bool:
        """Whether the run has to end; the callback of methods that this process performs."""
        return self.stopping is not None and bool(self.stopping.check(math.inf))

    def _deserted(self) -> bool:
        """Whether the cluster of this run has had no worker for a while: Dask gives up workers that start slowly.

        Raises SolverError if the cluster of the user has had no worker for long.
        """
        now = time.monotonic()
        if self.cluster.scheduler.workers if self.own else self.client.scheduler_info()["workers"]:
            self.seen = now
        if not self.own and now - self.seen > DESERTED:
            raise SolverError(
                f"no worker has been there for {now - self.seen:.0f} s: the work folder keeps what is done; "
                "begin workers and run again with the same work folder"
            )
        return self.own and now - self.seen > DESERTED

    def map(self, stage: str, task: Task, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The answers of ``task(Work(folder, stage, number), *arguments)``, in order.

        Raises
        ------
        Ended
            When the time is over, or Ctrl-C was pressed.
        SolverError
            If workers are lost again and again.
        """
        began = time.monotonic()
        answers = [self.folder.answer(stage, k) for k in range(len(arguments))]
        missing = [k for k, answer in enumerate(answers) if answer is None]
        self.report(stage, len(answers) - len(missing), len(answers))
        perform = self._here if self.alone or not missing else self._on_workers
        perform(stage, task, arguments, missing, answers)
        self._facts(stage)["seconds"] += time.monotonic() - began
        return answers

    def _facts(self, stage: str) -> dict[str, Any]:
        return self.stages.setdefault(stage, {"tasks": 0, "seconds": 0.0, "processor": 0.0, "bytes": 0, "memory": 0})

    def _answered(self, stage: str, done: Performed) -> Any:
        if isinstance(done.answer, OutOfMemory):
            raise done.answer
        facts = self._facts(stage)
        facts["tasks"] += 1
        facts["processor"] += done.processor
        facts["bytes"] += done.bytes
        facts["memory"] = max(facts["memory"], done.memory)
        return done.answer

    def _here(self, stage: str, task: Task, arguments: Any, missing: list[int], answers: list[Any]) -> None:
        for done, k in enumerate(missing, len(answers) - len(missing) + 1):
            if self.ended():
                raise Ended
            answers[k] = self._answered(stage, performed(self.folder, stage, k, task, arguments[k]))
            if self.ended():
                self.early[stage, k] = answers[k]
                raise Ended  # later tasks must not use unrecorded results
            self.report(stage, done, len(answers))

    def _submitted(self, stage: str, task: Task, arguments: Any, numbers: list[int]) -> dict[Any, int]:
        run, limit = f"graphpart-{id(self)}-{stage}", self.memory if self.own else 0
        return {
            self.client.submit(
                performed,
                self.folder,
                stage,
                k,
                task,
                arguments[k],
                limit,
                key=f"{run}-{k}",
                retries=5,
                pure=False,
            ): k
            for k in numbers
        }

    def _on_workers(self, stage: str, task: Task, arguments: Any, missing: list[int], answers: list[Any]) -> None:
        dask = _distributed()
        if self.client is None:
            self._begin()
        futures = self._submitted(stage, task, arguments, missing)
        waiting, done = set(futures), len(answers) - len(missing)
        self.seen = time.monotonic()
        try:
            while waiting:
                if self.ended():
                    raise Ended
                if self._deserted():
                    self._end()
                    self._begin()
                    futures = self._submitted(stage, task, arguments, sorted(futures[future] for future in waiting))
                    waiting = set(futures)
                try:
                    ended = dask.wait(waiting, timeout=0.2, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    continue
                for future in sorted(ended, key=futures.__getitem__):
                    answers[futures[future]] = self._answered(stage, future.result())
                    done += 1
                    self.report(stage, done, len(answers))
                waiting -= ended
        except dask.KilledWorker as error:
            raise OutOfMemory(
                f"stage {stage}: a task has lost its worker again and again ({error.task}); most likely it needs more "
                f"memory than {self.memory / 1e9:.3g} GB: raise memory_limit, with another work folder"
            ) from None
        finally:
            if waiting:
                self.client.cancel(list(waiting))


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise MissingDependency("distributed", "distributed", "workers of Dask") from None


def performed(
    folder: Folder, stage: str, number: int, task: Task, arguments: tuple[Any, ...], limit: int = 0
) -> Performed:
    """The answer of a task, which is performed unless its answer is already there.

    A limit is the number of bytes that this process may use during the task. The answer of a task that needs more is
    OutOfMemory, since an exception would make Dask perform the task again. The answer is not recorded if the run had
    to end in the meantime, since a method may have ended early.
    """
    answer, before, began = folder.answer(stage, number), folder.written, time.process_time()
    forget_peak()
    if answer is None:
        try:
            with limited(limit):
                answer = _within(limit, task, Work(folder, stage, number), *arguments)
            if folder.ended is None or not folder.ended(0.0, math.inf):
                answer = folder.done(stage, number, answer)
        except MemoryError:
            most = f" of {limit / 1e9:.3g} GB" if limit else ""
            answer = OutOfMemory(f"stage {stage}, task {number}: out of memory{most}; raise memory_limit")
    return Performed(answer, time.process_time() - began, folder.written - before, peak())


def _within(limit: int, task: Task, *arguments: Any) -> Any:
    """The answer of a task. Any error of a task that has used up the limit of memory is a MemoryError."""
    try:
        return task(*arguments)
    except Exception as error:
        if limit and scarce():
            raise MemoryError from error
        raise


def check_workers(workers: Any) -> None:
    """Raise InvalidOption if this is no number of processes."""
    if not hasattr(workers, "__index__") or workers < 0:
        raise InvalidOption(
            f"workers is {workers!r}: expected a whole number of processes, or 0 for this process to do all work"
        )


def memory_of(text: str | float) -> int:
    """Bytes of a size like ``"4GB"`` or ``2e9``.

    Examples
    --------
    >>> memory_of("2GB"), memory_of("1 GiB"), memory_of(5e8)
    (2000000000, 1073741824, 500000000)
    """
    value = str(text).replace(" ", "").upper()
    unit = next((u for u in sorted(UNITS, key=len, reverse=True) if value.endswith(u)), "")
    try:
        number = float(value[: len(value) - len(unit)]) * UNITS.get(unit, 1.0)
    except ValueError:
        number = math.nan
    if not 1e7 <= number < 1e18:
        raise InvalidOption(f"memory_limit is {text!r}: expected at least 10 MB, like '4GB'")
    return int(number)
