"""Factor graphs (conditional graphical models) and minimisation of their energy."""

from graphpart.crf.auto import auto
from graphpart.crf.brute_force import brute_force
from graphpart.crf.evidence import solve_given
from graphpart.crf.factor_graph import FactorGraph
from graphpart.crf.icm import icm
from graphpart.crf.ilp import ilp
from graphpart.crf.min_sum import Marginals, Messages, marginals, min_sum

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
