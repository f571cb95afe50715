"""Local search on set partition problems: from one partition, by small changes, to one that none of them improves.

One file for each algorithm, its kernels (``_*.pyx``) beside it, for costs in a matrix (dense) and in pairs (sparse):
`greedy_joining`, `greedy_moving`, `kernighan_lin`, `kernighan_lin_pairs`. `improve` is what they share. The anytime
search, the exact solvers and `auto` start from what they find.
"""
