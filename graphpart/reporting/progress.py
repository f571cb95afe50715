"""Cost and lower bound over time."""

from __future__ import annotations

import math

from graphpart.reporting.charts import Chart, figure, source
from graphpart.reporting.payload import ROWS
from graphpart.result import Result

__all__ = ["progress_chart"]

COST, BOUND = "#4477aa", "#ee6677"


def progress_chart(result: Result, remarks: list[str]) -> Chart | None:
    """Both curves; None where there is nothing to draw."""
    costs, bounds = [*result.history], [*result.bounds]
    if math.isfinite(result.cost):
        costs.append((max(result.seconds, _last(costs)), result.cost))
    if math.isfinite(result.lower_bound):  # a certificate made later may have a better one
        bounds.append((max(result.seconds, _last(bounds)), result.lower_bound))
    if not costs:
        return None
    longest = max(len(costs), len(bounds))
    if longest > ROWS:
        remarks.append(
            f"Cost over time: {ROWS} of {longest} steps of a curve are drawn, at equal distance in their order."
        )
    costs, bounds = _thinned(costs), _thinned(bounds)
    ends = [value for _, value in costs + bounds]
    low, high = min(ends), max(ends)
    margin = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    until = max(_last(costs), _last(bounds)) or 1e-6
    unit, factor = ("milliseconds", 1e3) if until < 0.5 else ("seconds", 1.0)
    drawn = figure((0, 1.03 * until * factor), (low - margin, high + margin), aspect=1.7)
    drawn.xaxis.axis_label, drawn.yaxis.axis_label = unit, "cost"
    series = []
    for name, curve, colour, dash in (("cost", costs, COST, "solid"), ("lower bound", bounds, BOUND, "dashed")):
        if curve:
            columns = source(name, x=[s * factor for s, _ in curve], y=[v for _, v in curve])
            drawn.step("x", "y", source=columns, mode="after", color=colour, line_dash=dash, line_width=2, name=name)
            drawn.scatter("x", "y", source=columns, color=colour, size=4 if len(curve) > 2 else 8, name=name)
            series.append({"name": name, "colour": colour, "dash": dash})
    found = f"The last cost, {result.cost:.10g}, was there after {_first(costs):.3g} of {result.seconds:.3g} seconds."
    caption = found if bounds else f"{found} No lower bound is known."
    data = {"kind": "lines", "series": series, "x": unit, "y": ""}
    return Chart("progress", "Cost and lower bound over time", caption, drawn, data)


def _thinned(curve: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(curve) <= ROWS:
        return curve
    return [curve[i * (len(curve) - 1) // (ROWS - 1)] for i in range(ROWS)]


def _last(curve: list[tuple[float, float]]) -> float:
    return curve[-1][0] if curve else 0.0


def _first(curve: list[tuple[float, float]]) -> float:
    """When the last value was there first."""
    return next(seconds for seconds, value in curve if value == curve[-1][1])
