"""Certificates of optimal partitions: trees of decisions, whose leaves are multipliers of inequalities.

`tree` has the certificate, and the problem in plain Python for its check. `making` proves again that a partition is
optimal, and keeps the proof: `relaxed` bounds the nodes, `decisions` closes those that no partition agrees with.
"""

from graphpart.partition.proof_trees.making import prove
from graphpart.partition.proof_trees.tree import PartitionProof

__all__ = ["PartitionProof", "prove"]
