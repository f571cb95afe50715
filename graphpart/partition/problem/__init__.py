"""The set partition problem: its costs, what clusters must obey, and its forms.

`pair_costs` holds the arrays. `background` is a cost of all pairs, listed or not, of which `groups` are a part.
`requirements` is what clusters must obey, as users say it; `rules` is the same by indices, with `limits` and
`connectedness`. `forms` turns one form of a problem into another and says what each costs; `derived` contracts,
restricts and extends problems. `set_partition` has the public class, `from_data`, `from_others` and `networks` its
constructors. `misreadings` warns of numbers that probably have another meaning. `labels` takes a partition in any form,
`staying` compares it with an old one, and `moves` finds what is least sure. Every later room of `partition` imports
from this one, which imports only from `inputs`.
"""

from graphpart.partition.inputs.arrays import check_matrix_fits
from graphpart.partition.inputs.probabilities import costs_from_probabilities
from graphpart.partition.problem.labels import canonical
from graphpart.partition.problem.pair_costs import Labels
from graphpart.partition.problem.set_partition import SetPartition, as_problem

__all__ = [
    "Labels",
    "SetPartition",
    "as_problem",
    "canonical",
    "check_matrix_fits",
    "costs_from_probabilities",
]
