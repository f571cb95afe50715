"""Files: one module per format, one table from suffixes to readers and writers."""

from graphpart.files.labels import read_labels, write_labels
from graphpart.io.columns import read_pairs
from graphpart.io.evidence import read_evidence
from graphpart.io.formats import FORMATS, Format, find_format, read, write

__all__ = [
    "FORMATS",
    "Format",
    "find_format",
    "read",
    "read_evidence",
    "read_labels",
    "read_pairs",
    "write",
    "write_labels",
]


def __dir__() -> list[str]:
    return sorted(__all__)
