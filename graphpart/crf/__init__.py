"""Factor graphs (conditional graphical models) and minimisation of their energy.

All other rooms build on `problem`. `local_search`, `graph_cuts`, `bucket_elimination`, `exact_solvers` and
`branch_and_bound` find labelings; `anytime_search` and `binary_quadratic` find better ones for as long as there is
time. `bounds` and `certificates` prove lower bounds, `proof_trees` that a labeling is optimal. `reduction` finds labels
that are known beforehand. `approximate_inference` computes marginals if exact ones take too long. `auto` in `choosing`
chooses among all of these and keeps results in `outcomes`; `hard_component` is the race of `contestants` on components
for which no method is exact. `evidence` solves with some labels given, and `confidence` says how certain each label is.
"""

from typing import TYPE_CHECKING, Any

from graphpart.crf.anytime_search.searching import search
from graphpart.crf.approximate_inference.loopy import ApproximateMarginals, approximate_marginals
from graphpart.crf.bounds.lower_bound import lower_bound
from graphpart.crf.bounds.message_passing import message_passing
from graphpart.crf.branch_and_bound.proving import exact
from graphpart.crf.bucket_elimination.best import Labelings, m_best
from graphpart.crf.bucket_elimination.elimination import elimination
from graphpart.crf.bucket_elimination.inference import log_partition, marginals, min_marginals, samples
from graphpart.crf.bucket_elimination.order import EliminationOrder, elimination_order
from graphpart.crf.certificates.certificate import Certificate
from graphpart.crf.choosing import auto
from graphpart.crf.confidence.doubts import LabelDoubts, doubts
from graphpart.crf.evidence import solve_given
from graphpart.crf.exact_solvers.brute_force import brute_force
from graphpart.crf.exact_solvers.ilp import ilp
from graphpart.crf.exact_solvers.integer_programs import IntegerProgram, from_milp, from_pulp, to_milp, to_pulp
from graphpart.crf.exact_solvers.min_sum import Marginals, Messages, min_sum
from graphpart.crf.graph_cuts.expansion import expansion
from graphpart.crf.graph_cuts.graph_cut import graph_cut
from graphpart.crf.graph_cuts.roof_duality import RoofDuality, roof_duality
from graphpart.crf.local_search.icm import icm
from graphpart.crf.problem import FactorGraph
from graphpart.crf.reduction.persistency import LabelingReduction, Persistency, persistency, reduce

if TYPE_CHECKING:
    from graphpart.crf.proof_trees.tree import LabelingProof

__all__ = [
    "ApproximateMarginals",
    "Certificate",
    "EliminationOrder",
    "FactorGraph",
    "IntegerProgram",
    "LabelDoubts",
    "LabelingProof",
    "LabelingReduction",
    "Labelings",
    "Marginals",
    "Messages",
    "Persistency",
    "RoofDuality",
    "approximate_marginals",
    "auto",
    "brute_force",
    "doubts",
    "elimination",
    "elimination_order",
    "exact",
    "expansion",
    "from_milp",
    "from_pulp",
    "graph_cut",
    "icm",
    "ilp",
    "log_partition",
    "lower_bound",
    "m_best",
    "marginals",
    "message_passing",
    "min_marginals",
    "min_sum",
    "persistency",
    "potts",
    "reduce",
    "roof_duality",
    "samples",
    "search",
    "solve_given",
    "to_milp",
    "to_pulp",
]

potts = FactorGraph.potts


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import LabelingProof when it is first used: it loads all that checks certificates."""
    if name != "LabelingProof":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from graphpart.crf.proof_trees.tree import LabelingProof

    return LabelingProof
