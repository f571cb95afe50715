"""Search for labelings of low energy, for as long as there is time.

`search` is the public function. `LabelingSearch` searches one component and can take turns with other methods. Both run
rounds of tasks on the arrays that `model` makes of a factor graph. The kernel `_blocks` minimises over many variables
at once, given all others; `_annealing` changes single labels; fusions by roof duality come from `graph_cuts`.
"""
