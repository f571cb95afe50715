"""Pictures of results, with matplotlib (extra ``plot``), which is imported only when something is drawn.

Problems of both kinds use these functions to draw themselves. So this room imports none of their classes, and only
calls their methods: `partitions` and `factor_graphs` choose what fits, `graphs`, `maps` and `pictures` draw it.
"""

from typing import Any

from graphpart.errors import NoAttribute
from graphpart.plotting.factor_graphs import plot_factor_graph
from graphpart.plotting.histories import plot_history
from graphpart.plotting.partitions import plot_changes, plot_partition
from graphpart.plotting.pictures import plot_segments

__all__ = ["plot_changes", "plot_factor_graph", "plot_history", "plot_partition", "plot_segments"]


def __getattr__(name: str) -> Any:
    raise NoAttribute(f"module {__name__!r}", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
