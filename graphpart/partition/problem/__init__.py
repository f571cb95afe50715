"""The set partition problem: what it holds, how people bring it, and what is derived from it.

`pair_costs` holds the arrays, which `inputs` checks; `from_data` takes data frames, similarities, grids and graphs of
other libraries, by `frames`, `matrices`, `grids` and `probabilities`; `misreadings` warns of numbers that probably mean
something else. `background` is the cost of all pairs that are not listed, `networks` what needs one: modularity, the
constant Potts model, cluster editing. `labels` takes a partition in any form; `derived` contracts and restricts
problems. `set_partition` is the face of all this, the class that users meet. `contraction` takes labels to a contracted
problem and back. `components` and `blocks` split a problem, `finish` turns labels into a result. Every other room of
`partition` imports from here, and this one from none of them.
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
