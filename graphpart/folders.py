"""Many instance files: the list of them, results of earlier runs, and their solution by processes.

Results in a folder have a file ``results.jsonl`` beside the labels: one line for each result, with the digest of the
instance and the options. A run that is repeated skips an instance if its digest is there, its labels are there, the
options that change the problem are the same, and either its result is proven or all other options are the same, too,
and nothing interrupted it. What is not skipped is solved again, and the better result stays. A line is written at once,
after the labels.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphpart.display import frame_of, plural
from graphpart.errors import GraphPartError, InvalidOption, MissingFile, SolverError, check_callback, warn
from graphpart.files.labels import write_labels
from graphpart.files.source import BLOCK
from graphpart.result import Result, Status
from graphpart.solve import solve

__all__ = ["MANIFEST", "Records", "SolvedFile", "digest_of", "in_processes", "instances_in", "solve_files"]

MANIFEST = "manifest.csv"
RESULTS = "results.jsonl"
BESIDE = (".labels", ".bound", ".py", ".md")  # suffixes of files that may be beside instances, as those of results
ABOUT = ("README", "LICENSE")  # how names of other files begin that may be there
BROKEN = "broken"  # the status of a file that has no result
COLUMNS = (  # of a record
    "file", "elements", "pairs", "method", "cost", "objective", "objective_bound", "lower_bound", "gap", "status",
    "clusters", "subsets", "seconds", "message",
)  # fmt: skip


@dataclass(frozen=True)
class SolvedFile:
    """The outcome of an instance file.

    Attributes
    ----------
    path : str
    result : Result or None
        None if the file is broken, or if its result was there before.
    error : Exception or None
        Why there is no result.
    record : dict
        File, sizes, method, cost, bound, gap, status and more: a row of a table, with the same columns for each file,
        in the order of the columns that ``graphpart solve FOLDER --csv`` writes.
        The status of a broken file is ``broken``, and its message is that of the error.
    skipped : bool
        Whether the result was there before, in the folder `output`, and is not replaced.
    interrupted : bool
        Whether Ctrl-C ended it, and no further files follow.
    """

    path: str
    result: Result | None
    error: Exception | None
    record: dict[str, Any]
    skipped: bool = False
    interrupted: bool = False

    def __repr__(self) -> str:
        cost = "" if self.record["cost"] is None else f", cost {self.record['cost']:.9g}"
        return f"<SolvedFile {self.path}: {self.record['status']}{cost}{', skipped' if self.skipped else ''}>"


class SolvedFiles(Iterator[SolvedFile]):
    """An iterator over outcomes, which solves each file when it is asked for; its repr says so."""

    def __init__(self, solved: Generator[SolvedFile], count: int) -> None:
        self._solved, self._count = solved, count
        self._records: list[dict[str, Any]] = []

    def __next__(self) -> SolvedFile:
        found = next(self._solved)
        self._records.append(found.record)
        return found

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with the record of each file, after the rest of them are solved, too.

        After Ctrl-C, a warning says how many files are not in it.
        """
        for _ in self:
            pass
        if len(self._records) < self._count:
            warn(
                f"the table has {len(self._records)} of {plural(self._count, 'file')}, since Ctrl-C ended the run: "
                "call solve_files again, with the same output= to keep what is solved"
            )
        return frame_of({name: [record[name] for record in self._records] for name in COLUMNS}, library)

    def close(self) -> None:
        """End the processes that solve."""
        self._solved.close()

    def __repr__(self) -> str:
        done = len(self._records)
        how = "" if done == self._count else "; each is solved when it is asked for: for solved in ..., or .to_frame()"
        return f"<SolvedFiles: {done} of {plural(self._count, 'file')}{how}>"


