"""The anytime search on set partition problems: better partitions for as long as there is time.

`search` deals out tasks in rounds and keeps the pool of the best partitions; `annealing` (with its kernels),
`recombination` and `population` are what tasks are made of. It starts from `local_search`, and `auto` calls it with the
time that proofs leave.
"""
