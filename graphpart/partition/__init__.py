"""The set partition problem and its algorithms.

`problem` is the room that all others build on; `local_search`, `anytime_search` and `exact_solvers` find partitions;
`bounds` and `certificates` prove how good they are; `reduction` is what is known beforehand. `auto` chooses among all;
`confidence` says how sure a partition is; `extending` takes an old one to a problem that has changed.
"""

from graphpart.partition.anytime_search.search import search
from graphpart.partition.auto import auto
from graphpart.partition.bounds.lower_bound import lower_bound
from graphpart.partition.certificates.certificate import Certificate
from graphpart.partition.confidence.doubts import Doubts, doubts
from graphpart.partition.exact_solvers.brute_force import brute_force
from graphpart.partition.exact_solvers.exact import exact
from graphpart.partition.exact_solvers.ilp import ilp
from graphpart.partition.extending.extend import ExtendedResult, extend
from graphpart.partition.local_search.greedy_joining import greedy_joining
from graphpart.partition.local_search.greedy_moving import greedy_moving
from graphpart.partition.local_search.kernighan_lin import kernighan_lin
from graphpart.partition.local_search.kernighan_lin_pairs import kernighan_lin_pairs
from graphpart.partition.local_search.multilevel import multilevel
from graphpart.partition.problem import SetPartition
from graphpart.partition.reduction.persistency import persistency, reduce

__all__ = [
    "Certificate",
    "Doubts",
    "ExtendedResult",
    "SetPartition",
    "auto",
    "brute_force",
    "doubts",
    "exact",
    "extend",
    "greedy_joining",
    "greedy_moving",
    "ilp",
    "kernighan_lin",
    "kernighan_lin_pairs",
    "lower_bound",
    "multilevel",
    "persistency",
    "reduce",
    "search",
]
