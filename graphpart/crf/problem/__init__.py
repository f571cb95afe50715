"""Factor graphs: their arrays, how users build them, and derived factor graphs.

`factor_tables` contains the arrays, which `checks` has checked. `layout` adds views that several algorithms share.
`labels` takes a labeling in any form. `building` makes factor graphs from networkx graphs, `grids` from arrays,
`derive` from other factor graphs. `functions` decomposes functions of many variables into tables; `layered` does so for
those that read their variables in order, `many_variables` has all of them, and `with_functions` lets users add them.
`factor_graph` has the public class. `labeling` turns labels into results. Every other room of `crf` imports from this
one, which imports from none of them.
"""

from graphpart.crf.problem.factor_graph import FactorGraph, as_factor_graph

__all__ = ["FactorGraph", "as_factor_graph"]
