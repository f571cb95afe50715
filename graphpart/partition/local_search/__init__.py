"""Local search on set partition problems: improve a partition by small changes until no change improves it.

There is one file for each algorithm: `greedy_joining`, `greedy_moving`, `kernighan_lin`, `kernighan_lin_pairs`,
`multilevel`; others start from `join_in_rounds` on large problems. The kernels (``_*.pyx``) beside them are for costs
in a matrix (dense) and in pairs (sparse). `improve` is the part that all share. The anytime search, the
exact solvers and `auto` start from the results.
"""
