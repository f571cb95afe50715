"""Lower bounds of set partition problems, from weak and fast to strong and slow.

`trivial_bound` adds up negative costs; `cycle_packing` and `message_passing` find multipliers of cycles; `relaxation`
solves the linear relaxation with cutting planes, on `rows`, with `simplex` for its vertices. `lower_bound` runs them in
turn and makes a certificate of what they prove. The exact solvers and `auto` call them.
"""
