"""Factor graphs: what they hold, how people bring them, and what is derived from them.

`factor_tables` holds the arrays, which `checks` has checked; `layout` adds views that algorithms share; `labels` takes
a labeling in any form; `building` and `derive` make factor graphs from networkx graphs and from factor graphs.
`factor_graph` is the face of all this, the class that users meet; `labeling` turns labels into results. Every other
room of `crf` imports from here, and this one from none of them.
"""

from graphpart.crf.problem.factor_graph import FactorGraph, as_factor_graph

__all__ = ["FactorGraph", "as_factor_graph"]
