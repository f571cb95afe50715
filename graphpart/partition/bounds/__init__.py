"""Lower bounds of set partition problems, from weak and fast to strong and slow.

`trivial_bound` adds up negative costs; `cycle_packing` and `message_passing` find multipliers of cycles; `relaxation`
solves the linear relaxation with cutting planes, on `rows`, with `simplex` for its vertices. `background_packing` and
`background_relaxation` do so where pairs that are not listed cost something. `lower_bound` runs one of them and makes
a certificate of what it proves. The exact solvers and `auto` call them.
"""
