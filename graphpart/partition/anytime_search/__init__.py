"""The anytime search on set partition problems: better partitions for as long as there is time.

`search` starts, checks arguments and keeps checkpoints; `portfolio` gives rounds of tasks to strategies and keeps the
`pool` of the best partitions. A `strategy` plans and performs tasks: `annealing_rounds`, `population`, `fusion` and
`tabu`, tuned by `parameters`; `annealing` (with its kernels) and `recombination` are what they share. It starts from
`local_search`, and `auto` calls it with the time that proofs leave.
"""
