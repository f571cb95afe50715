"""Factor graphs (conditional graphical models) and minimisation of their energy.

`problem` is the room that all others build on; `local_search` and `exact_solvers` find labelings. `auto` chooses among
all; `evidence` solves a factor graph some of whose labels are given.
"""

from graphpart.crf.auto import auto
from graphpart.crf.evidence import solve_given
from graphpart.crf.exact_solvers.brute_force import brute_force
from graphpart.crf.exact_solvers.ilp import ilp
from graphpart.crf.exact_solvers.min_sum import Marginals, Messages, marginals, min_sum
from graphpart.crf.local_search.icm import icm
from graphpart.crf.problem import FactorGraph

__all__ = [
    "FactorGraph",
    "Marginals",
    "Messages",
    "auto",
    "brute_force",
    "icm",
    "ilp",
    "marginals",
    "min_sum",
    "solve_given",
]
