"""Certificates of optimal labelings: trees of decisions, whose leaves are reparametrisations or eliminations.

`tree` has the certificate, and the factor graph in plain Python for its check. `making` proves again that a labeling is
optimal, and keeps the proof; `leaves` finds a leaf of a node.
"""

from graphpart.crf.proof_trees.making import prove_labels
from graphpart.crf.proof_trees.tree import LabelingProof

__all__ = ["LabelingProof", "prove_labels"]
