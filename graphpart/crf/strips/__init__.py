"""Grids: a bound and labelings by strips of some rows, each of which is minimised over exactly.

`contestant` is the contestant for `auto`. `grid` finds the cells of a grid in a factor graph. Kernel: `_strips`.
"""
