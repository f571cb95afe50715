"""Labelled partitions: every element gets a cluster and a class, and pairs have costs that depend on both.

`labeled_partition` has the problem; `arrays` checks its arrays, `graphs` reads them from networkx, `solutions` takes
clusters and classes in any form, `results` makes results. `halves` has the two problems that are left if classes or
clusters are fixed: one of set partition, one of a factor graph. `finite` replaces forbidden costs for kernels, and
makes elements of whole clusters. `joining`, `moving` and `alternating` find solutions, `bounding` proves lower bounds,
`ilp` and `brute_force` solve small problems exactly, `choosing` has `auto` and `search`, and `doubts` says how certain
a solution is.

This room uses `partition` and `crf`, which do not know it.
"""

from graphpart.labeled.alternating import alternating
from graphpart.labeled.bounding import LabeledCertificate, lower_bound
from graphpart.labeled.brute_force import brute_force
from graphpart.labeled.choosing import auto, search
from graphpart.labeled.doubts import LabeledDoubts, doubts
from graphpart.labeled.ilp import ilp
from graphpart.labeled.joining import greedy_joining
from graphpart.labeled.labeled_partition import LabeledPartition
from graphpart.labeled.moving import kernighan_lin
from graphpart.labeled.results import LabeledResult

__all__ = [
    "LabeledCertificate",
    "LabeledDoubts",
    "LabeledPartition",
    "LabeledResult",
    "alternating",
    "auto",
    "brute_force",
    "doubts",
    "greedy_joining",
    "ilp",
    "kernighan_lin",
    "lower_bound",
    "search",
]


def __dir__() -> list[str]:
    return sorted(__all__)
