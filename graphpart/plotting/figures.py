"""Figures of matplotlib (extra ``plot``), which is imported only when something is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphpart.errors import InvalidOption, MissingDependency

__all__ = ["axes_for", "check_picture", "colour_bar", "picture", "pyplot"]


def axes_for(ax: Any = None) -> Any:
    """The axes that are given, else those of a new figure.

    Raises
    ------
    InvalidOption
        If something else is given, such as the name of a file.
    """
    if ax is not None and not hasattr(ax, "get_figure"):
        raise InvalidOption(f"ax is {ax!r}: expected axes of matplotlib; .plot().figure.savefig('picture.png') saves")
    return pyplot().figure(layout="constrained").add_subplot() if ax is None else ax


def check_picture(path: str) -> None:
    """Raise MissingDependency or InvalidOption, before any work is done, if a picture of this name cannot be drawn."""
    kinds = pyplot().Figure().canvas.get_supported_filetypes()
    if Path(path).suffix.lower().removeprefix(".") not in kinds:
        raise InvalidOption(f"{path!r} is no name of a picture: expected one that ends in .{', .'.join(sorted(kinds))}")


def colour_bar(drawn: Any, ax: Any, label: str, **options: Any) -> None:
    """A colour bar beside axes, which stays there whatever lays the figure out later, such as `tight_layout`."""
    ax.figure.colorbar(drawn, cax=ax.inset_axes((1.03, 0, 0.04, 1)), label=label, **options)


def picture() -> Any:
    """A new figure that no window shows."""
    pyplot()
    from matplotlib.figure import Figure

    return Figure(layout="constrained")


def pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingDependency("matplotlib", "plot", "drawing") from None
    return pyplot
