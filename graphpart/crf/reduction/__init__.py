"""Partial optimality in factor graphs: labels that some or all optimal labelings have, or do not have.

`persistency` reports the known labels; `reduce` removes them from the problem and keeps a way back. Both go through the
list `STEPS` in `persistency.py`. Each step finds labels that can be left out: `_dead_ends` for any tables, `graph_cuts`
(roof duality) for binary pairs, `improving_mapping`, by the bound of message passing, for all others.
`_dead_ends.restrict` makes the smaller tables. `contraction` makes one variable of several whose labels follow from
each other.
"""
