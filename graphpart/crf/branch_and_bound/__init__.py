"""Branch and bound: optimal labelings with proof.

`exact` is the public function. `solver` prepares one component and runs its search in slices; `shrinking` makes the
component smaller, and `cliques` strengthens its bound. Kernels: `_store` keeps the state that backtracking restores and
eliminates variables, `_factors` and `_consistency` raise the bound of a node, `_search` chooses and divides nodes.
"""
