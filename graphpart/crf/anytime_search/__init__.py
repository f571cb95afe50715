"""Search for labelings of low energy, for as long as there is time.

`search` is what people call, and `LabelingSearch` what takes turns with other methods on one component. Both play
rounds of tasks on what `model` makes of a factor graph: `_blocks` minimises over many variables at once, given all
others; `_annealing` changes single labels; fusions by roof duality come from `graph_cuts`.
"""
