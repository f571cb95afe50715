"""Pictures and volumes: from a boundary map to segments.

`segment` does all in one call. `boundaries` makes a boundary map of a photograph. `watershed` divides a boundary map into
small regions. `region_graph` finds regions that touch, with features of their boundaries, and makes a set partition
problem of them.
"""

from graphpart.images.photographs import boundaries
from graphpart.images.graph import RegionGraph, region_graph
from graphpart.images.segmentation import Segmentation, segment
from graphpart.images.flooding import watershed

__all__ = ["RegionGraph", "Segmentation", "boundaries", "region_graph", "segment", "watershed"]
