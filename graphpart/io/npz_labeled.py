"""Labelled partitions as NumPy arrays in a zip archive, see :mod:`graphpart.io.npz`.

The arrays are ``label_costs`` (n, L), ``u`` and ``v`` (m), ``joined`` and ``parted`` (m) or (m, L, L), and ``nodes`` if
they are all integers or all text. Rows of tables are classes of ``u``. ``parted`` may be missing: 0.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.files.arrays import read_data, read_header

if TYPE_CHECKING:
    from graphpart.files.source import Source
    from graphpart.labeled.labeled_partition import LabeledPartition

__all__ = ["arrays_of", "read_archive"]

Floats = NDArray[np.float64]
#: The arrays of an archive: kinds of numbers, and the possible numbers of dimensions.
ARRAYS = {
    "label_costs": ("fiub", (2,)), "u": ("iu", (1,)), "v": ("iu", (1,)),
    "joined": ("fiub", (1, 3)), "parted": ("fiub", (1, 3)), "nodes": ("iuU", (1,)),
}  # fmt: skip
NEEDED = ("label_costs", "u", "v", "joined")


def read_archive(source: Source, archive: zipfile.ZipFile) -> LabeledPartition:
    """Read a problem from an archive that has the array ``label_costs``."""
    from graphpart.labeled.labeled_partition import LabeledPartition

    arrays: dict[str, NDArray[Any]] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name not in ARRAYS or name in arrays:
            found = f"the array {name[:40]!a}" + " twice" * (name in arrays)
            raise source.error(None, f"found {found}: expected some of {', '.join(ARRAYS)} with label_costs")
        with archive.open(entry) as stream:
            shape, dtype, fortran = read_header(stream, source.name, name)
            kinds, dimensions = ARRAYS[name]
            if dtype.kind not in kinds or len(shape) not in dimensions:
                expected = {"fiub": "real numbers", "iu": "integers", "iuU": "integers or text"}[kinds]
                wanted = " or ".join(map(str, dimensions))
                raise source.error(
                    None, f"{name} has shape {shape} and dtype {dtype}: expected {expected} of {wanted} dimensions"
                )
            arrays[name] = read_data(stream, source.name, name, shape, dtype, fortran)
            if stream.read(1):
                raise source.error(None, f"found bytes after the array {name}: expected its end")
    if missing := [name for name in NEEDED if name not in arrays]:
        raise source.error(None, f"the array {missing[0]} is missing: expected {', '.join(NEEDED)}")
    if len(arrays["u"]) != len(arrays["v"]):
        raise source.error(None, f"u, v have {len(arrays['u'])}, {len(arrays['v'])} entries: expected equal numbers")
    pairs = np.stack([arrays["u"].astype(np.int64), arrays["v"].astype(np.int64)], 1)
    nodes = arrays["nodes"].tolist() if "nodes" in arrays else None
    costs = (arrays[name].astype(np.float64) for name in ("label_costs", "joined"))
    return LabeledPartition.from_arrays(next(costs), pairs, next(costs), arrays.get("parted", 0.0), nodes)


def arrays_of(q: LabeledPartition) -> dict[str, NDArray[Any]]:
    """The arrays of an archive, without names."""
    arrays: dict[str, NDArray[Any]] = {"label_costs": q.label_costs, "u": q.u, "v": q.v}
    arrays["joined"] = _by_number(q.joined)
    if q.parted.any():
        arrays["parted"] = _by_number(q.parted)
    return arrays


def _by_number(tables: Floats) -> Floats:
    """One number for each pair, if no table has different entries; else the tables."""
    same = bool((tables == tables[:, :1, :1]).all()) and tables.shape[1] > 0
    return tables[:, 0, 0] if same else tables
