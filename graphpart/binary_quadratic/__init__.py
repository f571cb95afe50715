"""Search for the least value of a binary quadratic form (QUBO, Ising, maximum cut); both kinds of problems use it.

`form` has the linear terms and couplings, also as integers. `two_sides` says the same as a signed graph. `walks` runs
annealing on them, with the kernels `_sparse` (compressed rows) and `_dense` (a matrix), which share `flips.pxd`.
`low_degree` eliminates variables with few neighbours, `crossover` combines labelings. `quadratic_search`
runs rounds for as long as there is time, planned by `refining` where variables have few neighbours, and by `families`
where they have many.
"""
