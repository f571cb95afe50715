"""Pictures and volumes: from a boundary map to segments.

`region_graph` finds regions that touch, with features of their boundaries.
"""

from graphpart.images.region_graph import RegionGraph, region_graph

__all__ = ["RegionGraph", "region_graph"]
