"""Optimal labelings, with proof.

`min_sum` passes messages on acyclic factor graphs, with kernels for its sums and for marginals; `ilp` is the local
polytope with integer indicators through a solver, an independent reference; `brute_force` enumerates. `auto` calls
those that are within reach.
"""
