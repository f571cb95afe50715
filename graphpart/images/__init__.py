"""Pictures and volumes: from a boundary map to segments.

`segment` does all in one call, and `segment_blocks` does it block by block, for volumes larger than memory.
`boundaries` makes a boundary map of a photograph. `watershed` divides a boundary map into small regions.
`region_graph` finds regions that touch, with features of their boundaries, and makes a set partition problem of them.
`cells` generates volumes.
"""

from graphpart.errors import NoAttribute
from graphpart.images.blockwise import BlockSegmentation, segment_blocks
from graphpart.images.flooding import watershed
from graphpart.images.graph import RegionGraph, region_graph
from graphpart.images.photographs import boundaries
from graphpart.images.segmentation import Segmentation, segment
from graphpart.images.synthetic import cells

__all__ = [
    "BlockSegmentation",
    "RegionGraph",
    "Segmentation",
    "boundaries",
    "cells",
    "region_graph",
    "segment",
    "segment_blocks",
    "watershed",
]


def __getattr__(name: str) -> None:
    """Say what does that here; nothing is imported later."""
    raise NoAttribute(f"module {__name__!r}", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
