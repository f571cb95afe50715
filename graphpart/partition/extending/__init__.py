"""An old partition for a problem that has changed.

`extend` is the face, and solves what is near a change. `frozen` places new elements only; `solver` runs the method on
what is left to decide; `old` reads the old partition, finds what has changed, and gives clusters their old labels.
"""
