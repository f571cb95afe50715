"""Local search on factor graphs: improve a labeling by small changes until no change improves it.

`icm` (iterated conditional modes), with its kernel beside it, changes one label at a time. Other methods use it to
improve their labelings.
"""
