"""Local search on factor graphs: from one labeling, by small changes, to one that none of them improves.

`icm` changes one label at a time (iterated conditional modes), its kernel beside it. `auto` calls it where cycles are
too large for a proof.
"""
