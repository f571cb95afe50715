"""Search on factor graphs that are binary quadratic: two labels, at most two variables to a factor (QUBO, Ising).

`form` turns such a factor graph into linear terms and couplings, and these into integers. `walks` runs annealing and
tabu search on them, with the kernels `_sparse` (compressed rows) and `_dense` (a matrix), which share `flips.pxd`.
`low_degree` eliminates variables with few neighbours, `crossover` combines labelings. `quadratic_search` runs rounds
for as long as there is time, planned by `refining` where variables have few neighbours, and by `families` where they
have many.
"""
