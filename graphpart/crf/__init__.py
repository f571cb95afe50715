"""Factor graphs (conditional graphical models) and minimisation of their energy."""

from graphpart.crf.factor_graph import FactorGraph

__all__ = ["FactorGraph"]
