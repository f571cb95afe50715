"""The solver HiGHS, directly or through PuLP: whether it can be used, and an instance without output."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from graphpart.errors import GraphPartError, MissingDependency, SolverError

__all__ = ["fault", "silent", "simplex"]

NEEDED = ("resetGlobalScheduler", "HandleUserInterrupt", "cancelSolve")  # highspy has all of them since 1.8


def fault() -> GraphPartError | None:
    """Why HiGHS cannot be used, as an exception to raise; None if it can.

    Returns
    -------
    MissingDependency, SolverError or None
        The former if the package highspy is not installed; SolverError if it is, but too old or damaged.

    Examples
    --------
    >>> error = fault()
    >>> error is None or "highspy" in str(error)
    True
    """
    if find_spec("highspy") is None:
        return MissingDependency("highspy", "highs", "the solver highs")
    try:
        import highspy
    except Exception as error:  # any exception of a damaged installation
        why = " ".join(f"{type(error).__name__}: {error}".split())
        return SolverError(f"the solver highs: the package highspy is installed but cannot be imported ({why})")
    if not all(hasattr(highspy.Highs, name) for name in NEEDED):
        try:
            found = version("highspy")
        except PackageNotFoundError:
            found = "an older one"
        return SolverError(
            f"the solver highs needs highspy 1.8 or newer, found {found}: pip install --upgrade 'graphpart[highs]'"
        )
    return None


def silent() -> Any:
    """An instance of HiGHS that prints nothing.

    HiGHS 1.16 prints its name as soon as it is told of callbacks, which its constructor does: before a caller could set
    an option.

    Returns
    -------
    highspy.Highs
    """
    import highspy

    class Silent(highspy.Highs):  # type: ignore[misc,unused-ignore]
        def enableCallbacks(self) -> None:
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()  # type: ignore[no-untyped-call,unused-ignore]

    return Silent()  # type: ignore[no-untyped-call,unused-ignore]


def simplex(threads: int, ends: Callable[[], bool]) -> Any:
    """HiGHS without output, with the simplex method at first; `ends` is asked now and then whether a run has to end."""
    import highspy

    # All instances of a process share threads, and an earlier user of HiGHS may have set another number.
    highspy.Highs.resetGlobalScheduler(True)
    highs = silent()
    for option, value in (
        ("threads", threads),
        ("parallel", "off" if threads == 1 else "on"),
        ("presolve", "off"),
        ("solver", "simplex"),
    ):
        highs.setOptionValue(option, value)
    looked = -math.inf

    def look(kind: Any, message: str, out: Any, into: Any, data: Any) -> None:
        """Called at every step of a method, so that Ctrl-C, callbacks and limits end it at once."""
        nonlocal looked
        now = time.perf_counter()
        if now > looked + 0.05:
            looked = now
            into.user_interrupt = ends()
        else:
            into.user_interrupt = False  # what ended the run before does not end this one

    highs.setCallback(look, None)
    kinds = highspy.cb.HighsCallbackType
    highs.startCallback(kinds.kCallbackSimplexInterrupt)
    highs.startCallback(kinds.kCallbackIpmInterrupt)
    return highs
