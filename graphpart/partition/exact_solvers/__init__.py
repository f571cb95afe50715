"""Optimal partitions, with proof.

`branch_and_cut` solves one `tree` for each block of a component, with `bounds` and `reduction`;
`regions` raises the bound of large ones where the gap is. `ilp` is the integer program with triangle inequalities
(found by `separation`) through a solver, an independent reference. `brute_force` goes through all partitions of few
elements.
"""
