"""Search for labelings of low energy, for as long as there is time.

`search` is the public function. `LabelingSearch` searches one component and can take turns with other methods. Both run
rounds of tasks on the arrays that `model` makes of a factor graph. The kernel `_annealing` changes single labels,
`_parts` takes regions out of a factor graph, and branch and bound minimises over them; expansions come from
`graph_cuts`.
"""
