"""Checkpoints of set partition problems: see `files/checkpoint.py`."""

from __future__ import annotations

import os

from graphpart.files import checkpoint as files
from graphpart.partition.certificates.certificate import fingerprint
from graphpart.partition.problem import SetPartition
from graphpart.result import PartitionResult

__all__ = ["saved"]


def saved(
    p: SetPartition, result: PartitionResult, checkpoint: str | os.PathLike[str] | None, labels: bool = True
) -> PartitionResult:
    """Write a result to its checkpoint, if there is one; return the result, with a better bound of an earlier run."""
    return files.saved(p, fingerprint, result, checkpoint, labels)
