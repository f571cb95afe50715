"""How certain the labels of a labeling are: the rise of its energy if a variable had another label.

`doubts` is the public function. It computes min-marginals by bucket elimination if the width is small, and otherwise
the energies that local search finds after a change, by the kernel in `_changes`. Only users and the command line call
it.
"""
