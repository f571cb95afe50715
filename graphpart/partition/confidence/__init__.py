"""How certain a partition is: the rise of its cost if a pair, an element or a cluster were decided otherwise.

`doubts` is the public function. For each pair, element and cluster, `changes` finds the cheapest change: among the
changes that a local search would make, by the kernels in `_changes`, and exactly in small components and clusters, by
the kernels in `_subsets`. This room calls local search and the exact solvers; only users and the command line call it.
"""
