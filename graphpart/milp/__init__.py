"""Integer programs over 0/1 variables, through PuLP: the only room that knows PuLP and its solvers.

`solvers` picks a solver and runs it, and `program` states a program for it; both are imported by functions only that
solve integer programs, so that ``import graphpart`` does not load PuLP. `search` proves a solution optimal, also where
large costs drown small ones.
"""
