"""Conditional random fields: parameters of factor templates learned from labelled structures.

`structures` defines the input, `templates` the shared parameters, `objective` the likelihood and the pseudolikelihood
of labels with their gradients (kernel `_losses`), which `descent` minimises. `max_margin` trains
by `frank_wolfe` and the solvers of `inference`. `model` has the public class, `files` writes and reads it, and `labels`
turns labels of any type into indices.
"""

from graphpart.learn.random_fields.model import ConditionalRandomField, RankedLabels
from graphpart.learn.random_fields.structures import Packed, Structure, chain, chains, grid

__all__ = ["ConditionalRandomField", "Packed", "RankedLabels", "Structure", "chain", "chains", "grid"]
