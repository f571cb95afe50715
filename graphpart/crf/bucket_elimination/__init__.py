"""Elimination: exact answers for factor graphs of small width, for any arity and domains.

`order.py` finds the order in which variables are eliminated, and computes width and memory before anything is
allocated. `plan.py` determines which tables are summed at which variable. `elimination.py` minimises, `inference.py`
computes min-marginals, marginals, log Z and samples, `best.py` the m best labelings.

The kernels are `_order` (with the graph of variables), `_plan`, then `_messages` (sums and minima towards the roots,
and back from them) and `_descend` (labels, variable by variable), which share `walks.pxd`.
"""

from graphpart.crf.bucket_elimination.best import Labelings, m_best
from graphpart.crf.bucket_elimination.elimination import elimination
from graphpart.crf.bucket_elimination.inference import log_partition, marginals, min_marginals, samples
from graphpart.crf.bucket_elimination.order import EliminationOrder, elimination_order

__all__ = [
    "EliminationOrder",
    "Labelings",
    "elimination",
    "elimination_order",
    "log_partition",
    "m_best",
    "marginals",
    "min_marginals",
    "samples",
]
