"""Charts by Bokeh, which draws on a canvas of the browser, as JSON that the page hands to BokehJS.

The script of Bokeh has 1.3 MB. It draws images and ten thousands of points and lines on a canvas, and runs under a
policy that forbids all other scripts. Only numbers are passed to Bokeh: the page's own script writes the text about the
object under the pointer.

Bokeh numbers identifiers consecutively within a process. They are renumbered for each chart, so that the same input
gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from graphpart.errors import MissingDependency

__all__ = ["Chart", "bokeh_script", "check_report", "figure", "item_of", "models", "source"]

DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#997700", "#ee8866", "#44bb99", "#bb5566",
    "#77aadd", "#99aa33",
)  # fmt: skip  # Tol (2021), told apart by people who see colours otherwise, on light and dark ground


@dataclass(frozen=True)
class Chart:
    """A chart of the page.

    Attributes
    ----------
    key : str
        Its identifier in the page.
    title, caption : str
        Its contents, and how to read it.
    figure : bokeh figure
    data : dict
        Data for the page's script, beside the figure.
    wide : bool
        Whether it takes the full width of the page.
    """

    key: str
    title: str
    caption: str
    figure: Any
    data: dict[str, Any] = field(default_factory=dict)
    wide: bool = False


def check_report() -> None:
    """Raise MissingDependency before any work is done, if reports cannot be made here."""
    _bokeh()


def figure(x: Any, y: Any, *, aspect: float, axes: bool = True, x_log: bool = False, y_log: bool = False) -> Any:
    """An empty figure without toolbar, that is dragged, and zoomed by Ctrl and the wheel; x and y are (start, end).

    Parameters
    ----------
    x, y : (float, float)
        The ranges.
    aspect : float
        Width over height.
    axes : bool
        Whether axes and grid lines are drawn.
    x_log, y_log : bool
        Whether axes are logarithmic.
    """
    made = models()
    drawn: Any = import_module("bokeh.plotting").figure(
        x_range=made.Range1d(*map(float, x)),
        y_range=made.Range1d(*map(float, y)),
        x_axis_type="log" if x_log else "linear",
        y_axis_type="log" if y_log else "linear",
        aspect_ratio=aspect,
        sizing_mode="scale_width",
        toolbar_location=None,
        tools=[made.PanTool(), made.WheelZoomTool(modifiers="ctrl", zoom_on_axis=False)],
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
    )
    for axis, log in ((drawn.xaxis, x_log), (drawn.yaxis, y_log)):
        if not log:
            axis.formatter.use_scientific = False
            axis.ticker.desired_num_ticks = 5
    if not axes:
        drawn.axis.visible = False
        drawn.grid.visible = False
        drawn.min_border = 0
    return drawn


def source(name: str, **columns: Any) -> Any:
    """Columns of numbers that the page's script finds by name."""
    return models().ColumnDataSource(columns, name=name)


def models() -> Any:
    """The classes that Bokeh draws with; its hints of types differ between versions, so it counts as untyped here."""
    _bokeh()
    return import_module("bokeh.models")


def item_of(chart: Chart) -> Any:
    """The description of a chart for BokehJS, with identifiers that no other chart of the page has."""
    return _renumbered(import_module("bokeh.embed").json_item(chart.figure), chart.key, {})


def _renumbered(value: Any, prefix: str, known: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: known.setdefault(part, f"{prefix}-{len(known)}")
            if key in ("id", "root_id") and isinstance(part, str)
            else _renumbered(part, prefix, known)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_renumbered(part, prefix, known) for part in value]
    return value


def bokeh_script() -> str:
    """The script that draws, 1.3 MB."""
    script = Path(_bokeh().__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
    return script.read_text("utf-8")


def _bokeh() -> Any:
    try:
        return import_module("bokeh")
    except ImportError:
        raise MissingDependency("bokeh", "report", "a report") from None
