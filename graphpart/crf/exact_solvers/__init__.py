"""Optimal labelings, with proof.

`min_sum` passes messages on acyclic factor graphs, with kernels for its sums and for marginals. `ilp` states the local
polytope with integer indicators for an outside solver, as an independent reference. `brute_force` enumerates. `auto`
calls those that are fast enough for the problem.
"""
