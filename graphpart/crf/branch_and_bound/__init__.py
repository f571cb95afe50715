"""Branch and bound: labelings with a proof that there is no better one.

`exact` is the face. `solver` prepares one component, which `shrinking` makes smaller and `cliques` tighter, and runs
its search in slices. Kernels: `_store` is the state that backtracking brings back, and eliminates variables; `_factors`
and `_consistency` raise the bound of a node, `_search` goes from node to node.
"""
