"""Partial optimality in factor graphs: labels that some or all optimal labelings have, or do not have.

`reduce` removes what is known and keeps a way back; `persistency` says what is known. Both go through the list `STEPS`
in `persistency.py`, each of which says which labels can be left out: `_dead_ends` for any tables, `graph_cuts` (roof
duality) for binary pairs, `improving_mapping`, by the bound of message passing, for all others. `_dead_ends.restrict`
makes the smaller tables.
"""
