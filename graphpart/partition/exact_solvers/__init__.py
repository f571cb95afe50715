"""Optimal partitions, with proof.

`exact` is branch and cut, one `tree` for each component, on the bounds of `bounds` and what `reduction` knows, with a
background by `implicit_parts`; `ilp`
is the integer program with triangle inequalities (found by `separation`) through a solver, an independent reference;
`brute_force` enumerates. `auto` calls those that are within reach.
"""
