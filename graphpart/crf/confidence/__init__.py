"""How sure a labeling is: by how much its energy would rise if a variable had another label.

`doubts` is the face: min-marginals where the width is small, by bucket elimination, and else what local search finds
after the change, by the kernel in `_changes`. Nothing calls it but users and the command line.
"""
