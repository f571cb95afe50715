"""Partial optimality: pairs that some optimal partition joins or cuts, found before the problem is solved.

`persistency` applies the criteria (in its kernels) and contracts the problem to a smaller one, whose solutions are
lifted back. `exact` begins with it.
"""
