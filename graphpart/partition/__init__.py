"""The set partition problem and its algorithms.

All other rooms build on `problem`. `local_search`, `anytime_search` and `exact_solvers` find partitions. `bounds` and
`certificates` prove lower bounds, `proof_trees` that a partition is optimal. `reduction` finds pairs that are known
beforehand. `auto` chooses among all of these. `confidence` says how certain each decision of a partition is.
`extending` adapts an old partition to a problem that has changed.

The rooms are imported when they are first used, so that `import graphpart` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphpart.partition.anytime_search.parameters import SearchParameters
    from graphpart.partition.anytime_search.search import search
    from graphpart.partition.bounds.lower_bound import lower_bound
    from graphpart.partition.certificates.certificate import Certificate
    from graphpart.partition.confidence.doubts import Doubts, doubts
    from graphpart.partition.default import auto
    from graphpart.partition.exact_solvers.brute_force import brute_force
    from graphpart.partition.exact_solvers.ilp import ilp
    from graphpart.partition.extending.extend import ExtendedResult, extend
    from graphpart.partition.local_search.greedy_joining import greedy_joining
    from graphpart.partition.local_search.greedy_moving import greedy_moving
    from graphpart.partition.local_search.kernighan_lin import kernighan_lin
    from graphpart.partition.local_search.kernighan_lin_pairs import kernighan_lin_pairs
    from graphpart.partition.local_search.multilevel import multilevel
    from graphpart.partition.local_search.mutexes import mutex_watershed
    from graphpart.partition.problem import SetPartition
    from graphpart.partition.proof_trees.tree import PartitionProof
    from graphpart.partition.proving import exact
    from graphpart.partition.reduction.persistency import persistency, reduce

__all__ = [
    "Certificate",
    "Doubts",
    "ExtendedResult",
    "PartitionProof",
    "SearchParameters",
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
    "mutex_watershed",
    "persistency",
    "reduce",
    "search",
]
WHERE = {
    "Certificate": "certificates.certificate",
    "Doubts": "confidence.doubts",
    "ExtendedResult": "extending.extend",
    "PartitionProof": "proof_trees.tree",
    "SearchParameters": "anytime_search.parameters",
    "SetPartition": "problem",
    "auto": "default",
    "brute_force": "exact_solvers.brute_force",
    "doubts": "confidence.doubts",
    "exact": "proving",
    "extend": "extending.extend",
    "greedy_joining": "local_search.greedy_joining",
    "greedy_moving": "local_search.greedy_moving",
    "ilp": "exact_solvers.ilp",
    "kernighan_lin": "local_search.kernighan_lin",
    "kernighan_lin_pairs": "local_search.kernighan_lin_pairs",
    "lower_bound": "bounds.lower_bound",
    "multilevel": "local_search.multilevel",
    "mutex_watershed": "local_search.mutexes",
    "persistency": "reduction.persistency",
    "reduce": "reduction.persistency",
    "search": "anytime_search.search",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used."""
    if name not in WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
