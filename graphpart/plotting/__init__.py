"""Pictures of results, with matplotlib (extra ``plot``), which is imported only when something is drawn.

Problems of both kinds draw themselves by what is here, so this room knows no class of theirs, only what it asks them:
`partitions` and `factor_graphs` choose what fits, `graphs`, `maps` and `pictures` draw it.
"""

from graphpart.plotting.factor_graphs import plot_factor_graph
from graphpart.plotting.histories import plot_history
from graphpart.plotting.partitions import plot_changes, plot_partition
from graphpart.plotting.pictures import plot_segments

__all__ = ["plot_changes", "plot_factor_graph", "plot_history", "plot_partition", "plot_segments"]


def __dir__() -> list[str]:
    return sorted(__all__)
