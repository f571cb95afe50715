"""Minimum cuts for factor graphs: exact minimisation of submodular energies, roof duality, and expansion moves.

`_max_flow` is the kernel of all three. `graph_cut` makes its network by `_ordered`, `roof_duality` by `_doubled`,
`expansion` by `_moves` (submodular moves) and `_doubled` (other moves). `cut_bound` converts the bound from fixed-point
sums to a floating-point number.
"""
