"""Progress of runs, by rich: on a terminal, or below the cell of a notebook; nowhere else."""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TextIO

from graphpart.display.facts import number

__all__ = ["Callback", "Progress", "on_terminal", "showing"]

Callback = Callable[[float, float], object]
LOGGER = logging.getLogger("graphpart")
REFRESH = 0.25  # seconds between two looks of a line in a notebook


class Lines(logging.Handler):
    """A handler that prints the log lines of methods above the progress of a rich console."""

    def __init__(self, console: Any) -> None:
        super().__init__(logging.INFO)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        self._console.print(record.getMessage(), markup=False, highlight=False)


class Progress:
    """The current piece of work, its seconds and its cost, on standard error if that is a terminal, else nowhere.

    The lines that long methods log every second go there, too.
    """

    def __init__(self, total: int) -> None:
        self._rich: Any = None
        if on_terminal(sys.stderr):
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as RichProgress

            self._rich = RichProgress(
                SpinnerColumn(), MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(stderr=True), transient=True, redirect_stdout=False,
            )  # fmt: skip
            self._task = self._rich.add_task("", total=total)
            self._lines = Lines(self._rich.console)

    def __enter__(self) -> Progress:
        if self._rich is not None:
            self._rich.start()
            LOGGER.addHandler(self._lines)
            self._level = LOGGER.level
            LOGGER.setLevel(logging.INFO)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._rich is not None:
            LOGGER.removeHandler(self._lines)
            LOGGER.setLevel(self._level)
            self._rich.stop()

    def start(self, what: str) -> Callback | None:
        """Show what is worked on now; the returned callback, if any, wants (seconds, cost) from a solver."""
        if self._rich is None:
            return None
        self._rich.update(self._task, description=what)

        def callback(seconds: float, cost: float) -> None:
            self._rich.update(self._task, description=f"{what}  cost {number(float(cost))}")

        return callback

    def advance(self) -> None:
        """One piece of work is done."""
        if self._rich is not None:
            self._rich.advance(self._task)


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at this stream."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


class NotebookProgress:
    """The progress of one run as a line below the cell of a notebook, where rich would need further packages."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._when = -math.inf

    def __enter__(self) -> NotebookProgress:
        from IPython.display import display

        self._handle = display({"text/plain": ""}, raw=True, display_id=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._handle.update({"text/plain": ""}, raw=True)

    def start(self, what: str) -> Callback:
        """As :meth:`Progress.start`."""

        def callback(seconds: float, cost: float) -> None:
            if time.monotonic() >= self._when + REFRESH:
                self._when = time.monotonic()
                text = f"{what}  {seconds:.1f} s  cost {number(float(cost))}"
                self._handle.update({"text/plain": text}, raw=True)

        return callback


def in_notebook() -> bool:
    """Whether this runs in a kernel that shows HTML, of Jupyter for instance."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ not in ("NoneType", "TerminalInteractiveShell")


@contextmanager
def showing(what: str | None, callback: Callback | None) -> Iterator[Callback | None]:
    """A callback for a method that shows progress and calls the given callback.

    Parameters
    ----------
    what : str or None
        The name of the work; with None, nothing is shown.
    callback : callable, optional
        Whose true return value stops the run.
    """
    if what is None:
        yield callback
        return
    with NotebookProgress() if in_notebook() else Progress(1) as display:
        show = display.start(what)

        def both(seconds: float, cost: float) -> object:
            if show is not None:
                show(seconds, cost)
            return callback(seconds, cost) if callback is not None else False

        yield both
