"""The set partition problem: its arrays, how users build it, and what is derived from it.

`pair_costs` contains the arrays, which `inputs` checks. `from_data` takes data frames, similarities, grids and graphs
of other libraries, by `frames`, `matrices`, `grids` and `probabilities`. `misreadings` warns of numbers that probably
have another meaning. `background` is a cost of all pairs, listed or not; `networks` has problems with a background:
modularity, the constant Potts model, cluster editing. `labels` takes a partition in any form. `derived` contracts and
restricts problems. `set_partition` has the public class. `components` and `blocks` split a problem, and `finish` turns
labels into a result. Every other room of `partition` imports from this one, which imports from none of them.
"""

from graphpart.partition.problem.inputs import LARGEST_N, check_matrix_fits
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.probabilities import costs_from_probabilities
from graphpart.partition.problem.set_partition import SetPartition, as_problem

__all__ = [
    "LARGEST_N",
    "Labels",
    "SetPartition",
    "as_problem",
    "canonical",
    "check_matrix_fits",
    "costs_from_probabilities",
]