def solve_files(
    paths: Any,
    method: str = "auto",
    *,
    output: str | os.PathLike[str] | None = None,
    resume: bool = True,
    jobs: int = 1,
    format: str | None = None,
    progress: bool = False,
    **options: Any,
) -> SolvedFiles:
    """Solve instance files one after the other, or several at once; a broken file does not end the run.

    Parameters
    ----------
    paths : str, path-like, or iterable of them
        Files, and folders, of which all files with the suffix of a format are taken.
    method : str
        As for :func:`graphpart.solve`.
    output : str or path-like, optional
        A folder for the labels of each file (its name with ``.labels`` added) and for ``results.jsonl``.
    resume : bool
        Skip files whose results are in `output`: the same content, and either proven optimal or solved with the same
        options. Other results are replaced unless the new one costs more, or costs the same and has a worse bound: a
        shorter time limit loses none.
    jobs : int
        Processes that solve at the same time. A script that asks for more than one has to guard its beginning by ``if
        __name__ == "__main__":``.
    format : str, optional
        Of the files; default: recognised by name and content.
    progress : bool
        Show which file is worked on, on a terminal.
    **options
        Of :func:`graphpart.solve`, for each file: `time_limit`, `seed`, `max_size`, ... For tables of scored pairs also
        what :func:`graphpart.read` takes: ``probability="score"``, `left`, `right`, `missing`, ... Of several files,
        those of other formats are read without these.

    Yields
    ------
    SolvedFile
        In the order of the files, as soon as each is ready; ``to_frame()`` makes a table of all. After Ctrl-C, the file
        that is worked on is the last one, with its best result so far.

    Raises
    ------
    InvalidOption
        If a folder has no instances, or an option is wrong.
    MissingFile
        If there is no such file or folder.

    Notes
    -----
    Files are written whole or not at all. After an interruption, the same call continues after the last whole result.

    Examples
    --------
    >>> import tempfile
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gp.write(p, f"{folder}/a.json")
    ...     with open(f"{folder}/b.json", "w") as stream:
    ...         _ = stream.write("no instance")
    ...     for solved in gp.solve_files(folder):
    ...         print(solved.record["status"], solved.record["cost"])
    optimal -2.0
    broken None
    """
    single = isinstance(paths, str | os.PathLike)
    named = [os.fspath(path) for path in ([paths] if single else paths)]
    for path in named:
        if path != "-" and not os.path.exists(path):
            raise MissingFile(path)
    files = instances_in(named)
    check_callback(options.get("callback"))
    if jobs < 1:
        raise InvalidOption(f"jobs is {jobs}: expected at least 1")
    from graphpart.io.columns import divided
    from graphpart.io.formats import may_have_columns

    reading, requirements, solving = divided(options)
    records = None
    if output is not None:
        values = {name: _content(value) for name, value in (reading | requirements).items()}
        records = Records(output, {"method": method, "format": format, **solving}, values)
    solving |= requirements
    tasks = [
        (file, method, format, reading if len(files) == 1 or may_have_columns(file, format) else {}, solving)
        for file in files
    ]
    return SolvedFiles(_solved(tasks, output, records, resume, jobs, progress), len(tasks))


def _content(value: Any) -> Any:
    """The value of an option, or its digest if it is a table or an array, whose `repr` leaves rows out."""
    plain = value is None or isinstance(value, str | int | float)
    return value if plain else hashlib.sha256(pickle.dumps(value)).hexdigest()


def _solved(
    tasks: list[tuple[Any, ...]], output: Any, records: Records | None, resume: bool, jobs: int, progress: bool
) -> Generator[SolvedFile]:
    from graphpart.display.progress import Progress

    files = [task[0] for task in tasks]
    labels = [None if output is None else os.path.join(output, Path(file).name + ".labels") for file in files]
    if output is not None and len(set(labels)) < len(labels):
        raise InvalidOption("output: two files have the same name: expected files of different names")
    known = [None if records is None or not resume else records.find(f, w) for f, w in zip(files, labels, strict=True)]
    left = [task for task, old in zip(tasks, known, strict=True) if old is None]
    results = in_processes(_solve_one, left, jobs)
    shown = Progress(len(files)) if progress else None
    with results, _maybe(shown):
        for file, where, old in zip(files, labels, known, strict=True):
            if shown is not None:
                shown.start(file)
            if old is not None:
                yield SolvedFile(file, None, None, _columns_of(old), True)
            else:
                solved = next(results)
                better = None
                if solved.result is not None and records is not None and resume:
                    better = records.better(file, where, solved.record)
                if better is not None:
                    record, ended = _columns_of(better), solved.interrupted
                    solved = SolvedFile(file, None, None, record, skipped=True, interrupted=ended)
                elif solved.result is not None and records is not None and where is not None:
                    write_labels(solved.result, where)
                    records.add(file, solved.record)
                yield solved
                if solved.interrupted:
                    return
            if shown is not None:
                shown.advance()


