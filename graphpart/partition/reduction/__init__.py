"""What is known of a set partition problem before it is solved: pairs that some optimal partition joins or cuts.

`persistency` applies the criteria (in its kernels) and contracts the problem to a smaller one, whose solutions are
lifted back. `exact` begins with it.
"""
