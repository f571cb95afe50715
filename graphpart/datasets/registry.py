"""The table of public instances: one line of `registry.csv` for each.

Checksums are those that the projects of `source` publish, or that were computed from copies of the files. If none is
known, the field is empty, and the read problem is compared with the numbers of elements and pairs.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphpart.errors import InvalidOption, nearest, unknown

__all__ = ["Dataset", "info", "names"]

TABLE = Path(__file__).with_name("registry.csv")


@dataclass(frozen=True)
class Dataset:
    """The entry of a public instance.

    Attributes
    ----------
    name, family : str
    kind : str
        The contents of the file: "pace", "maxcut", "weights" (multicut), "lifted" (lifted multicut) or "signs".
    elements, pairs : int or None
        The numbers of elements (or variables) and of pairs (or factors), where they are known beforehand.
    best : float or None
        The best known value, as ``problem.objective`` gives it.
    proven : bool
        Whether the best known value is the optimum.
    licence, source : str
        "not stated" where the source gives no licence.
    address : str
    member : str
        The name of the file, if the address is that of an archive.
    sha256 : str
        The checksum of the file; empty if none is known. Then `elements` and `pairs` are checked.
    """

    name: str
    family: str
    kind: str
    elements: int | None
    pairs: int | None
    best: float | None
    proven: bool
    licence: str
    source: str
    address: str
    member: str
    sha256: str


def names(family: str | None = None) -> list[str]:
    """The names of all public instances, or of those of a family.

    Raises
    ------
    InvalidOption
        If there is no such family.

    Examples
    --------
    >>> import graphpart as gp
    >>> gp.datasets.names("signed network")
    ['signed-bitcoin-alpha', 'signed-bitcoin-otc', 'signed-epinions', 'signed-slashdot']
    """
    families = {one.family for one in _table().values()}
    if family is not None and family not in families:
        raise unknown("family", family, sorted(families))
    return [one.name for one in _table().values() if family in (None, one.family)]


def info(name: str) -> Dataset:
    """The entry of an instance.

    Raises
    ------
    InvalidOption
        If there is no such instance; the message suggests one.

    Examples
    --------
    >>> import graphpart as gp
    >>> gp.datasets.info("pace-exact003").best
    42.0
    """
    try:
        return _table()[name]
    except KeyError:
        raise _unknown(name) from None


def _unknown(name: str) -> Exception:
    hint = nearest(name, _table()) or ", such as 'pace-exact001'"
    return InvalidOption(f"no public instance is called {name!r}: expected one of graphpart.datasets.names(){hint}")


@cache
def _table() -> dict[str, Dataset]:
    with TABLE.open(newline="", encoding="utf-8") as stream:
        return {row["name"]: _dataset(row) for row in csv.DictReader(stream)}


def _dataset(row: dict[str, str]) -> Dataset:
    counts = {key: int(row[key]) if row[key] else None for key in ("elements", "pairs")}
    value = {"best": float(row["best"]) if row["best"] else None, "proven": row["proven"] == "yes"}
    texts = {key: row[key] for key in ("name", "family", "kind", "licence", "source", "address", "member", "sha256")}
    return Dataset(**texts, **counts, **value)  # type: ignore[arg-type]