def _columns_of(record: dict[str, Any]) -> dict[str, Any]:
    """The columns of a record, also if the shell wrote it, which keeps what it printed."""
    told = record.get("row", {}) | record.get("facts", record) | {"file": record["file"]}
    return {name: told.get(name) for name in COLUMNS}


def _maybe(context: Any) -> Any:
    import contextlib

    return contextlib.nullcontext() if context is None else context


def _solve_one(
    stop: Callable[[float, float], bool] | None, file: str, method: str, format: str | None, reading: Any, options: Any
) -> Any:
    """Read and solve one file; errors of the file are part of what is returned."""
    from graphpart.io import read

    asked = _Asked(options.get("callback"), stop)
    try:
        problem = read(file, format, **reading)
        result = solve(problem, method, **{**options, "callback": asked})
    except InvalidOption:
        raise
    except (GraphPartError, OSError, MemoryError) as error:
        return SolvedFile(file, None, _plain(error), broken_record(file, error))
    record = {"elements": problem.n, "pairs": problem.m} | record_of(file, result)
    interrupted = result.status is Status.INTERRUPTED and not asked.ended
    return SolvedFile(file, result, None, {name: record[name] for name in COLUMNS}, interrupted=interrupted)


class _Asked:
    """A callback that asks others whether a run has to end, and knows whether one of them ended it."""

    def __init__(self, *callbacks: Callable[[float, float], object] | None) -> None:
        self._callbacks = [one for one in callbacks if one is not None]
        self.ended = False

    def __call__(self, seconds: float, cost: float) -> bool:
        self.ended = self.ended or True in [bool(one(seconds, cost)) for one in self._callbacks]
        return self.ended

    def on_bound(self, seconds: float, bound: float) -> None:
        """A better lower bound, for those that want to know."""
        for one in self._callbacks:
            if (told := getattr(one, "on_bound", None)) is not None:
                told(seconds, bound)


def _plain(error: Exception) -> Exception:
    """The error, in a form that other processes can send."""
    kind = type(error) if isinstance(error, OSError) else GraphPartError
    return error if kind is type(error) else kind(str(error))


def record_of(file: str, result: Result) -> dict[str, Any]:
    """A row of a table."""
    return {
        "file": file,
        "n": len(result.labels),
        "method": result.method,
        "cost": result.cost,
        "objective": result.objective,
        "objective_bound": result.objective_bound,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "status": str(result.status),
        "clusters": getattr(result, "n_clusters", None),
        "subsets": getattr(result, "n_clusters", None),  # the name in version 0.2
        "seconds": result.seconds,
        "message": result.message,
    }


def broken_record(file: str, error: Exception | None) -> dict[str, Any]:
    """The row of a file that has no result."""
    known = {"file": file, "status": BROKEN, "message": " ".join(str(error).split())}
    return dict.fromkeys(COLUMNS) | known


# ------------------------------------------------------------------------------------------------------------- folders


