"""The anytime search on set partition problems: better partitions for as long as there is time.

`search` checks arguments, makes the start and keeps checkpoints. `portfolio` gives rounds of tasks to strategies and
keeps the `pool` of the best partitions. A `strategy` plans and performs tasks: `core_annealing`, `annealing_rounds`,
`restarts`, `fusion`, `evolution` and `drifting` (label propagation, reheating), with the numbers in `parameters`. They
share `annealing` (with its kernels) and `recombination`. The search starts from the results of `local_search`. `auto`
calls it in turn with proofs.
"""
