"""Cost and lower bound against time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from graphpart.errors import InvalidOption
from graphpart.files.source import replacing
from graphpart.plotting.figures import axes_for, picture
from graphpart.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_history", "save_history"]


def plot_history(result: Result, ax: Axes | None = None) -> Axes:
    """Draw the cost, and the lower bound where there is one, against time.

    Parameters
    ----------
    result : Result
        Its `history` and its `bounds` are drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    InvalidOption
        If the result has no history.
    """
    if not result.history:
        raise InvalidOption(f"the result of method {result.method} has no history: nothing to draw")
    ax = axes_for(ax)
    ax.step(*zip(*result.history, strict=True), where="post", label=f"cost {result.cost:.6g}", color="tab:blue")
    if math.isfinite(result.lower_bound):
        bounds = [*result.bounds, (result.seconds, result.lower_bound)]
        ax.step(
            *zip(*bounds, strict=True),
            where="post",
            marker="o" if len(bounds) < 3 else None,
            label=f"lower bound {result.lower_bound:.6g}",
            color="tab:orange",
        )
    ax.set_xlabel("seconds")
    ax.set_ylabel("cost")
    ax.set_title(f"{result.method}: {result.status}")
    ax.legend()
    return ax


def save_history(result: Result, path: str) -> None:
    """Draw `plot_history` into a file, of the kind that its name says."""
    figure = picture()
    plot_history(result, figure.add_subplot())
    with replacing(path) as stream:
        figure.savefig(stream, format=Path(path).suffix.lower().removeprefix("."), bbox_inches="tight")
