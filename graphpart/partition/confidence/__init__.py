"""How sure a partition is: by how much its cost would rise if a pair, an element or a cluster were decided otherwise.

`doubts` is the face. `changes` finds the cheapest change for each of them among those that a local search would make,
by the kernels in `_changes`, and exactly where a component or a cluster is small, by those in `_subsets`. Calls local
search and the exact solvers; nothing calls it but users and the command line.
"""
