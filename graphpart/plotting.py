"""Pictures of results, with matplotlib (extra ``plot``), which is imported only when something is drawn."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphpart.errors import InvalidOption, MissingDependency
from graphpart.files.source import replacing
from graphpart.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["check_picture", "plot_history", "save_history"]


def plot_history(result: Result, ax: Axes | None = None) -> Axes:
    """Draw the cost, and the lower bound where there is one, against time.

    Parameters
    ----------
    result : Result
        Its `history` is drawn, and ``info["bounds"]`` or else `lower_bound`.
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
    if ax is None:
        ax = _pyplot().figure().add_subplot()
    costs = _best_so_far(result.history, min)
    ax.step(*zip(*costs, strict=True), where="post", label=f"cost {result.cost:.6g}", color="tab:blue")
    bounds = list(result.info.get("bounds", ()))
    if not bounds and math.isfinite(result.lower_bound):
        bounds = [(result.seconds, result.lower_bound)]
    if bounds and math.isfinite(result.lower_bound):
        bounds = _best_so_far([*bounds, (max(result.seconds, bounds[-1][0]), result.lower_bound)], max)
        marker = "o" if len(bounds) < 3 else None
        ax.step(
            *zip(*bounds, strict=True),
            where="post",
            marker=marker,
            label=f"lower bound {result.lower_bound:.6g}",
            color="tab:orange",
        )
    ax.set_xlabel("seconds")
    ax.set_ylabel("cost")
    ax.set_title(f"{result.method}: {result.status}")
    ax.legend()
    return ax


def check_picture(path: str) -> None:
    """Raise before any work is done if a picture of this name could not be drawn: MissingDependency, InvalidOption."""
    kinds = _pyplot().Figure().canvas.get_supported_filetypes()
    if Path(path).suffix.lower().removeprefix(".") not in kinds:
        raise InvalidOption(f"{path!r} is no name of a picture: expected one that ends in .{', .'.join(sorted(kinds))}")


def save_history(result: Result, path: str) -> None:
    """Draw `plot_history` into a file, of the kind that its name says."""
    plt = _pyplot()
    figure = plt.figure()
    try:
        plot_history(result, figure.add_subplot())
        with replacing(path) as stream:
            figure.savefig(stream, format=Path(path).suffix.lower().removeprefix("."), bbox_inches="tight")
    finally:
        plt.close(figure)


def _best_so_far(points: Any, better: Any) -> list[tuple[float, float]]:
    """The points of a curve that never gets worse, without those that are not finite."""
    curve: list[tuple[float, float]] = []
    for seconds, value in points:
        if math.isfinite(value):
            curve.append((seconds, better(value, curve[-1][1]) if curve else value))
    return curve or [(0.0, math.nan)]


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingDependency("matplotlib", "plot", "drawing") from None
    return pyplot
