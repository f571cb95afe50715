"""Public instances by name: downloaded once, checked, and read as problems.

`registry` has the table `registry.csv`: a name, an address, a checksum, a licence and the best known value of each
instance. `fetching` downloads files by pooch and reads them. Nothing of the package calls this room.
"""

from graphpart.datasets.fetching import fetch, file
from graphpart.datasets.registry import Dataset, info, names

__all__ = ["Dataset", "fetch", "file", "info", "names"]