def instances_in(paths: Iterable[str]) -> list[str]:
    """The given files, and for each given folder its files with the suffix of a format, by name.

    Warns
    -----
    GraphPartWarning
        If other files are beside these that may be instances, too.

    Raises
    ------
    InvalidOption
        If a folder has no instances.
    """
    from graphpart.files.source import bare_name
    from graphpart.io import FORMATS

    suffixes = tuple(suffix for known in FORMATS for suffix in known.suffixes)
    files: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(path)
            continue
        found = [
            os.path.join(path, name)
            for name in sorted(os.listdir(path))
            if name != MANIFEST and bare_name(name).endswith(suffixes)
        ]
        if not found and any(name.endswith(".parquet") for name in os.listdir(path)):
            raise InvalidOption(
                f"{path}: a folder of Parquet files is one table: gp.distributed.solve (in the shell --workers) solves "
                "it in parts; expected the names of the files if each is a problem of its own"
            )
        if not found:
            raise InvalidOption(f"{path}: no instances there: expected files with the suffixes {', '.join(suffixes)}")
        files += found
        known = (MANIFEST, RESULTS, *map(os.path.basename, found))
        others = [name for name in os.listdir(path) if name not in known and not name.startswith((".", *ABOUT))]
        others = [name for name in others if not bare_name(name).endswith(BESIDE)]
        others = [name for name in others if os.path.isfile(os.path.join(path, name))]
        if others:
            of = sorted({os.path.splitext(bare_name(name))[1] or name for name in others})
            few = ", ".join(of[:5]) + (" and others" if len(of) > 5 else "")
            warn(f"{path}: {plural(len(others), 'file')} left out, since no format has the suffix: {few}")
    return files


def digest_of(path: str) -> str:
    """A digest of the content of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(BLOCK):
            digest.update(chunk)
    return digest.hexdigest()


class Records:
    """The records of results in a folder, which is made if it is not there.

    Parameters
    ----------
    folder : str or path-like
    options : dict
        With which files are solved now: they do not matter once a result is proven.
    reading : dict
        Options that change the problem which is made of a file.
    """

    def __init__(
        self, folder: str | os.PathLike[str], options: dict[str, Any], reading: dict[str, Any] | None = None
    ) -> None:
        os.makedirs(folder, exist_ok=True)
        self._path = os.path.join(folder, RESULTS)
        self._options, self._reading = _key(options), _key(reading or {})
        self._known: dict[str, dict[str, Any]] = {}
        if os.path.exists(self._path):
            for line in Path(self._path).read_text("utf-8").splitlines():
                try:
                    row = json.loads(line)
                    self._known[row["digest"]] = row
                except (ValueError, KeyError, TypeError):
                    continue  # the line that a process was writing when it was killed

    def find(self, file: str, labels: str | None) -> dict[str, Any] | None:
        """The record of the result of a file, if it need not be solved again and its labels are there."""
        if not self._known or labels is None or not os.path.exists(labels) or not os.path.isfile(file):
            return None
        row = self._row(file)
        if row is None:
            return None
        status = row["record"]["status"]
        if status == Status.INTERRUPTED or (status != Status.OPTIMAL and row["options"] != self._options):
            return None
        return dict(_finite(row["record"], _number), file=file)

    def better(self, file: str, labels: str | None, new: dict[str, Any]) -> dict[str, Any] | None:
        """The record of a file, if its labels are there and it costs less than the new one, or has a better bound."""
        row = self._row(file) if self._known and labels is not None and os.path.exists(labels) else None
        if row is None:
            return None
        record = dict(_finite(row["record"], _number), file=file)
        earlier = record.get("facts", record)
        (cost, bound), (other, now) = ((x.get("cost"), x.get("lower_bound")) for x in (earlier, new))
        if cost is None or other is None:
            return None
        tighter = bound is not None and (now is None or bound > now)
        return record if cost < other or (cost == other and tighter) else None

    def _row(self, file: str) -> dict[str, Any] | None:
        """The recorded outcome of a file with this content, read with the same options."""
        row = self._known.get(digest_of(file)) if os.path.isfile(file) else None
        return None if row is None or row.get("reading") != self._reading else row

    def add(self, file: str, record: dict[str, Any]) -> None:
        """Note a result, by one write of one line."""
        if not os.path.isfile(file):
            return
        row = {"digest": digest_of(file), "options": self._options, "reading": self._reading}
        row["record"] = _finite(record, _text)
        with open(self._path, "ab", buffering=0) as stream:
            stream.write(json.dumps(row).encode() + b"\n")


def _key(options: dict[str, Any]) -> str:
    """Options as text that is the same if they are, in the shell and in Python."""
    told = {name: float(value) if type(value) is int else value for name, value in options.items()}
    return json.dumps({name: repr(value) for name, value in told.items() if value is not None}, sort_keys=True)


def _finite(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same with numbers that JSON does not have as text, or back."""
    return {name: _finite(part, change) for name, part in value.items()} if isinstance(value, dict) else change(value)


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) and value in ("inf", "-inf", "nan") else value


