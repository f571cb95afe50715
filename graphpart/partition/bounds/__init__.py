"""Lower bounds of set partition problems, from weak and fast to strong and slow.

`trivial_bound` adds up negative costs. `cycle_packing` and `message_passing` find multipliers of cycles. `relaxation`
solves the linear relaxation with cutting planes; its inequalities are kept in `rows`, and `simplex` finds its vertices.
`background_packing` and `background_relaxation` do the same for problems with a background. `lower_bound` runs one of
these and makes a certificate of the bound. The exact solvers and `auto` call them.
"""
