"""Progress of runs, by rich: on a terminal, or below the cell of a notebook; nowhere else.

A run is one line: how long it has taken, what is worked on, the least cost so far, the best lower bound, and the gap
between the two in per cent of the cost. The line fits the width of the terminal: the name of the work is shortened,
if possible by leaving out what stands after a comma.
"""

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

from graphpart.display.facts import number, percent, shortened

__all__ = ["Callback", "Display", "Progress", "on_terminal", "showing", "state_text"]

Callback = Callable[[float, float], object]
LOGGER = logging.getLogger("graphpart")
BAR = 10  # cells of the bar of pieces of work


class Lines(logging.Handler):
    """Prints what methods write to their loggers above the progress of a rich console, a line each."""

    def __init__(self, console: Any) -> None:
        super().__init__(logging.INFO)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        self._console.print(record.getMessage(), markup=False, highlight=False)


class Display:
    """The callback of one run: keeps its best cost and bound, and shows both.

    Parameters
    ----------
    show : callable
        ``show(seconds, cost, bound)``.
    callback : callable, optional
        Is called as well, and its true return value stops the run.
    """

    def __init__(self, show: Callable[[float, float, float], None], callback: Callback | None = None) -> None:
        self._show, self._callback = show, callback
        self._on_bound = getattr(callback, "on_bound", None)
        self.cost, self.bound = math.inf, -math.inf

    def __call__(self, seconds: float, cost: float) -> object:
        self.cost = cost
        self._show(seconds, self.cost, self.bound)
        return self._callback(seconds, cost) if self._callback is not None else False

    def on_bound(self, seconds: float, bound: float) -> None:
        """A better lower bound."""
        self.bound = bound
        self._show(seconds, self.cost, self.bound)
        if self._on_bound is not None:
            self._on_bound(seconds, bound)


def state_text(cost: float, bound: float) -> str:
    """Cost, bound and gap, as far as they are known.

    Examples
    --------
    >>> state_text(-8.0, -10.0), state_text(-8.0, float("-inf"))
    ('cost -8  bound -10  gap 25%', 'cost -8')
    """
    parts = [f"cost {number(float(cost))}"] if math.isfinite(cost) else []
    if math.isfinite(bound):
        parts.append(f"bound {number(float(bound))}")
        if parts[1:] and cost:
            parts.append(f"gap {percent(max(0.0, (cost - bound) / abs(cost)))}")
    return "  ".join(parts)


def fitting(what: str, room: int) -> str:
    """The name of the work without what stands after its last commas, as far as it is too long; else shortened."""
    while len(what) > room and ", " in what:
        what = what.rpartition(", ")[0]
    return shortened(what, room)


class Progress:
    """A line on standard error if that is a terminal; else nothing is shown.

    Lines that long methods write to their loggers every second go there, too.

    Parameters
    ----------
    total : int
        Pieces of work. If there is more than one, the line shows how many are done.
    """

    def __init__(self, total: int) -> None:
        self._rich: Any = None
        if on_terminal(sys.stderr):
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as RichProgress

            console = Console(stderr=True)
            pieces = [MofNCompleteColumn(), BarColumn(BAR)] if total > 1 else []
            self._rich = RichProgress(
                SpinnerColumn(), *pieces, TimeElapsedColumn(), TextColumn("{task.description}", markup=False),
                console=console, transient=True, redirect_stdout=False,
            )  # fmt: skip
            used = len("S 0:00:00 ") + (2 * len(str(total)) + len("/ ") + BAR + 1 if total > 1 else 0)
            self._room = console.width - used - 1
            self._task = self._rich.add_task("", total=total)
            self._lines = Lines(console)

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

    def start(self, what: str, callback: Callback | None = None) -> Callback | None:
        """Show what is worked on now; the callback of the run: `callback`, and what shows its cost and bound."""
        if self._rich is None:
            return callback

        def show(seconds: float, cost: float, bound: float) -> None:
            state = state_text(cost, bound)
            room = max(12, self._room - len(state) - 2) if state else self._room
            self._rich.update(self._task, description=f"{fitting(what, room)}  {state}".rstrip())

        show(0.0, math.inf, -math.inf)
        return Display(show, callback)

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
        from IPython import display

        show: Any = display.display
        self._handle = show({"text/plain": ""}, raw=True, display_id=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)

    def start(self, what: str, callback: Callback | None = None) -> Callback:
        """As :meth:`Progress.start`."""

        def show(seconds: float, cost: float, bound: float) -> None:
            if self._handle is not None and time.monotonic() >= self._when + 0.25:
                self._when = time.monotonic()
                text = f"{what}  {seconds:.1f} s  {state_text(cost, bound)}"
                self._handle.update({"text/plain": text}, raw=True)

        return Display(show, callback)


def in_notebook() -> bool:
    """Whether this runs in a kernel that shows HTML, of Jupyter for instance."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ not in ("NoneType", "TerminalInteractiveShell")


@contextmanager
def showing(what: str | None, callback: Callback | None) -> Iterator[Callback | None]:
    """A callback for a method: the given one, and one that shows its progress to people.

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
        yield display.start(what, callback)
