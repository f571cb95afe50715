"""Seeded instances with planted truth: each generator returns an Instance, the pair (problem, truth)."""

from graphpart.generate.cluster_editing import cluster_editing
from graphpart.generate.correlations import correlations
from graphpart.generate.digits import digits
from graphpart.generate.families import FAMILIES, Family, Parameter, find_family
from graphpart.generate.grid import grid
from graphpart.generate.instance import Instance
from graphpart.generate.modularity import modularity
from graphpart.generate.planted_partition import planted_partition
from graphpart.generate.sparse_random import sparse_random
from graphpart.generate.uniform_integers import uniform_integers

__all__ = [
    "FAMILIES",
    "Family",
    "Instance",
    "Parameter",
    "cluster_editing",
    "correlations",
    "digits",
    "find_family",
    "grid",
    "modularity",
    "planted_partition",
    "sparse_random",
    "uniform_integers",
]
