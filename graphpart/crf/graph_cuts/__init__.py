"""Minimum cuts for factor graphs: exact where a cut is the energy, bounds and partial labels by roof duality, moves.

`_max_flow` is the kernel of all three. `graph_cut` makes its network through `_ordered`, `roof_duality` through
`_doubled`, `expansion` through `_moves` (cuts) and `_doubled` (moves that are not submodular); `cut_bound` says in
floating point what their fixed-point sums prove.
"""
