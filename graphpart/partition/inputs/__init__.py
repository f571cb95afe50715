"""Input data as arrays of pairs and costs: graphs, matrices, data frames, points, probabilities and grids.

`arrays` checks pairs, matrices and names, and reads graphs of networkx and igraph. `frames` reads data frames of any
library, `duplicates` decides about repeated rows, and `given_rows` finds rows again by pairs. `matrices` takes dense
and sparse matrices, `embeddings` takes points, with `neighbors` and `thresholds`. `probabilities` become costs, and
`grids` and `far_pairs` take affinities between cells of a picture. `origin` records what costs were made from. No
module of this room knows the class of a problem.
"""