# ----------------------------------------------------------------------------------------------------------- processes


ENDED = (
    'a process of jobs= ended before its file was solved: a script has to call this below if __name__ == "__main__":, '
    "since each process reads the script again; if it does, memory is short: expected fewer jobs"
)
ENDING = (signal.SIGINT, signal.SIGTERM)

_asked: Any = None  # the event of a process that solves


class in_processes:
    """The values ``function(stop, *task)`` of tasks, in their order, as an iterator and a context.

    With one job, all is done here and `stop` is None. Otherwise processes do it, which leave Ctrl-C to this one; `stop`
    is a callback that is true once :meth:`end` was called.
    """

    def __init__(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int) -> None:
        self._function, self._tasks = function, list(tasks)
        self._jobs = min(jobs, len(self._tasks))
        self._next = 0
        self._pool: ProcessPoolExecutor | None = None
        self._futures: list[Future[Any]] = []
        self._failed: Exception | None = None
        self._lock = threading.RLock()

    def __enter__(self) -> in_processes:
        if self._jobs > 1:
            import multiprocessing

            if getattr(multiprocessing.current_process(), "_inheriting", False):
                raise SystemExit  # a script without a guard, which a new process reads: the first one says so
            context = multiprocessing.get_context("spawn")
            self._event = context.Event()
            self._pool = ProcessPoolExecutor(self._jobs, context, _begin, (self._event,))
            try:
                with _deferred():
                    for _ in range(self._jobs):
                        self._submit()
            except BaseException:  # Ctrl-C meanwhile
                self.__exit__()
                raise
        return self

    def _submit(self, done: Any = None) -> None:
        """Hand the next task to the processes, which have no more of them than they work on."""
        with self._lock:
            if self._pool is None or self._event.is_set() or len(self._futures) == len(self._tasks):
                return
            try:
                future = self._pool.submit(_call, self._function, self._tasks[len(self._futures)])
            except RuntimeError as error:  # a process was killed
                self._failed = error
                return
            self._futures.append(future)
        future.add_done_callback(self._submit)

    def __exit__(self, *error: Any) -> None:
        if self._pool is not None:
            self.end()
            self._pool.shutdown(cancel_futures=True)

    def end(self) -> None:
        """Ask running files to end with the best result so far, and begin no further files."""
        if self._pool is not None:
            self._event.set()

    def __iter__(self) -> in_processes:
        return self

    def __next__(self) -> Any:
        return self.next(None)

    def next(self, stop: Callable[[float, float], object] | None) -> Any:
        """The next value; `stop` is that of a task which this process does."""
        if self._next == len(self._tasks):
            raise StopIteration
        k, self._next = self._next, self._next + 1
        if self._pool is None:
            return self._function(stop, *self._tasks[k])
        while len(self._futures) <= k:  # a process that has become free is about to get it
            if self._failed is not None:
                raise SolverError(ENDED) from self._failed
            time.sleep(0.001)
        try:
            return self._futures[k].result()
        except BrokenProcessPool:
            raise SolverError(ENDED) from None

    def begun(self, k: int) -> bool:
        """Whether a task will be done, or was begun before the end was asked for."""
        return self._pool is None or not self._event.is_set() or k < len(self._futures)


@contextmanager
def _deferred() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until the end. Processes that start meanwhile inherit that, and leave both to this."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(event: Any) -> None:
    global _asked
    _asked = event
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _call(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    return function(_stop, *task)


def _stop(seconds: float, cost: float) -> bool:
    return bool(_asked is not None and _asked.is_set())
